"""Which pods of a cluster use some devices: by way of the claims that those are allocated to."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from bailiff.decisions.changes import MAX_CHANGED_PODS
from bailiff.decisions.device_taints.claims import devices_of
from bailiff.decisions.device_taints.facts import MAX_CLAIMS, DeviceTaintFacts
from bailiff.decisions.device_taints.pods import has_claims
from bailiff.decisions.seen import NotRead, Wanted
from bailiff.kinds import DeviceTaintRule, Pod, ResourceClaim, ResourceSlice

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from bailiff.decisions.device_taints.pools import DeviceId
    from bailiff.decisions.seen import Seen
    from bailiff.kinds.meta import Value

    _Looking: TypeAlias = "Generator[tuple[Wanted, ...], tuple[Seen, ...], Reached]"

K = TypeVar("K", bound="Value")

# Claims that are gone through at a time, at 2 to 5 us.
_PART = 2_000
# Pods of one namespace up to which they are got by name; more are listed.
_FEW_PODS = 64
# Those that are got one after the other.
_AT_ONCE = 8


class Reach(NamedTuple):
    """What a change taints.

    Attributes:
        causes: that it brings, as findings name them.
        selects: whether it taints a device.
    """

    causes: tuple[str, ...]
    selects: Callable[[DeviceId], bool]


class Reached(Struct, frozen=True):
    """What was seen of a cluster.

    Attributes:
        facts: the claims that are reached, the slices of their drivers, and all rules.
        pods: that may use those claims.
        not_seen: see Consequences.
        too_many: see there.
    """

    facts: DeviceTaintFacts = DeviceTaintFacts()
    pods: tuple[Pod, ...] = ()
    not_seen: tuple[str, ...] = ()
    too_many: tuple[str, ...] = ()


def look(reach: Reach) -> _Looking:
    """All claims, to find those that are reached; then what is known of their devices and users."""
    (seen,) = yield (Wanted(ResourceClaim, most=MAX_CLAIMS + 1),)
    if isinstance(seen, NotRead):
        return Reached(not_seen=(seen.detail,))
    found = Reached()
    claims = _of(seen, ResourceClaim)
    if len(claims) > MAX_CLAIMS:
        found = replace(found, too_many=(f"ResourceClaims beyond the first {MAX_CLAIMS}",))
    touched: list[ResourceClaim] = []
    for first in range(0, min(len(claims), MAX_CLAIMS), _PART):
        part = claims[first : min(first + _PART, MAX_CLAIMS)]
        touched += [one for one in part if any(map(reach.selects, devices_of(one)))]
        # Others have their turn.
        yield ()
    if not touched:
        return found
    found = yield from _devices(found, touched)
    return (yield from _users(found, touched))


def _devices(found: Reached, claims: list[ResourceClaim]) -> _Looking:
    drivers = sorted({device.driver for claim in claims for device in devices_of(claim)})
    slices = (Wanted(ResourceSlice, fields=(("spec.driver", one),)) for one in drivers)
    seen = yield (*slices, Wanted(DeviceTaintRule))
    # Without them it is not known what evicts already; what the change does is.
    unread = tuple(one.detail for one in seen if isinstance(one, NotRead))
    facts = DeviceTaintFacts(
        resource_claims=tuple(claims),
        resource_slices=tuple(one for some in seen for one in _of(some, ResourceSlice)),
        device_taint_rules=tuple(one for some in seen for one in _of(some, DeviceTaintRule)),
    )
    return replace(found, facts=facts, not_seen=found.not_seen + unread)


def _users(found: Reached, claims: list[ResourceClaim]) -> _Looking:
    wanted = tuple(_wanted(claims))
    seen = yield wanted
    unread = tuple(dict.fromkeys(one.detail for one in seen if isinstance(one, NotRead)))
    pods = {
        (pod.metadata.namespace, pod.metadata.name): pod
        for some in seen
        for pod in _of(some, Pod)
        if has_claims(pod)
    }
    too_many = found.too_many + tuple(
        f"pods of namespace {one.namespace} beyond the first {MAX_CHANGED_PODS}"
        for one, some in zip(wanted, seen, strict=True)
        if one.most is not None and len(_of(some, Pod)) >= one.most
    )
    if len(pods) > MAX_CHANGED_PODS:
        too_many += (f"{len(pods) - MAX_CHANGED_PODS} of {len(pods)} pods that use the devices",)
    return replace(
        found,
        pods=tuple(pods.values())[:MAX_CHANGED_PODS],
        not_seen=found.not_seen + unread,
        too_many=too_many,
    )


def _wanted(claims: Iterable[ResourceClaim]) -> Iterator[Wanted]:
    """The pods that claims are reserved for; of a PodGroup nothing tells which they are."""
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    grouped: dict[str, None] = {}
    for claim in claims:
        namespace = claim.metadata.namespace
        for consumer in claim.status.reserved_for:
            if consumer.resource == "pods":
                names[namespace][consumer.name] = None
            else:
                grouped[namespace] = None
    for namespace in grouped:
        # One more, to know whether there are more.
        yield Wanted(Pod, namespace, most=MAX_CHANGED_PODS + 1)
    for namespace in names.keys() - grouped.keys():
        yield from _by_name(namespace, tuple(names[namespace]))


def _by_name(namespace: str, names: tuple[str, ...]) -> Iterator[Wanted]:
    if len(names) > _FEW_PODS:
        yield Wanted(Pod, namespace, names)
        return
    for first in range(0, len(names), _AT_ONCE):
        yield Wanted(Pod, namespace, names[first : first + _AT_ONCE])


def _of(seen: Seen, kind: type[K]) -> list[K]:
    return [] if isinstance(seen, NotRead) else [one for one in seen if isinstance(one, kind)]
