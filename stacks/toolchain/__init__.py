"""The programs itbc needs, found or brought."""
