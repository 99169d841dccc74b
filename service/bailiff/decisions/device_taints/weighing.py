"""What it costs to decide by devices: counted from lengths, before anything is compared."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

from bailiff.decisions.cost import Cost, check_number
from bailiff.decisions.device_taints.facts import MAX_CLAIMS, MAX_RULES, MAX_SLICES
from bailiff.kinds import NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bailiff.decisions.device_taints.facts import DeviceTaintFacts
    from bailiff.kinds import (
        DeviceRequestAllocationResult,
        DeviceTaintRule,
        Pod,
        ResourceClaim,
        ResourceSlice,
    )

MAX_DEVICES = 50_000
# Allocated devices in one question; a claim has at most 32 (resource/v1, AllocationResultsMaxSize).
MAX_ALLOCATED = 100_000
# Bytes of a decision, or of a claim's report, that names no taint; of a taint that it names, and of
# one with its trace.
_ANSWER, _TOLD, _EXPLAINED = 1000, 400, 3000
# A comparison here costs more than one of a node's taints by so much.
_STEP = 2
PATH = "$.deviceTaints.resourceClaims"


def weigh(
    facts: DeviceTaintFacts,
    pods: Sequence[Pod],
    *,
    explain: bool,
    tells_claims: bool = True,
    also: tuple[DeviceTaintRule, ...] = (),
) -> Cost:
    """The cost of deciding for these pods.

    Args:
        facts: the devices.
        pods: the pods to decide for.
        explain: a trace is asked for.
        tells_claims: the answer is about the claims, too.
        also: rules that apply beside those of the facts.

    Raises:
        FactsError: too many objects.
    """
    _check_numbers(facts)
    met = _Met(facts, also)
    steps = met.steps + sum(met.steps_for(pod) for pod in pods)
    told = sum(met.told_to(pod) for pod in pods) + (met.taints if tells_claims else 0)
    answers = len(pods) + (len(facts.resource_claims) if tells_claims else 0)
    length = answers * _ANSWER + told * (_EXPLAINED if explain else _TOLD)
    return Cost(_STEP * steps, length, PATH)


def _check_numbers(facts: DeviceTaintFacts) -> None:
    claims, slices = facts.resource_claims, facts.resource_slices
    check_number("$.deviceTaints.resourceClaims", len(claims), MAX_CLAIMS)
    check_number("$.deviceTaints.resourceSlices", len(slices), MAX_SLICES)
    check_number("$.deviceTaints.deviceTaintRules", len(facts.device_taint_rules), MAX_RULES)
    devices = sum(len(one.spec.devices) for one in slices)
    check_number("$.deviceTaints.resourceSlices[*].spec.devices", devices, MAX_DEVICES)
    allocated = sum(len(_results(claim)) for claim in claims)
    path = "$.deviceTaints.resourceClaims[*].status.allocation.devices.results"
    check_number(path, allocated, MAX_ALLOCATED)


class _Met:
    """How many taints the allocated devices meet at most, and what it costs to compare them."""

    def __init__(self, facts: DeviceTaintFacts, also: tuple[DeviceTaintRule, ...]) -> None:
        self.steps = 0
        self.taints = 0
        self._published = _published(facts.resource_slices)
        self._rules = _patterns((*facts.device_taint_rules, *also))
        # By claim: what it costs to find out whether a pod uses it, and the taints it meets.
        self._of_claim: dict[tuple[str, str], tuple[int, int]] = {}
        for claim in facts.resource_claims:
            self._add(claim)

    def steps_for(self, pod: Pod) -> int:
        """What it costs at most to go through the claims that a pod names."""
        entries = len(pod.spec.resource_claims)
        most = max((self._look_up(pod, name)[0] for name in _named(pod)), default=0)
        return entries * len(pod.status.resource_claim_statuses) + (entries + 1) * most

    def told_to(self, pod: Pod) -> int:
        """How many taints at most the answer for a pod names."""
        return sum(self._look_up(pod, name)[1] for name in set(_named(pod)))

    def _look_up(self, pod: Pod, name: str) -> tuple[int, int]:
        return self._of_claim.get((pod.metadata.namespace, name), (0, 0))

    def _add(self, claim: ResourceClaim) -> None:
        met = 0
        for result in _results(claim):
            taints = self._taints_on(result)
            met += taints
            self.steps += taints * (1 + len(result.tolerations))
        self.taints += met
        users = len(claim.status.reserved_for) + len(claim.metadata.owner_references)
        key = claim.metadata.namespace, claim.metadata.name
        self._of_claim[key] = (1 + users + met, met)

    def _taints_on(self, result: DeviceRequestAllocationResult) -> int:
        found = self._published.get((result.driver, result.pool, result.device), 0)
        if not self._rules:
            return found
        patterns = product((result.driver, None), (result.pool, None), (result.device, None))
        return found + sum(self._rules.get(pattern, 0) for pattern in patterns)


def _named(pod: Pod) -> Iterable[str]:
    """Every claim that a pod may come to by whatever name, under whatever options."""
    for entry in pod.spec.resource_claims:
        if entry.resource_claim_name is not None:
            yield entry.resource_claim_name
    for status in pod.status.resource_claim_statuses:
        if status.resource_claim_name is not None:
            yield status.resource_claim_name
    extended = pod.status.extended_resource_claim_status
    if extended is not None:
        yield extended.resource_claim_name


def _results(claim: ResourceClaim) -> tuple[DeviceRequestAllocationResult, ...]:
    allocation = claim.status.allocation
    return () if allocation is None else allocation.devices.results


def _published(slices: Iterable[ResourceSlice]) -> Mapping[tuple[str, str, str], int]:
    found: Counter[tuple[str, str, str]] = Counter()
    for one in slices:
        for device in one.spec.devices:
            if device.taints:
                key = one.spec.driver, one.spec.pool.name, device.name
                found[key] += sum(taint.effect == NO_EXECUTE for taint in device.taints)
    return found


def _patterns(
    rules: Iterable[DeviceTaintRule],
) -> Mapping[tuple[str | None, str | None, str | None], int]:
    selectors = (rule.spec.device_selector for rule in rules)
    return Counter((one.driver, one.pool, one.device) for one in selectors if one is not None)
