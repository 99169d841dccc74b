"""Which objects of a cluster tell about the devices of some pods."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from bailiff.decisions.device_taints.claims import devices_of
from bailiff.decisions.device_taints.facts import DeviceTaintFacts
from bailiff.decisions.device_taints.pods import named_claims
from bailiff.decisions.seen import NotRead, Wanted
from bailiff.kinds import DeviceTaintRule, ResourceClaim, ResourceSlice

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from bailiff.decisions.options import Options
    from bailiff.decisions.seen import Seen
    from bailiff.kinds import Pod

_Looking: TypeAlias = "Generator[Wanted, Seen, DeviceTaintFacts | NotRead]"


def look_up(pods: Iterable[Pod], options: Options) -> _Looking:
    """The claims that the pods name, the slices that publish their devices, and all rules.

    Claims of extended resources are not asked for where the options do not let them count.
    Slices are not asked for by node: which slices of a pool count depends on all of them, wherever
    they are. A cluster without rules, which are served by an API of their own, is as one with none.
    """
    claims: list[ResourceClaim] = []
    for namespace, names in _named(pods, options).items():
        seen = yield Wanted(ResourceClaim, namespace, names)
        if isinstance(seen, NotRead):
            return seen
        claims += [one for one in seen if isinstance(one, ResourceClaim)]
    pools = {(one.driver, one.pool) for claim in claims for one in devices_of(claim)}
    slices: list[ResourceSlice] = []
    for driver in sorted({driver for driver, _ in pools}):
        seen = yield Wanted(ResourceSlice, fields=(("spec.driver", driver),))
        if isinstance(seen, NotRead):
            return seen
        published = [one for one in seen if isinstance(one, ResourceSlice)]
        slices += [one for one in published if (driver, one.spec.pool.name) in pools]
    seen = yield Wanted(DeviceTaintRule)
    if isinstance(seen, NotRead):
        return seen
    rules = tuple(one for one in seen if isinstance(one, DeviceTaintRule))
    return DeviceTaintFacts(
        resource_claims=tuple(claims), resource_slices=tuple(slices), device_taint_rules=rules
    )


def _named(pods: Iterable[Pod], options: Options) -> dict[str, tuple[str, ...]]:
    """The names of claims by namespace."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for pod in pods:
        for one in named_claims(pod, extended=options.extended_resource_claims):
            if not one.outcome:
                found[pod.metadata.namespace][one.name] = None
    return {namespace: tuple(names) for namespace, names in found.items()}
