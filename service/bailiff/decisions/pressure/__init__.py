"""Pressure on a node, as the kubelet's eviction manager judges it (pkg/kubelet/eviction)."""
