"""Which of several workers acts, and for which nodes."""
