"""The Kubernetes client: connection, requests, list and watch, errors. Only it knows HTTP."""
