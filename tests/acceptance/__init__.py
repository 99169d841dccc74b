"""The worker's promises on a real API server, at a size that counts; see __main__."""
