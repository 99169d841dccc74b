"""The cluster as last seen: what watches tell of, and how far they are to be believed."""
