"""The system of lost nodes."""
