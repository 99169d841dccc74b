"""An eviction storm on a real API server: kube-controller-manager, then Bailiff's worker."""
