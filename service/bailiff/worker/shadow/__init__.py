"""Evict on paper only, and compare with what the in-tree controllers do."""
