"""The target-independent Kubernetes object resource and its client."""
