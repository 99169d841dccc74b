"""A real kube-controller-manager at work on a real API server: the in-tree controller."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from tests.harness.kube.programs import Program
from tests.harness.objects import KEY, taint
from tests.harness.working import is_going, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.harness.api import Api, Bench

_FLAGS = (
    # The one does not start without the other, whose index it uses.
    "--controllers=taint-eviction-controller,node-lifecycle-controller",
    "--leader-elect=false",
    "--secure-port=0",
    # Nodes here have no kubelet; nobody is to miss it.
    "--node-monitor-grace-period=24h",
    "--node-startup-grace-period=24h",
)


@contextlib.asynccontextmanager
async def kube_controller_manager(api: Api, folder: Path, *flags: str) -> AsyncIterator[Program]:
    """Started; see `evicts` for when it is at work."""
    arguments = [f"--kubeconfig={api.kubeconfig}", *_FLAGS, *flags]
    program = Program("kube-controller-manager", arguments, folder)
    program.start()
    try:
        yield program
    finally:
        await asyncio.to_thread(program.stop)


async def evicts(program: Program, bench: Bench) -> None:
    """Wait until it has evicted a canary."""
    await bench.pod("canary", node=await bench.node(taint(KEY)))
    await until(lambda: program.exited or is_going(bench, "canary"))
    assert program.running, program.tail()
