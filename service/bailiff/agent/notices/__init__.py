"""What the kernel tells of memory before the next round is due, in the ways that a host has."""
