"""What is said of a process before it starts; light, so that `--help` loads nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

Program = Callable[["asyncio.Event"], Awaitable[None]]

# Far above what an NTP client leaves as it is (ntpd steps a clock at 0.128 s): a clock that is
# wrong by more is corrected by nobody.
CLOCK_SKEW_LIMIT = 5.0


class StartError(Exception):
    """The program could not start, or could not go on; the message says why."""


class ClusterUnusable(Exception):  # noqa: N818 - a state of the world, not a fault of the program
    """The chosen cluster cannot be used; the message says why."""


@dataclass(frozen=True)
class ClusterChoice:
    """A cluster, or none.

    Attributes:
        kubeconfig: a kubeconfig file; None is the usual one, for who says so, and else none.
        context: a context of it; None is its current one.
        in_cluster: the service account of the pod this runs in.
    """

    kubeconfig: Path | None = None
    context: str | None = None
    in_cluster: bool = False

    @property
    def chosen(self) -> bool:
        """Whether the user names one."""
        return self.kubeconfig is not None or self.in_cluster
