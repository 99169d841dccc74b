"""Systems that are ready for one scene, asked pod by pod; and what holds whatever they would say.

A pod that has ended stays, as far as evictions go: it leaves by itself, and would be evicted again
and again. One that is being deleted may be hastened, see Round. A pod that is bound to another node
stays for all systems that decide by the node. Both are decided here, so that no system can forget
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from bailiff.decisions.decision import Verdict, keep_ended, keep_pod
from bailiff.decisions.joining import join

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bailiff.decisions.decision import Finding
    from bailiff.decisions.options import Options
    from bailiff.decisions.system import Round, Scene
    from bailiff.kinds import Pod


class Speaker(Protocol):
    """Who made a round ready: a system, or its half in the worker."""

    @property
    def name(self) -> str:
        """As its findings have it."""
        ...

    @property
    def by_node(self) -> bool:
        """See System."""
        ...


class Named(NamedTuple):
    """Stands for a system where a question is only about that one, and asks its round itself."""

    name: str
    by_node: bool = True


class Asking:
    """Some systems' rounds of one scene."""

    __slots__ = ("_node", "_only", "_rounds", "_spares_ended")

    def __init__(
        self, rounds: Sequence[tuple[Speaker, Round]], scene: Scene, options: Options
    ) -> None:
        """Prepare.

        Args:
            rounds: in the order of their findings.
            scene: that they were made ready for.
            options: `evict_ended_pods` lets systems speak of pods that have ended, too.
        """
        self._rounds = rounds
        # With one, as nearly always, nothing is put together that need not be.
        self._only = rounds[0][1].of if len(rounds) == 1 else None
        self._node = scene.node_name
        self._spares_ended = not options.evict_ended_pods

    @property
    def holds_until(self) -> datetime | None:
        """When any of them may say something else of all pods though nothing changes."""
        ends = [one.holds_until for _, one in self._rounds if one.holds_until is not None]
        return min(ends) if ends else None

    def findings(self, pod: Pod) -> tuple[Finding, ...]:
        """What each of them says of one pod; those that say nothing are left out."""
        if self._spares_ended and pod.has_ended:
            return tuple([_of_ended(speaker.name, one, pod) for speaker, one in self._rounds])
        bound = pod.spec.node_name
        if bound != self._node and bound and self._node:
            return self._of_another_node(pod)
        if self._only is not None:
            one = self._only(pod)
            return () if one is None else (one,)
        said = [one.of(pod) for _, one in self._rounds]
        return tuple([one for one in said if one is not None])

    def joined(self, pod: Pod) -> Finding | None:
        """The same as one finding, see `join`; None: nobody says anything."""
        if self._only is not None and pod.spec.node_name == self._node and not pod.has_ended:
            # As for nearly all pods that a worker looks at.
            return self._only(pod)
        found = self.findings(pod)
        if len(found) == 1:
            return found[0]
        return join(found) if found else None

    def _of_another_node(self, pod: Pod) -> tuple[Finding, ...]:
        why = f"the pod runs on node {pod.spec.node_name}"
        said = [
            keep_pod(speaker.name, "PodOnOtherNode", why) if speaker.by_node else one.of(pod)
            for speaker, one in self._rounds
        ]
        return tuple([one for one in said if one is not None])


def _of_ended(system: str, said: Round, pod: Pod) -> Finding:
    if said.hastens and not pod.is_finished:
        found = said.of(pod)
        if found is not None and (said.tells_of_ending or found.verdict is Verdict.EVICT_NOW):
            return found
    return keep_ended(system, pod)
