"""Figures of itbc on this machine: `make bench` prints them as a table and writes them as JSON."""
