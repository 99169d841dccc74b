"""Pressure on nodes, as the worker watches and acts on it."""
