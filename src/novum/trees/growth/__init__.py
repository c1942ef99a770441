"""The binary engine: tables as codes, sums by code, and the kernels that grow trees from them."""
