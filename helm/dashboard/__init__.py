"""The Grafana dashboard of the chart: `make dashboard` writes it from these modules."""
