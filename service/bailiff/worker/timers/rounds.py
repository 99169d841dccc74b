"""All systems of a worker made ready for a node, or for one pod there."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.decisions import Scene
from bailiff.decisions.asking import Asking
from bailiff.worker.mirror.mirror import pod_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bailiff.clock import Clock
    from bailiff.decisions import Options, Round
    from bailiff.kinds import Node, Pod
    from bailiff.worker.mirror.mirror import Mirror
    from bailiff.worker.systems.system import SystemInWorker


_NOTHING: Mapping[str, Round] = MappingProxyType({})


class Prepared(NamedTuple):
    """What systems say of a scene.

    Attributes:
        scene: which.
        rounds: of those that have anything to say, with the system.
        asking: them about a pod.
    """

    scene: Scene
    rounds: Sequence[tuple[SystemInWorker, Round]]
    asking: Asking

    @property
    def holds_until(self) -> datetime | None:
        """When any of them may say something else though nothing changes."""
        return self.asking.holds_until


class Rounds:
    """Makes them ready, by what the mirror knows at that moment."""

    def __init__(
        self,
        systems: Mapping[str, SystemInWorker],
        mirror: Mirror,
        clock: Clock,
        options: Options,
    ) -> None:
        """Prepare.

        Args:
            systems: by name, in the order of their findings.
            mirror: where nodes and pods are found.
            clock: for `now`.
            options: how it is decided.
        """
        # Mostly there is none, and this is asked with each change of a pod.
        self._ranking = [one for one in systems.values() if one.ranks]
        self._systems = systems
        self._mirror = mirror
        self._clock = clock
        self._options = options

    def rank_on(self, name: str) -> bool:
        """Whether some system weighs the pods of this node against each other.

        It is to be shown all of the node then; where none does, one pod is looked at alone.
        """
        if not self._ranking:
            return False
        node = self._mirror.node(name)
        return any(one.ranks_on(node) for one in self._ranking)

    def of_node(self, name: str) -> Prepared:
        """For a node with all its pods."""
        pods, node = tuple(self._mirror.pods_on(name)), self._mirror.node(name)
        return self._made(Scene(pods, self._clock.now(), node, neighbours=()))

    def again(self, name: str, before: Prepared) -> Prepared:
        """For the same node once more, by what it is now.

        Who ranks has ranked, once for all its pods, unless the node has become another.
        """
        scene, node = before.scene, self._mirror.node(name)
        same = node is scene.node
        kept = {system.name: one for system, one in before.rounds if same and system.ranks}
        return self._made(replace(scene, now=self._clock.now(), node=node), kept=kept)

    def of_pod(self, pod: Pod, node: Node | None = None, *, explain: bool = False) -> Prepared:
        """For one pod, on its mirrored node or on this one."""
        node = node or self._mirror.node(pod.spec.node_name)
        scene = Scene((pod,), self._clock.now(), node)
        if self.rank_on(pod.spec.node_name):
            scene = replace(scene, pods=self._all_with(pod), neighbours=())
        return self._made(scene, explain=explain)

    def _all_with(self, pod: Pod) -> tuple[Pod, ...]:
        """Those of its node as `of_node` has them, by which some may be told from their equals."""
        key, on_node = pod_key(pod), self._mirror.pods_on(pod.spec.node_name)
        pods = tuple(pod if pod_key(one) == key else one for one in on_node)
        return pods if any(one is pod for one in pods) else (*pods, pod)

    def _made(
        self, scene: Scene, *, explain: bool = False, kept: Mapping[str, Round] = _NOTHING
    ) -> Prepared:
        rounds = []
        for name, system in self._systems.items():
            said = kept.get(name) or system.prepare(scene, explain=explain)
            if said is not None:
                rounds.append((system, said))
        return Prepared(scene, rounds, Asking(rounds, scene, self._options))
