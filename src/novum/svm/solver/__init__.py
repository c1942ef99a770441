"""The quadratic programs of support vector machines: how they are posed, solved and certified."""
