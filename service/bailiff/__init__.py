"""Bailiff: the eviction decision service for Kubernetes."""

__version__ = "0.1.0"
