"""Timed evictions on a real API server while everything around them breaks; see __main__."""
