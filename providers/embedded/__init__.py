"""The embedded target: a real Kubernetes on this machine, in namespaces of its own."""
