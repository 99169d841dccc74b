"""The Grafana dashboard of the chart: `make reference` writes it from these modules."""
