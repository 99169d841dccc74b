"""What a question may cost: the one set of limits behind REST, gRPC and the command line."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Protocol

from bailiff.kinds import NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bailiff.kinds import (
        DeviceRequestAllocationResult,
        DeviceTaintRule,
        Pod,
        ResourceClaim,
        ResourceSlice,
        Taint,
    )

# Pods in one question about a node. A kubelet runs 110 by default.
MAX_PODS = 1000
# Toleration-taint comparisons that one question may cost at worst, about 0.1 s of work, in which
# the server does nothing else.
MAX_COMPARISONS = 200_000

# Objects in one question about devices: those of a cluster of 5,000 nodes with eight devices each,
# of which half are in use.
MAX_CLAIMS = 20_000
MAX_SLICES = 20_000
MAX_DEVICES = 50_000
MAX_DEVICE_PODS = 20_000
MAX_RULES = 1000
# Allocated devices in one question; a claim has at most 32 (resource/v1, AllocationResultsMaxSize).
MAX_ALLOCATED = 100_000
# Steps that one question about devices may cost at worst, about a second of work: taints of
# allocated devices compared with tolerations, and users of claims looked through for pods.
MAX_DEVICE_STEPS = 500_000
# Taints that an answer about devices may name, once for each claim and each pod that they reach:
# about 30 MB.
MAX_TOLD = 100_000
# What a trace is longer than a reason.
_TRACE_WEIGHT = 10


class FactsError(ValueError):
    """A question that cannot be asked.

    Attributes:
        path: the field at fault, as `$.node`.
        reason: what is wrong and what is allowed.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class DeviceObjects(Protocol):
    """What any question about devices brings."""

    @property
    def resource_claims(self) -> tuple[ResourceClaim, ...]:
        """Who has which devices."""
        ...

    @property
    def resource_slices(self) -> tuple[ResourceSlice, ...]:
        """Which devices there are."""
        ...

    @property
    def device_taint_rules(self) -> tuple[DeviceTaintRule, ...]:
        """What administrators say of them."""
        ...


def check_node(taints: Iterable[Taint], pods: Iterable[Pod]) -> None:
    """Refuse more taints and tolerations than can be compared in time.

    Raises:
        FactsError: as said.
    """
    evicting = sum(taint.effect == NO_EXECUTE for taint in taints)
    check_comparisons(evicting * sum(len(pod.spec.tolerations) for pod in pods))


def check_comparisons(number: int) -> None:
    """Refuse more comparisons of a node's taints than MAX_COMPARISONS.

    Raises:
        FactsError: as said.
    """
    if number > MAX_COMPARISONS:
        raise FactsError(
            "$.node.spec.taints",
            f"needs {number} comparisons of taints, at most {MAX_COMPARISONS} are allowed",
        )


def check_devices(
    facts: DeviceObjects,
    pods: Sequence[Pod],
    *,
    explain: bool = False,
    tells_claims: bool = False,
    also: tuple[DeviceTaintRule, ...] = (),
) -> None:
    """Refuse what cannot be answered in bounded time and space.

    Args:
        facts: the devices.
        pods: the pods to decide for.
        explain: a trace may be asked for.
        tells_claims: the answer is about the claims, too.
        also: rules that apply beside those of the facts.

    Raises:
        FactsError: too many objects, too much work, or too long an answer.
    """
    _check_numbers(facts)
    met = _Met(facts, also)
    steps = met.steps + sum(met.steps_for(pod) for pod in pods)
    if steps > MAX_DEVICE_STEPS:
        raise FactsError(
            "$.resourceClaims",
            f"needs {steps} comparisons of device taints and users, "
            f"at most {MAX_DEVICE_STEPS} are allowed",
        )
    told = sum(met.told_to(pod) for pod in pods) + (met.taints if tells_claims else 0)
    told *= _TRACE_WEIGHT if explain else 1
    if told > MAX_TOLD:
        raise FactsError(
            "$.resourceClaims",
            f"the answer could name {told} taints, at most {MAX_TOLD} are allowed, "
            f"each counted {_TRACE_WEIGHT} times with a trace",
        )


def check_number(path: str, number: int, most: int) -> None:
    """Refuse too long a list.

    Raises:
        FactsError: as said.
    """
    if number > most:
        raise FactsError(path, f"at most {most} are allowed, there are {number}")


def _check_numbers(facts: DeviceObjects) -> None:
    claims, slices = facts.resource_claims, facts.resource_slices
    check_number("$.resourceClaims", len(claims), MAX_CLAIMS)
    check_number("$.resourceSlices", len(slices), MAX_SLICES)
    check_number("$.deviceTaintRules", len(facts.device_taint_rules), MAX_RULES)
    devices = sum(len(one.spec.devices) for one in slices)
    check_number("$.resourceSlices[*].spec.devices", devices, MAX_DEVICES)
    allocated = sum(len(_results(claim)) for claim in claims)
    path = "$.resourceClaims[*].status.allocation.devices.results"
    check_number(path, allocated, MAX_ALLOCATED)


class _Met:
    """How many taints the allocated devices meet at most, and what it costs to compare them."""

    def __init__(self, facts: DeviceObjects, also: tuple[DeviceTaintRule, ...]) -> None:
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
