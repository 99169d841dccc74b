"""How many taints the allocated devices of a question meet at most, and what it is to tell of them.

Nothing is compared: a device meets every taint that any slice publishes for it, and the taint of
every rule whose selector names what it is called.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bailiff.decisions.lengths import length, words_of_taint, words_of_toleration
from bailiff.kinds import NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bailiff.decisions.device_taints.facts import DeviceTaintFacts
    from bailiff.kinds import (
        DeviceRequestAllocationResult,
        DeviceTaintRule,
        ResourceClaim,
        ResourceSlice,
    )

# Bytes besides names of a reason, and of a step of a trace.
_REASON, _TRACE_STEP = 40, 800

_Pattern: TypeAlias = "tuple[str | None, str | None, str | None]"


class Taints(NamedTuple):
    """Taints of one device, or of the rules with one selector.

    Attributes:
        number: how many.
        length: bytes of the taints and of the names of the objects that put them there.
    """

    number: int = 0
    length: int = 0


class Met(NamedTuple):
    """What a claim's devices meet.

    Attributes:
        steps: what it costs to find out whether a pod uses the claim, and to go through its taints.
        reasons: bytes of why it evicts, each reason once.
        first: bytes of a description of any one of the taints.
        trace: bytes of the steps of a trace.
    """

    steps: int = 0
    reasons: int = 0
    first: int = 0
    trace: int = 0


_NOTHING = Met()


class Meetings:
    """The claims of a question and what they meet.

    Attributes:
        steps: what it costs to judge all of them.
    """

    def __init__(self, facts: DeviceTaintFacts, also: tuple[DeviceTaintRule, ...] = ()) -> None:
        """Count; `also` are rules beside those of the facts."""
        self.steps = 0
        self._published = _published(facts.resource_slices)
        self._rules = _patterns((*facts.device_taint_rules, *also))
        self._of_claim: dict[tuple[str, str], Met] = {}
        for claim in facts.resource_claims:
            self._of_claim[claim.metadata.namespace, claim.metadata.name] = self._meet(claim)

    def of(self, namespace: str, name: str) -> Met:
        """Of the last claim of this name; nothing where there is none."""
        return self._of_claim.get((namespace, name), _NOTHING)

    def _meet(self, claim: ResourceClaim) -> Met:
        meta, number, reasons, first, trace = claim.metadata, 0, 0, 0, 0
        named = length(meta.namespace, meta.name, meta.uid)
        for result in results_of(claim):
            taints = self._taints_on(result)
            if not taints.number:
                continue
            number += taints.number
            self.steps += taints.number * (1 + len(result.tolerations))
            device = length(result.driver, result.pool, result.device)
            tolerated = max(map(words_of_toleration, result.tolerations), default=0)
            reasons += taints.length + taints.number * (device + _REASON)
            first = max(first, taints.length + device + tolerated)
            each = 3 * device + 2 * tolerated + named + _TRACE_STEP
            trace += 2 * taints.length + taints.number * each
        users = len(claim.status.reserved_for) + len(meta.owner_references)
        return Met(1 + users + number, reasons, first, trace)

    def _taints_on(self, result: DeviceRequestAllocationResult) -> Taints:
        found = self._published.get((result.driver, result.pool, result.device), Taints())
        if not self._rules:
            return found
        number, together = found
        for pattern in product((result.driver, None), (result.pool, None), (result.device, None)):
            more = self._rules.get(pattern)
            if more is not None:
                number, together = number + more.number, together + more.length
        return Taints(number, together)


def results_of(claim: ResourceClaim) -> tuple[DeviceRequestAllocationResult, ...]:
    """The devices that are allocated to a claim."""
    allocation = claim.status.allocation
    return () if allocation is None else allocation.devices.results


def _published(slices: Iterable[ResourceSlice]) -> Mapping[tuple[str, str, str], Taints]:
    found: dict[tuple[str, str, str], Taints] = {}
    for one in slices:
        named = length(one.metadata.name, one.metadata.uid)
        for device in one.spec.devices:
            evicting = [taint for taint in device.taints if taint.effect == NO_EXECUTE]
            if evicting:
                key = one.spec.driver, one.spec.pool.name, device.name
                together = len(evicting) * named + sum(map(words_of_taint, evicting))
                found[key] = _more(found.get(key), len(evicting), together)
    return found


def _patterns(rules: Iterable[DeviceTaintRule]) -> Mapping[_Pattern, Taints]:
    found: dict[_Pattern, Taints] = {}
    for rule in rules:
        selector = rule.spec.device_selector
        if selector is not None:
            key = selector.driver, selector.pool, selector.device
            meta = rule.metadata
            together = words_of_taint(rule.spec.taint) + length(meta.name, meta.uid)
            found[key] = _more(found.get(key), 1, together)
    return found


def _more(known: Taints | None, number: int, together: int) -> Taints:
    if known is None:
        return Taints(number, together)
    return Taints(known.number + number, known.length + together)
