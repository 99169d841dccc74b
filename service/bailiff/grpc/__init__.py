"""The gRPC face of the decision core."""
