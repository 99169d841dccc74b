"""The chart's alerts and dashboard, and a Prometheus that they are put to."""
