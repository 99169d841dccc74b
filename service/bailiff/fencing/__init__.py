"""Whether the machine of a node is off, asked of those who know: a program, or an HTTP server.

Only a plain "it is off" is proof. Whoever does not answer in time, refuses the password, knows no
such machine, or answers what nobody expected, has proven nothing.
"""

from bailiff.fencing.asking import FileFence
from bailiff.fencing.settings import FenceFileError, fence_in

__all__ = ["FenceFileError", "FileFence", "fence_in"]
