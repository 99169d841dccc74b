"""Questions to try, in Kubernetes' own JSON. Their answers are computed, never written down."""
