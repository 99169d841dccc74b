"""The REST face of the decision core."""
