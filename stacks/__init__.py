"""Terraform stacks, Ansible roles and the tools that run them."""
