"""What is done when an eviction is due: attempts, requests, what came of them."""
