"""Compile, provision, run and judge IT-operations scenarios written in `.itb` files."""

__version__ = "0.1.0"
