"""The API server, and the kubelet, over connections that take little memory."""
