"""A cluster whose node has two seats, and a worker that knows the system of the seats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.harness.kinds import pod_of
from tests.harness.ranking_system import NAME, WORKER_WITH_SEATS, SeatsInWorker, seating_node
from tests.harness.worlds.world import YESTERDAY, World

if TYPE_CHECKING:
    from bailiff.kinds import Toleration


class Hall(World):
    """A node n1 with two seats."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(systems=WORKER_WITH_SEATS, **settings)
        self._put_node(seating_node("n1", 2))

    @property
    def seats(self) -> SeatsInWorker:
        found = self.worker.systems[NAME]
        assert isinstance(found, SeatsInWorker)
        return found

    def sit(self, name: str, priority: int, *tolerations: Toleration) -> None:
        meta: dict[str, Any] = {"uid": f"uid-{name}", "creation_timestamp": YESTERDAY}
        self.put(pod_of(name, "n1", *tolerations, phase="Running", priority=priority, **meta))


class Counted(Hall):
    """Four pods, and an usher who counts them; the cluster needs a while for each request."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.latency = 0.2
        self.lingering = True
        for priority in range(4):
            self.sit(f"p{priority}", priority)

    def count(self, pods: int) -> None:
        self.seats.count("n1", pods)
