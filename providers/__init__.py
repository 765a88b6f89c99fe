"""Targets, the faults, and what a Terraform resource of ours is given."""
