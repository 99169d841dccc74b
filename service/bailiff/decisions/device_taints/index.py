"""Devices, claims, rules and pods held together, so that a change touches only what it reaches.

The one place where device taints are decided: the worker keeps an index in step with the cluster,
the faces build one from the facts of a question. What is kept depends on no option.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from bailiff.decisions.decision import reference_to
from bailiff.decisions.device_taints import findings
from bailiff.decisions.device_taints.links import Links
from bailiff.decisions.device_taints.pods import USED, claims_used, has_claims, named_claims
from bailiff.decisions.device_taints.status import RuleEffect, RuleStatus, counts, rule_status
from bailiff.decisions.device_taints.verdicts import ClaimVerdicts, rules_of
from bailiff.decisions.options import DEFAULT_OPTIONS
from bailiff.kinds import NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping
    from datetime import datetime

    from bailiff.decisions.decision import Finding, ObjectReference
    from bailiff.decisions.device_taints.claims import ClaimFinding
    from bailiff.decisions.device_taints.findings import PodEviction
    from bailiff.decisions.device_taints.pods import ClaimKey, ClaimUse
    from bailiff.decisions.device_taints.verdicts import Changed
    from bailiff.decisions.options import Options
    from bailiff.kinds import DeviceTaintRule, Pod, ResourceClaim, ResourceSlice

T = TypeVar("T")

# Namespace and name.
PodKey = tuple[str, str]

# Pods looked at for the status of a rule at a time, at 5 to 10 us.
_PART = 500


class Affected(NamedTuple):
    """What a change may have changed the answer for.

    Attributes:
        pods: namespace and name of those to decide anew: all that name claims and whose answer is
            another, and some whose is not. A pod without claims always stays.
        rules: names of rules whose status may have to say something else.
    """

    pods: frozenset[PodKey] = frozenset()
    rules: frozenset[str] = frozenset()


class DeviceTaintIndex:
    """Slices, claims, rules and the pods that name claims.

    To decide costs time for the claims of one pod; a change, for the claims that it reaches. A pod
    may be asked about whether or not it has been applied; those applied are the ones that changes
    and rules know of. Deleting what is not known is no error.
    """

    def __init__(self) -> None:
        self._verdicts = ClaimVerdicts()
        self._pods: dict[PodKey, Pod] = {}
        self._users: Links[ClaimKey, PodKey] = Links()

    @property
    def slices(self) -> Mapping[str, ResourceSlice]:
        """The slices applied, by name."""
        return self._verdicts.slices

    @property
    def claims(self) -> Mapping[ClaimKey, ResourceClaim]:
        """The claims applied, by namespace and name."""
        return self._verdicts.claims

    @property
    def rules(self) -> Mapping[str, DeviceTaintRule]:
        """The rules applied, by name."""
        return self._verdicts.rules

    @property
    def pods(self) -> Mapping[PodKey, Pod]:
        """The pods applied that name claims, by namespace and name."""
        return self._pods

    def apply_slice(self, new: ResourceSlice) -> Affected:
        """Take a slice in, new or changed."""
        return self._affected(self._verdicts.apply_slice(new))

    def delete_slice(self, name: str) -> Affected:
        """Forget a slice."""
        return self._affected(self._verdicts.delete_slice(name))

    def apply_claim(self, claim: ResourceClaim) -> Affected:
        """Take a claim in, new or changed."""
        key = claim.metadata.namespace, claim.metadata.name
        return self._affected(self._verdicts.change_claim(key, claim))

    def delete_claim(self, key: ClaimKey) -> Affected:
        """Forget a claim, by namespace and name."""
        return self._affected(self._verdicts.change_claim(key, None))

    def apply_rule(self, rule: DeviceTaintRule) -> Affected:
        """Take a rule in, new or changed.

        Its own name is among the rules if it is new, or its spec is; not if only its status is.
        """
        return _together(self.applying_rule(rule))

    def delete_rule(self, name: str) -> Affected:
        """Forget a rule."""
        return _together(self.deleting_rule(name))

    def applying_rule(self, rule: DeviceTaintRule) -> Iterator[Affected]:
        """As `apply_rule`, in parts of about 5 ms, for who has other things to do in between.

        From the first part on every answer goes by the rule. Go through all of it.
        """
        return map(self._affected, self._verdicts.applying_rule(rule))

    def deleting_rule(self, name: str) -> Iterator[Affected]:
        """As `delete_rule`, in parts like `applying_rule`."""
        return map(self._affected, self._verdicts.deleting_rule(name))

    def judging_left(self) -> Iterator[Affected]:
        """What a change of rules had yet to reach, where its parts were not all gone through."""
        return map(self._affected, self._verdicts.judging_left())

    def apply_pod(self, pod: Pod) -> Affected:
        """Take a pod in, new or changed; one that names no claim is not kept."""
        key = pod.metadata.namespace, pod.metadata.name
        return self._change_pod(key, pod if has_claims(pod) else None)

    def delete_pod(self, key: PodKey) -> Affected:
        """Forget a pod, by namespace and name."""
        return self._change_pod(key, None)

    def decide(self, pod: Pod, now: datetime, options: Options = DEFAULT_OPTIONS) -> Finding:
        """The answer for one pod.

        Args:
            pod: the pod.
            now: the instant to decide for, with time zone.
            options: see there.
        """
        if not has_claims(pod):
            return findings.no_claims()
        if not pod.spec.node_name:
            return findings.not_bound()
        uses = tuple(claims_used(pod, self.claims, options))
        claims = self._found_for(pod, uses)
        trace = findings.steps(uses, claims) if options.explain else ()
        return findings.judge(claims, trace, now)

    def eviction(self, pod: Pod, options: Options = DEFAULT_OPTIONS) -> PodEviction | None:
        """When and why a pod goes, be it due or not; None: it stays, as far as devices go."""
        if not pod.spec.node_name or (not options.evict_ended_pods and pod.has_ended):
            return None
        uses = claims_used(pod, self.claims, options)
        return findings.pod_eviction(self._found_for(pod, uses))

    def claim(self, key: ClaimKey) -> ClaimFinding:
        """What the taints mean for a claim; nothing for one that is not known or not allocated."""
        return self._verdicts.of(key)

    def effect_of(self, rule: DeviceTaintRule, options: Options = DEFAULT_OPTIONS) -> RuleEffect:
        """What a rule would do if its effect were NoExecute, whether it has been applied or not.

        Pods that something else dooms too are among its pods. Other rules play no part, as upstream
        has it.
        """
        return _whole(self._counting_effect(rule, options))

    def pods_doomed_by(
        self, rule: DeviceTaintRule, options: Options = DEFAULT_OPTIONS
    ) -> tuple[ObjectReference, ...]:
        """The pods that an applied rule evicts, soon or later, and that are still there."""
        return _whole(self._doomed(self._verdicts.doomed_by(rule), options))

    def status_of(
        self, rule: DeviceTaintRule, evicted: int, now: datetime, options: Options = DEFAULT_OPTIONS
    ) -> RuleStatus:
        """What to do about the status of an applied rule.

        Args:
            rule: the rule as it is, with its present conditions.
            evicted: pods evicted because of this rule, by UID, since the worker started.
            now: the instant, with time zone.
            options: see there.
        """
        return _whole(self.counting_status(rule, evicted, now, options))

    def counting_status(
        self, rule: DeviceTaintRule, evicted: int, now: datetime, options: Options = DEFAULT_OPTIONS
    ) -> Generator[None, None, RuleStatus]:
        """As `status_of`, in parts of about 5 ms, for who has other things to do in between.

        A pod that changes meanwhile counts as it was or as it is; the change tells of the rule
        again.
        """
        if not counts(rule, now):
            return rule_status(rule, RuleEffect, evicted, now)
        effect = yield from self._counting_present(rule, options)
        return rule_status(rule, lambda: effect, evicted, now)

    def _counting_present(
        self, rule: DeviceTaintRule, options: Options
    ) -> Generator[None, None, RuleEffect]:
        if rule.spec.taint.effect != NO_EXECUTE:
            return (yield from self._counting_effect(rule, options))
        pods = yield from self._doomed(self._verdicts.doomed_by(rule), options)
        return RuleEffect(pods=pods)

    def _counting_effect(
        self, rule: DeviceTaintRule, options: Options
    ) -> Generator[None, None, RuleEffect]:
        claims = yield from self._verdicts.doomed_if(rule)
        pods = yield from self._doomed(claims, options)
        return RuleEffect(
            published_devices=self._verdicts.count_published(rule),
            allocated_devices=self._verdicts.count_allocated(rule),
            pods=pods,
        )

    def _doomed(
        self, claims: frozenset[ClaimKey], options: Options
    ) -> Generator[None, None, tuple[ObjectReference, ...]]:
        """The pods to be evicted that use one of these claims, by namespace and name."""
        found: list[ObjectReference] = []
        rest = iter(sorted({pod for claim in claims for pod in self._users.of(claim)}))
        while part := tuple(islice(rest, _PART)):
            pods = [self._pods[key] for key in part if key in self._pods]
            found += [reference_to(one) for one in pods if self._is_doomed(one, claims, options)]
            yield
        return tuple(found)

    def _is_doomed(self, pod: Pod, claims: frozenset[ClaimKey], options: Options) -> bool:
        if pod.is_terminating or not pod.spec.node_name:
            return False
        if pod.is_finished and not options.evict_ended_pods:
            return False
        return any(
            use.outcome == USED and (pod.metadata.namespace, use.name) in claims
            for use in claims_used(pod, self.claims, options)
        )

    def _found_for(self, pod: Pod, uses: Iterable[ClaimUse]) -> tuple[ClaimFinding, ...]:
        """What is found on each claim, once, though the pod may name one twice."""
        names = dict.fromkeys(use.name for use in uses if use.outcome == USED)
        return tuple(self.claim((pod.metadata.namespace, name)) for name in names)

    def _affected(self, changed: Changed) -> Affected:
        pods = frozenset(pod for claim in changed.claims for pod in self._users.of(claim))
        return Affected(pods, changed.rules)

    def _change_pod(self, key: PodKey, new: Pod | None) -> Affected:
        old = self._pods.pop(key, None)
        if old is None and new is None:
            return Affected()
        before, after = _named_by(old), _named_by(new)
        self._users.move(key, before, after)
        if new is not None:
            self._pods[key] = new
        rules = [rules_of(self.claim(claim)) for claim in {*before, *after}]
        return Affected(frozenset({key}), frozenset().union(*rules))


def _whole(parts: Generator[None, None, T]) -> T:
    """What comes of something that is done in parts, all of them at once."""
    while True:
        try:
            next(parts)
        except StopIteration as end:
            result: T = end.value
            return result


def _together(parts: Iterable[Affected]) -> Affected:
    pods: set[PodKey] = set()
    rules: set[str] = set()
    for part in parts:
        pods |= part.pods
        rules |= part.rules
    return Affected(frozenset(pods), frozenset(rules))


def _named_by(pod: Pod | None) -> tuple[ClaimKey, ...]:
    """The claims that a pod names under whatever options."""
    if pod is None:
        return ()
    named = named_claims(pod, extended=True)
    return tuple((pod.metadata.namespace, one.name) for one in named if not one.outcome)
