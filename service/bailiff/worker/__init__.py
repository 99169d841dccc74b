"""The worker: mirrors the cluster, asks the core, holds the timed queue, evicts."""
