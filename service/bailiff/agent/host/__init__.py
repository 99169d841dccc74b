"""What the node says of itself: cgroups of either version, /proc, and file systems.

It comes to the same values as a kubelet's summary, so that one core reads both.
"""
