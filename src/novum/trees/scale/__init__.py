"""Trees and forests grown over the engines of core: streams, files larger than memory, Dask."""
