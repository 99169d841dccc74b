"""The devices of the cluster as last seen, and what their taints mean for a pod.

Theory of operation. Pods that name claims are always kept in the index, so that it is whole as soon
as slices, claims and rules are. Those are there while the cluster serves them and lets us see them.
Before all of them have been listed nothing is said of any pod: an allocation without its rules, or
a claim without its slices, would be taken for an end of its taints. A kind that is followed no
longer is forgotten. Rules may come later than the rest: they only add evictions. What cannot be
decoded is forgotten too, so that nobody is evicted by what it was before; of a slice its place in
its pool is kept, so that nobody is evicted by what an older one says either.

A list of everything is taken in by slices, between which others have their turn: first what there
is, then what vanished goes, so that nothing is missing in between, and pods are looked at anew at
the end.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from bailiff.cluster import Changed, Deleted, Replaced, Unreadable
from bailiff.decisions.device_taints import Affected, DeviceTaintIndex, has_claims
from bailiff.worker.mirror.mirror import pod_key
from bailiff.worker.mirror.slices import in_slices
from bailiff.worker.systems.device_taints.evicted import Evicted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from bailiff.cluster import Resource, WatchEvent
    from bailiff.decisions import Options
    from bailiff.kinds import DeviceTaintRule, ObjectMeta, Pod, ResourceSlice
    from bailiff.worker.mirror.mirror import PodKey
    from bailiff.worker.systems.device_taints.rule_status import RuleStatusWriter
    from bailiff.worker.timers.marks import Marks

_Key: TypeAlias = "str | tuple[str, str]"

# Objects taken in at a time: each may judge some claims anew, at 10 to 50 us.
_SLICE = 200


class Kind(StrEnum):
    """What is followed, by the plural of its resource."""

    SLICES = "resourceslices"
    CLAIMS = "resourceclaims"
    RULES = "devicetaintrules"


# A rule may reach all claims, and comes in parts for that, each as long as a slice may be.
_AT_A_TIME = {Kind.SLICES: _SLICE, Kind.CLAIMS: _SLICE, Kind.RULES: 1}


class State(StrEnum):
    """Whether pods are evicted by device taints. UNKNOWN: nobody has found out yet."""

    UNKNOWN = "unknown"
    OFF = "off"
    ON = "on"


class _Reached:
    """What a change has reached so far."""

    def __init__(self) -> None:
        self.pods: set[PodKey] = set()
        self.rules: set[str] = set()

    def add(self, affected: Affected) -> None:
        """This too."""
        self.pods |= affected.pods
        self.rules |= affected.rules


class Devices:
    """Slices, claims, rules, and the pods that name claims. One event loop owns it.

    Attributes:
        index: what the core makes of them.
        pods: those that name claims, by namespace and name.
        evicted: pods evicted for each rule.
        served: the resources that are followed.
        ready: all of them have been listed: from now on there are findings.
        state: see there.
        why: for people, why it is off, or what is missing.
        undiscovered: the cluster has been asked for a while what it serves, and has not told.
    """

    def __init__(self, options: Options, marks: Marks) -> None:
        """Start with nothing.

        Args:
            options: of the decisions.
            marks: set on the pods whose answer may have changed, after it has.
        """
        self.index = DeviceTaintIndex()
        self.pods: Mapping[PodKey, Pod] = self.index.pods
        self.evicted = Evicted(self.index, options)
        self.served: Mapping[Kind, Resource[Any]] = {}
        self.ready = False
        self.state, self.why = State.UNKNOWN, ""
        self.undiscovered = False
        self._marks = marks
        self._listed: set[Kind] = set()
        # Of which a change has been taken in in part.
        self._in_part: set[Kind] = set()
        # There where statuses are written.
        self._statuses: RuleStatusWriter | None = None

    def tell_of_rules(self, statuses: RuleStatusWriter) -> None:
        """Tell this one of rules whose status may have to say something else."""
        self._statuses = statuses

    def switch_off(self, why: str) -> None:
        """Nothing is ever followed; `why` is for people."""
        self.state, self.why = State.OFF, why

    @property
    def synced(self) -> bool:
        """Everything that is followed has been listed; true too where nothing is."""
        return self._listed >= self.served.keys()

    @property
    def is_taking_in(self) -> bool:
        """Some pods whose answer has changed have no mark yet."""
        return bool(self._in_part)

    def describe(self) -> dict[str, Any]:
        """What /v1/queue tells of it."""
        told = {"state": self.state.value, "synced": self.ready}
        counts = {kind.value: self.count(kind) for kind in self.served}
        return told | counts | ({"why": self.why} if self.why else {})

    def complaints(self) -> list[str]:
        """What is not known of devices though it should be by now; for people."""
        if self.state is State.UNKNOWN and self.undiscovered:
            return [f"not known whether the cluster serves devices: {self.why}"]
        missing = [kind.value for kind in self.served if kind not in self._listed]
        return [f"{', '.join(missing)} have not been listed yet"] if missing else []

    def count(self, kind: Kind) -> int:
        """How many of a kind are known."""
        return len(self._known(kind))

    def pod_changed(self, key: PodKey, pod: Pod) -> None:
        """See PodListener."""
        old = self.pods.get(key)
        if old is not None:
            self.evicted.changed(old, pod)
        elif not has_claims(pod):
            return
        self._tell_of(self.index.apply_pod(pod).rules)

    def pod_gone(self, pod: Pod) -> None:
        """See PodListener."""
        key = pod_key(pod)
        old = self.pods.get(key)
        if old is not None:
            self.evicted.gone(old)
            self._tell_of(self.index.delete_pod(key).rules)

    async def follow(self, served: Mapping[Kind, Resource[Any]]) -> None:
        """These are followed from now on; without any, all that is known is forgotten."""
        gone = self.served.keys() - served.keys()
        self.served = dict(served)
        self._listed -= gone
        if not served:
            self.ready = False
        for kind in gone:
            await self._change(kind, (), drop=tuple(self._known(kind)))
        if gone and not served:
            self._marks.look_at_pods(self.pods)
        self._settle()

    async def apply(self, kind: Kind, event: WatchEvent[Any]) -> None:
        """Take in what the watch of a kind told; one call after the other for each kind."""
        match event:
            case Replaced(items=items, unreadable=unreadable):
                blanks = self._blanks(kind, unreadable)
                present = {_key(kind, item.metadata) for item in (*items, *blanks)}
                gone = [key for key in self._known(kind) if key not in present]
                await self._change(kind, (*items, *blanks), drop=gone)
                self._listed.add(kind)
                self._settle()
            case Changed(object=item):
                await self._change(kind, (item,))
            case Deleted(object=item):
                await self._change(kind, (), drop=(_key(kind, item.metadata),))
            case Unreadable(metadata=metadata, deleted=deleted):
                blanks = () if deleted else self._blanks(kind, (event,))
                drop = () if blanks else (_key(kind, metadata),)
                await self._change(kind, blanks, drop=drop)

    def _blanks(self, kind: Kind, unreadable: Iterable[Unreadable]) -> tuple[ResourceSlice, ...]:
        """What stands for slices that are there and cannot be decoded any more: no devices.

        Without them the older slices of their pools would count again, with the taints they had.
        For one that never could be decoded there is none: its pool is not known, it may be any.
        """
        if kind is not Kind.SLICES:
            return ()
        known = (self.index.slices.get(one.metadata.name) for one in unreadable)
        return tuple(
            replace(one, spec=replace(one.spec, devices=())) for one in known if one is not None
        )

    def _known(self, kind: Kind) -> Collection[_Key]:
        index = self.index
        known: dict[Kind, Collection[_Key]] = {
            Kind.SLICES: index.slices.keys(),
            Kind.CLAIMS: index.claims.keys(),
            Kind.RULES: index.rules.keys(),
        }
        return known[kind]

    async def _change(self, kind: Kind, put: Iterable[Any], drop: Iterable[Any] = ()) -> None:
        """Take in and forget, and tell of it once, at the end.

        A watch may be stopped in the midst of it, where the cluster serves another version from now
        on. What was reached is told of all the same; the rest of a rule is gone through with the
        next change, since the rule itself, which is there already, would be no news then.
        """
        reached = _Reached()
        work = chain(
            self.index.judging_left() if kind is Kind.RULES else (),
            chain.from_iterable(self._put(kind, item) for item in put),
            chain.from_iterable(self._drop(kind, key) for key in drop),
        )
        self._in_part.add(kind)
        try:
            async for _ in in_slices(map(reached.add, work), _AT_A_TIME[kind]):
                pass
        finally:
            if self.ready:
                self._marks.look_at_pods(reached.pods)
            self._tell_of(reached.rules)
        # Of one that was stopped the rest is yet to come.
        self._in_part.discard(kind)

    def _tell_of(self, rules: Collection[str]) -> None:
        if rules and self._statuses is not None:
            self._statuses.look_later(rules)

    def _put(self, kind: Kind, item: Any) -> Iterable[Affected]:  # noqa: ANN401 - of the kind named
        if kind is Kind.SLICES:
            return (self.index.apply_slice(item),)
        if kind is Kind.CLAIMS:
            return (self.index.apply_claim(item),)
        return self._put_rule(item)

    def _put_rule(self, rule: DeviceTaintRule) -> Iterator[Affected]:
        name, uid = rule.metadata.name, rule.metadata.uid
        old = self.index.rules.get(name)
        if old is not None and old.metadata.uid != uid:
            self.evicted.forget(old.metadata.uid)
        is_new = False
        for affected in self.index.applying_rule(rule):
            is_new = is_new or name in affected.rules
            yield affected
        if is_new and self._statuses is not None:
            self._statuses.look_now(rule)

    def _drop(self, kind: Kind, key: Any) -> Iterable[Affected]:  # noqa: ANN401 - of the kind named
        if kind is Kind.SLICES:
            return (self.index.delete_slice(key),)
        if kind is Kind.CLAIMS:
            return (self.index.delete_claim(key),)
        old = self.index.rules.get(key)
        if old is not None:
            self.evicted.forget(old.metadata.uid)
        return self.index.deleting_rule(key)

    def _settle(self) -> None:
        if self.ready or not self.served or not self.synced:
            return
        self.ready = True
        self._marks.look_at_pods(self.pods)
        if self._statuses is not None:
            self._statuses.look_at_all()


def _key(kind: Kind, metadata: ObjectMeta) -> _Key:
    return (metadata.namespace, metadata.name) if kind is Kind.CLAIMS else metadata.name
