"""The answers of the real Kubernetes code, and a runner that holds ours against them."""
