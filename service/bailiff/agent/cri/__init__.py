"""CRI: what the agent asks the container runtime of its node, over its socket."""
