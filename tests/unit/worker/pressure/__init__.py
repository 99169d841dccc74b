"""Pressure in a worker."""
