"""What the rules of the policies look at, put together for one eviction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from bailiff.decisions.policies import (
    CLUSTER,
    EMPTY_BOOK,
    NO_BLAST,
    NO_POLICIES,
    UNKNOWN,
    Blast,
    Book,
    Cause,
    Circumstances,
    Gang,
    PauseNotice,
    Policies,
    Store,
    Unknown,
    group_of,
    hold,
    zone_of,
)
from bailiff.worker.gate.blast_count import BlastCount
from bailiff.worker.gate.gangs import Gangs
from bailiff.worker.gate.meters import TOTAL, Key, Keys, Scope
from bailiff.worker.gate.zones import Zones

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bailiff.clock import Clock
    from bailiff.decisions import Finding
    from bailiff.decisions.policies import Hold, Publisher
    from bailiff.kinds import Pod
    from bailiff.worker.gate.gangs import GangListener
    from bailiff.worker.mirror.mirror import Mirror
    from bailiff.worker.timers.eviction import Eviction


# For which what is said of a gang is believed: of 1,000 pods each look at all takes milliseconds.
# What a pod of it says counts until we are told of a change, or it is over; budgets tell of none.
_GANG_SECONDS = 0.5


class RuleFacts:
    """The cluster around an eviction.

    Attributes:
        policies: those in force.
        pause: the notice that was read last; UNKNOWN before the first.
        namespaces: labels by name of namespace; UNKNOWN before they have been read.
        zones: breakers.
        blast: pods by what evicts them.
        gangs: pods by their PodGroups.
        book: what budgets over time have counted in a ConfigMap, as far as is known.
        publisher: see the constructor.
    """

    def __init__(
        self,
        mirror: Mirror,
        clock: Clock,
        publisher: Callable[[Pod, Finding], Publisher | None],
        overrides: Callable[[Pod, Finding], bool],
        listener: GangListener,
    ) -> None:
        """Start without policies.

        Args:
            mirror: pods and nodes.
            clock: says what time it is.
            publisher: of the ResourceSlice for which a pod goes; None: it goes for something else.
            overrides: whether the policies are set aside for an eviction.
            listener: told of changes of gangs.
        """
        self.publisher = publisher
        self._overrides = overrides
        self._mirror = mirror
        self._clock = clock
        self.policies: Policies = NO_POLICIES
        self.pause: PauseNotice | Literal[Unknown.UNKNOWN] | None = UNKNOWN
        self.namespaces: Mapping[str, Mapping[str, str]] | Literal[Unknown.UNKNOWN] = UNKNOWN
        self.zones = Zones()
        self.blast = BlastCount(mirror.pods_in)
        self.gangs = Gangs(mirror, listener)
        # By PodGroup that goes whole and has pods: when it was worked out, in elapsed seconds, and
        # what holds it.
        self._gang_holds: dict[str, tuple[float, Hold | None]] = {}
        # What budgets over time have counted, where that is known: the last word is had before an
        # eviction begins, so that nothing counts as long as it is not.
        self.book: Callable[[Store], Book] = _nothing_counted

    def set_policies(self, policies: Policies) -> None:
        """Go on with these."""
        self.policies = policies
        self.zones.set_breakers(policies.breakers)
        self.blast.set_bounds(policies.blast_radius)

    def forget_gangs(self, group: str = "") -> None:
        """What holds a gang is to be worked out anew; without its PodGroup, what holds any."""
        if group:
            self._gang_holds.pop(group, None)
        else:
            self._gang_holds.clear()

    def look_at_node(self, name: str) -> bool:
        """A node appeared, changed or went; whether breakers should be judged soon.

        What was seen last of one that can no longer be read stands: were it taken for gone, a
        breaker would let evictions go on because the nodes that fail cannot be read.
        """
        is_known = not self._mirror.is_unreadable(name)
        is_news = is_known and self.zones.look_at(name, self._mirror.node(name))
        if is_news:
            self.forget_gangs()
        return is_news

    def zone(self, pod: Pod) -> str:
        """The zone of a pod's node; empty where it has none, or is not known."""
        node = self._mirror.node(pod.spec.node_name)
        return "" if node is None else zone_of(node)

    def hold(self, eviction: Eviction) -> Hold | None:
        """Why an eviction may not begin now; None if it may, for all but limits.

        What holds its gang is worked out once for all of them: `hold_whole` is exact.
        """
        if self.overrides(eviction):
            return None
        found = hold(self._around_one(eviction, None), self.policies, self._clock.now())
        return found or self._gang_hold(eviction)

    def hold_whole(self, eviction: Eviction, *, counted: bool = False) -> Hold | None:
        """The same, with all of its gang looked at now; for what is about to begin.

        Of one that is `counted` the budgets over time are not asked.
        """
        policies = replace(self.policies, over_time=None) if counted else self.policies
        return hold(self.around(eviction), policies, self._clock.now())

    def _gang_hold(self, eviction: Eviction) -> Hold | None:
        group = group_of(eviction.pod)
        if self.policies.gangs is None or not self.gangs.goes_whole(group):
            return None
        known = self._gang_holds.get(group)
        if known is None or not self._is_believed(*known):
            known = self._clock.elapsed(), self.hold_whole(eviction)
            self._gang_holds[group] = known
        return known[1]

    def _is_believed(self, at: float, found: Hold | None) -> bool:
        if found is not None and found.until is not None and found.until <= self._clock.now():
            return False
        is_told = found is not None and found.cause is Cause.GANG
        return is_told or self._clock.elapsed() - at < _GANG_SECONDS

    def overrides(self, eviction: Eviction) -> bool:
        """Whether the policies are set aside for it."""
        return self._overrides(eviction.pod, eviction.finding)

    def around(self, eviction: Eviction) -> Circumstances:
        """All that the rules look at."""
        others = None if self.policies.gangs is None else self.gangs.others(eviction.pod)
        if others is None:
            return self._around_one(eviction, None)
        members = tuple([self._around(one) for one in others])
        return self._around_one(eviction, Gang(name=group_of(eviction.pod), others=members))

    def _around_one(self, eviction: Eviction, gang: Gang | None) -> Circumstances:
        blast, publisher = self.blast.of(eviction.uid), self._publisher_of(eviction)
        return self._around(eviction.pod, blast, publisher, gang)

    def _around(
        self,
        pod: Pod,
        blast: Blast = NO_BLAST,
        publisher: Publisher | None = None,
        gang: Gang | None = None,
    ) -> Circumstances:
        zone, over_time = self.zone(pod), self.policies.over_time
        return Circumstances(
            pod=pod,
            node=self._mirror.node(pod.spec.node_name),
            zone=zone,
            namespace_labels=self._labels(pod.metadata.namespace),
            pause=self.pause,
            zone_breaker=self.zones.state(zone),
            cluster_breaker=self.zones.state(CLUSTER),
            blast=blast,
            publisher=publisher,
            gang=gang,
            book=EMPTY_BOOK if over_time is None else self.book(over_time.store),
        )

    def keys(self, pod: Pod, finding: Finding) -> Keys:
        """All that may have a limit for an eviction, the total first."""
        spec, metadata = pod.spec, pod.metadata
        keys = (
            TOTAL,
            Key(Scope.NODE, spec.node_name),
            Key(Scope.NAMESPACE, metadata.namespace),
            Key(Scope.ZONE, self.zone(pod)),
        )
        publisher = self.publisher(pod, finding)
        if publisher is None:
            return keys
        of_slices = Key(Scope.SLICE_PUBLISHER, str(publisher))
        return (*keys, of_slices, Key(Scope.SLICE_DRIVER, publisher.driver))

    def _publisher_of(self, eviction: Eviction) -> Publisher | None:
        """Looked for only where a rule needs it."""
        if not self.policies.own_slices_only:
            return None
        return self.publisher(eviction.pod, eviction.finding)

    def _labels(self, namespace: str) -> Mapping[str, str] | None:
        return None if self.namespaces is UNKNOWN else self.namespaces.get(namespace)


def _nothing_counted(_store: Store) -> Book:
    return EMPTY_BOOK
