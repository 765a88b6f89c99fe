"""What every cluster has in common, whatever target it stands on: a client and the object resource."""
