"""Lost nodes in a worker."""
