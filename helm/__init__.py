"""Python beside the chart; nothing of it is packaged."""
