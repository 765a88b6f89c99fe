"""Reading the declared Kubernetes objects that faults aim at."""
