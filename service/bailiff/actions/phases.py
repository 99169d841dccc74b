"""The phase of a pod whose delete has been taken, whoever writes it beside us."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from bailiff.cluster.errors import ConflictError

if TYPE_CHECKING:
    from bailiff.actions.ports import PodActions
    from bailiff.decisions.decision import EvictionTerms
    from bailiff.kinds import Pod

# Seconds for the phase of a pod whose delete has been taken, and how often it is tried.
_FOR_PHASE = 5.0
_TRIES = 3


async def write_phase(actions: PodActions, pod: Pod, terms: EvictionTerms) -> None:
    """Write phase, reason and message, where the terms have any.

    Raises:
        ClusterError: it was not taken; the pod goes nevertheless.
        TimeoutError: it was not within five seconds.
    """
    if not terms.phase:
        return None
    async with asyncio.timeout(_FOR_PHASE):
        for _ in range(_TRIES - 1):
            # Its kubelet writes at the same time.
            with contextlib.suppress(ConflictError):
                return await actions.set_phase(pod, terms)
        return await actions.set_phase(pod, terms)
