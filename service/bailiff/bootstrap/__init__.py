"""The composition root: the only place that names concrete classes, and owns the process.

A program is a function of a stop event; `process.run` gives it an event loop, signals and logs.
Each program stands in a module of its own (`serve`, `work`, `pausing`), which its command imports
when it runs: so that none loads, and waits for, what only another one needs.
"""

import lazy_loader

# Each name is imported when it is first asked for; which stands where is written in __init__.pyi.
# The agent on a node imports what a round needs, and has no memory to give to all else.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
