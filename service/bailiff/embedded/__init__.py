"""An in-memory Kubernetes API, good enough for kubectl and for the worker."""
