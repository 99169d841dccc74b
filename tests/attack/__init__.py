"""Attacks on running processes, with healthy callers beside them."""
