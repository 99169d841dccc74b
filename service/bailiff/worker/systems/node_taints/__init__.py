"""Node taints in the worker: since when they count, and the notes about that on nodes."""
