"""A node with a real kubelet, on this machine; run by hand, see CONTRIBUTING.md."""
