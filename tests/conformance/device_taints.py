"""The cases on device taints put to our index, and what explains a different answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from itertools import combinations
from typing import Any, TypeVar

import msgspec

from bailiff.decisions import Finding, Options, Verdict
from bailiff.decisions.device_taints import (
    DeviceTaintIndex,
    RuleStatus,
    device_tolerates,
    rule_status,
)
from bailiff.decisions.text import describe_time
from bailiff.kinds import (
    DeviceTaint,
    DeviceTaintRule,
    DeviceToleration,
    Pod,
    ResourceClaim,
    ResourceSlice,
)
from tests.conformance.upstream_device_claims import Kinds, Repair, text
from tests.conformance.upstream_devices import Answer, UpstreamDevices
from tests.harness.asking import of_devices

Json = dict[str, Any]
Key = tuple[str, str]
K = TypeVar("K", bound=Kinds)

OPTIONS = Options(explain=False)
# Deadlines do not depend on it.
NOW = datetime(2025, 1, 1, tzinfo=UTC)
KINDS: dict[str, type[Kinds]] = {
    "resourceSlices": ResourceSlice,
    "deviceTaintRules": DeviceTaintRule,
    "resourceClaims": ResourceClaim,
    "pods": Pod,
}
BY_NAME: dict[str, type[Kinds]] = {kind.__name__: kind for kind in KINDS.values()}


def answer_device_toleration(case: Json) -> Json:
    toleration = msgspec.convert(case["toleration"], DeviceToleration)
    return {"tolerates": device_tolerates(toleration, msgspec.convert(case["taint"], DeviceTaint))}


def answer_device_taint(case: Json) -> Json:
    index = DeviceTaintIndex()
    for one in _objects(case):
        apply(index, one)
    pods = {}
    for pod in _of(case, Pod):
        finding, eviction = of_devices(index, pod, NOW, OPTIONS), index.eviction(pod, OPTIONS)
        reasons = [] if eviction is None else list(eviction.reasons)
        assert ", ".join(reasons) in finding.message
        pods[pod.key] = {"evictAt": _written(finding.evict_at), "reasons": reasons}
    claims = {"/".join(key): _written(index.claim(key).evict_at) for key in index.claims}
    return {"pods": pods, "claims": claims}


def answer_device_rule_status(case: Json) -> Json:
    index = DeviceTaintIndex()
    for one in _objects(case):
        apply(index, one)
    rule = index.rules.get(case["rule"]["name"])
    if rule is None or rule.metadata.uid != case["rule"]["uid"]:
        return _told(RuleStatus())
    return _told(index.status_of(rule, case["evictedSoFar"], _now(case), OPTIONS))


def answer_device_sequence(case: Json) -> Json:
    timers = Timers()
    return {"steps": [asdict(timers.change(*_event(one))) for one in case["events"]]}


class Timers:
    """Deadlines that follow the index: only the pods that it names are decided anew."""

    def __init__(self) -> None:
        self._index = DeviceTaintIndex()
        self._pods: dict[Key, Pod] = {}
        # By pod and UID.
        self._due: dict[tuple[Key, str], datetime] = {}
        self._answer = Answer()

    def change(self, new: Kinds | None, gone: Kinds | None) -> Answer:
        """Take one object in, or forget one, and tell what stands after it."""
        self._answer = Answer()
        present = new if new is not None else gone
        assert present is not None
        if isinstance(present, Pod):
            self._note((present.metadata.namespace, present.metadata.name), new)
        for key in apply(self._index, present, gone=new is None):
            if key in self._pods:
                self._settle(key, self._pods[key])
        for (key, _), due in self._due.items():
            self._answer.deletePodAt["/".join(key)] = _written(due) or ""
        self._answer.cancelled.sort()
        self._answer.cancelEvents.sort()
        return self._answer

    def _note(self, key: Key, new: Kinds | None) -> None:
        old = self._pods.pop(key, None)
        if isinstance(new, Pod):
            self._pods[key] = new
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            self._drop(key, old)

    def _settle(self, key: Key, pod: Pod) -> None:
        finding = of_devices(self._index, pod, NOW, OPTIONS)
        if finding.verdict is not Verdict.KEEP and finding.evict_at is not None:
            self._due[key, pod.metadata.uid] = finding.evict_at
        elif self._drop(key, pod) and not _leaves(finding):
            self._answer.cancelEvents.append(pod.key)

    def _drop(self, key: Key, pod: Pod) -> bool:
        if self._due.pop((key, pod.metadata.uid), None) is None:
            return False
        self._answer.cancelled.append(pod.key)
        return True


def apply(index: DeviceTaintIndex, one: Kinds, *, gone: bool = False) -> frozenset[Key]:
    """Take an object in, or forget it. The pods to decide anew."""
    key = one.metadata.namespace, one.metadata.name
    match one:
        case ResourceSlice():
            found = index.delete_slice(key[1]) if gone else index.apply_slice(one)
        case DeviceTaintRule():
            found = index.delete_rule(key[1]) if gone else index.apply_rule(one)
        case ResourceClaim():
            found = index.delete_claim(key) if gone else index.apply_claim(one)
        case Pod():
            found = index.delete_pod(key) if gone else index.apply_pod(one)
    return found.pods


def model_device_taint(case: Json, repairs: tuple[Repair, ...] = ()) -> Json:
    """What the model of upstream answers."""
    upstream = _loaded(case, repairs)
    pods = {}
    for pod in _of(case, Pod):
        eviction = upstream.pod_eviction(pod)
        at = None if eviction is None else text(eviction.when)
        reasons = [] if eviction is None else [one.text for one in eviction.reasons]
        pods[pod.key] = {"evictAt": at, "reasons": reasons}
    keys = [(one.metadata.namespace, one.metadata.name) for one in _of(case, ResourceClaim)]
    return {"pods": pods, "claims": {"/".join(key): upstream.claim_at(key) for key in keys}}


def model_device_rule_status(case: Json, repairs: tuple[Repair, ...] = ()) -> Json:
    """What the model of upstream answers; its words and rhythm are ours, its counts are not."""
    wanted = case["rule"]["name"], case["rule"]["uid"]
    for rule in _of(case, DeviceTaintRule):
        if (rule.metadata.name, rule.metadata.uid) == wanted:
            effect = partial(_loaded(case, repairs).effect, rule)
            return _told(rule_status(rule, effect, case["evictedSoFar"], _now(case)))
    return _told(RuleStatus())


def model_device_sequence(case: Json, repairs: tuple[Repair, ...] = ()) -> Json:
    """What the model of upstream answers."""
    upstream = UpstreamDevices(repairs)
    return {"steps": [asdict(upstream.change(*_event(one))) for one in case["events"]]}


def explaining_by(
    model: Callable[[Json, tuple[Repair, ...]], Json],
) -> Callable[[Json, Json, Json], list[str]]:
    """The fewest repairs that lead from upstream's answer to ours.

    None at all unless both answers are accounted for to the last word: upstream's by the model as
    it is, ours by the model with everything repaired.
    """

    def explain(case: Json, answer: Json, expect: Json) -> list[str]:
        if model(case, ()) != expect or model(case, tuple(Repair)) != answer:
            return []
        few = next(some for some in _from_few_to_all() if model(case, some) == answer)
        return sorted(repair.value for repair in few)

    return explain


def _from_few_to_all() -> Iterator[tuple[Repair, ...]]:
    for count in range(len(Repair) + 1):
        yield from combinations(Repair, count)


def _loaded(case: Json, repairs: tuple[Repair, ...]) -> UpstreamDevices:
    upstream = UpstreamDevices(repairs)
    for one in _objects(case):
        upstream.change(one)
    return upstream


def _objects(case: Json) -> Iterator[Kinds]:
    for field, kind in KINDS.items():
        for one in case[field] or ():
            yield msgspec.convert(one, kind)


def _of(case: Json, kind: type[K]) -> list[K]:
    return [one for one in _objects(case) if isinstance(one, kind)]


def _event(event: Json) -> tuple[Kinds | None, Kinds | None]:
    one = msgspec.convert(event["object"], BY_NAME[event["object"]["kind"]])
    return (None, one) if event["type"] == "DELETED" else (one, None)


def _now(case: Json) -> datetime:
    return datetime.fromisoformat(case["now"])


def _told(status: RuleStatus) -> Json:
    condition: Json | None = None
    if status.condition is not None:
        # Empty strings are written, as Kubernetes does; an unset generation is not.
        condition = {"message": "", **msgspec.to_builtins(status.condition)}
    return {"condition": condition, "requeueAfterSeconds": status.requeue_after_seconds}


def _leaves(finding: Finding) -> bool:
    return finding.reason in {"PodTerminating", "PodFinished"}


def _written(at: datetime | None) -> str | None:
    """Floored to seconds."""
    return None if at is None else describe_time(at.replace(microsecond=0))
