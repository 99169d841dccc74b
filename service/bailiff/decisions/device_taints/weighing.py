"""What it costs to decide by devices: counted from lengths, before anything is compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import Cost, check_number
from bailiff.decisions.device_taints.facts import MAX_CLAIMS, MAX_RULES, MAX_SLICES
from bailiff.decisions.device_taints.meeting import Meetings, results_of
from bailiff.decisions.lengths import length

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bailiff.decisions.device_taints.facts import DeviceTaintFacts
    from bailiff.kinds import DeviceTaintRule, Pod, ResourceClaim

MAX_DEVICES = 50_000
# Allocated devices in one question; a claim has at most 32 (resource/v1, AllocationResultsMaxSize).
MAX_ALLOCATED = 100_000
# Bytes of a finding, with the decision and the Event that repeat it, besides what it names; of a
# claim's report; of a step of a trace about a claim that a pod names.
_FINDING, _REPORT, _CLAIM_STEP = 500, 200, 150
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
    met = Meetings(facts, also)
    steps = met.steps + sum(_steps_for(pod, met) for pod in pods)
    told = sum(_told_to(pod, met, explain=explain) for pod in pods)
    if tells_claims:
        told += sum(_told_of(claim, met, explain=explain) for claim in facts.resource_claims)
    return Cost(_STEP * steps, told, PATH)


def _check_numbers(facts: DeviceTaintFacts) -> None:
    claims, slices = facts.resource_claims, facts.resource_slices
    check_number("$.deviceTaints.resourceClaims", len(claims), MAX_CLAIMS)
    check_number("$.deviceTaints.resourceSlices", len(slices), MAX_SLICES)
    check_number("$.deviceTaints.deviceTaintRules", len(facts.device_taint_rules), MAX_RULES)
    devices = sum(len(one.spec.devices) for one in slices)
    check_number("$.deviceTaints.resourceSlices[*].spec.devices", devices, MAX_DEVICES)
    allocated = sum(len(results_of(claim)) for claim in claims)
    path = "$.deviceTaints.resourceClaims[*].status.allocation.devices.results"
    check_number(path, allocated, MAX_ALLOCATED)


def _steps_for(pod: Pod, met: Meetings) -> int:
    """What it costs at most to go through the claims that a pod names."""
    entries = len(pod.spec.resource_claims)
    namespace = pod.metadata.namespace
    most = max((met.of(namespace, name).steps for name in _named(pod)), default=0)
    return entries * len(pod.status.resource_claim_statuses) + (entries + 1) * most


def _told_to(pod: Pod, met: Meetings, *, explain: bool) -> int:
    """The bytes of what the answer for a pod names."""
    found = [met.of(pod.metadata.namespace, name) for name in set(_named(pod))]
    # Its reasons stand in three messages: its own, the Event's and the finding's. The taint that is
    # due first is described in each of them, and is the cause.
    told = _FINDING + 3 * sum(one.reasons for one in found)
    told += 4 * max((one.first for one in found), default=0)
    if explain:
        spec, status = pod.spec, pod.status
        entries = len(spec.resource_claims) + 1
        told += entries * _CLAIM_STEP + sum(one.trace for one in found)
        # An entry without a claim is called by its own name, which may be as long.
        told += length(spec.resource_claims, status.extended_resource_claim_status)
        told += entries * max(map(length, status.resource_claim_statuses), default=0)
    return told


def _told_of(claim: ResourceClaim, met: Meetings, *, explain: bool) -> int:
    """The bytes of a claim's report. Of claims of one name the last one's is told for all."""
    meta = claim.metadata
    found = met.of(meta.namespace, meta.name)
    told = _REPORT + length(meta.namespace, meta.name, meta.uid) + found.reasons
    return told + found.trace if explain else told


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
