"""Kubelets: their summaries and configurations, straight or by way of the API server."""

import lazy_loader

# Each name is imported when it is first asked for; which stands where is written in __init__.pyi.
# The agent on a node imports what a round needs, and has no memory to give to all else.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
