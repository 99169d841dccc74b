"""The systems, as the worker runs them: what each follows, finds, and writes besides evictions."""
