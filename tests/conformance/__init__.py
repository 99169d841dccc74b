"""The answers of the code of Kubernetes 1.36.2, and a runner that holds ours against them.

The data stays that release's, whatever release the contract tests run on.
"""
