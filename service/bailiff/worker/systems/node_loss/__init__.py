"""The system node-loss in a worker."""
