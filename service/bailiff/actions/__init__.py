"""What is written to the cluster of evictions: the ports, and the real API server behind them."""
