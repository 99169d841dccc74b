"""The operations, by idea."""
