"""Whether a test would have seen it: small changes to the code, each of which should fail one."""
