"""The decision core: pure functions over frozen values.

Every face (REST, gRPC, CLI) and the worker ask here, so that they cannot disagree. `now` is an
argument; nothing in this package does I/O, reads a clock, logs, or imports a framework.
"""

import lazy_loader

# Each name is imported when it is first asked for; which stands where is written in __init__.pyi.
# The agent on a node imports what a round needs, and has no memory to give to all else.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
