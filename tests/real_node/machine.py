"""A machine of cgroup v2 that is the node as a whole, as for an agent without --cgroup.

The root of cgroup v2 tells nothing of memory, so all is up to the cgroup of the pods.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from bailiff.agent.readings.mounts import find_mounts
from bailiff.agent.readings.places import Places
from tests.harness.node_cgroup import NodeCgroup, TakingPod

if TYPE_CHECKING:
    from collections.abc import Iterator

_PODS = "kubepods"


class Machine(NodeCgroup):
    """Its pods have a limit together, so that what runs beside them is left in peace."""

    def __init__(self, folder: Path, limit: int) -> None:
        mounted = find_mounts(Places()).unified
        assert mounted is not None
        self.unified, self.name, self.limit = True, "", limit
        self._folder, self._tops = folder, [Path(mounted)]
        self.memory = self._tops[0] / _PODS
        self.pods: dict[str, TakingPod] = {}
        self.memory.mkdir()
        for one in (self.memory.parent, self.memory):
            (one / "cgroup.subtree_control").write_text("+memory +pids")
        (self.memory / "memory.max").write_text(str(limit))

    @property
    def options(self) -> tuple[str, ...]:
        """See NodeCgroup."""
        return ()

    @property
    def room(self) -> int:
        """See NodeCgroup. What is used beside the pods is taken to stay as it is."""
        whole, pods = _of(self.memory.parent), _of(self.memory)
        in_use = whole["anon"] + whole["file"] - whole["inactive_file"] - whole["active_file"]
        of_pods = pods["anon"] + pods["file"] - pods["inactive_file"] - pods["active_file"]
        return _capacity() - (in_use - of_pods)

    def remove(self) -> None:
        """End its pods."""
        for pod in self.pods.values():
            pod.kill()
        self.memory.rmdir()


@contextlib.contextmanager
def machine(folder: Path, limit: int) -> Iterator[NodeCgroup]:
    """It, without pods in the end."""
    node = Machine(folder, limit)
    try:
        yield node
    finally:
        node.remove()


def _of(cgroup: Path) -> dict[str, int]:
    lines = (cgroup / "memory.stat").read_text().splitlines()
    return {name: int(value) for name, value in (line.split() for line in lines)}


def _capacity() -> int:
    line = Path("/proc/meminfo").read_text().splitlines()[0]
    return int(line.split()[1]) * 1024
