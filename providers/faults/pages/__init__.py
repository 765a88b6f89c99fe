"""The page of each fault kind and their index, made from the declarations."""
