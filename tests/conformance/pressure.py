"""Cases of the kubelet's eviction manager, put to our core, answered in the files' terms."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec

from bailiff.decisions.decision import ObjectReference
from bailiff.decisions.pressure.acting import stats_by_uid
from bailiff.decisions.pressure.admission import admit
from bailiff.decisions.pressure.configuration import ThresholdReader
from bailiff.decisions.pressure.container_fs import with_container_fs
from bailiff.decisions.pressure.layout import Layout, ReclaimStep
from bailiff.decisions.pressure.messages import observed_text
from bailiff.decisions.pressure.observations import met, observe
from bailiff.decisions.pressure.observed import Observation
from bailiff.decisions.pressure.ranking import rank
from bailiff.decisions.pressure.round import (
    Reclaimed,
    RoundFacts,
    RoundPlan,
    plan,
)
from bailiff.decisions.pressure.settings import PressureSettings
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.state import PressureState
from bailiff.decisions.pressure.thresholds import Threshold, ThresholdValue
from bailiff.kinds import Pod
from bailiff.kinds.quantity import NANO, format_binary, parse_quantity
from bailiff.kinds.stats import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Json = dict[str, Any]

LEAST_GRACE = "pressure-least-grace"
CONTAINERFS_ALIASING = "pressure-containerfs-aliasing"

START = datetime(2026, 3, 1, tzinfo=UTC)
_ANNOTATED = "annotations"


def thresholds_of(case: Json) -> tuple[tuple[Threshold, ...], bool]:
    """The thresholds of a configuration, and whether it is wrong."""
    reader = ThresholdReader()
    found = reader.read(
        case["evictionHard"] or {},
        case["evictionSoft"] or {},
        case["evictionSoftGracePeriod"] or {},
        case["evictionMinimumReclaim"] or {},
        case.get("allocatable", case.get("enforceNodeAllocatable")) or [],
    )
    return found, bool(reader.errors)


def answer_threshold_parse(case: Json) -> Json:
    thresholds, wrong = thresholds_of(case)
    if wrong:
        return {"error": True}
    told = [
        {
            "signal": one.signal.value,
            "operator": "LessThan",
            "gracePeriodSeconds": one.grace_period_nanoseconds / 10**9,
            "value": _value(one.value),
            "minReclaim": None if one.min_reclaim is None else _value(one.min_reclaim),
        }
        for one in thresholds
    ]
    return {"error": False, "thresholds": sorted(told, key=str)}


def comparable_threshold_parse(expect: Json) -> Json:
    if "error" in expect:
        return {"error": True}
    return {"error": False, "thresholds": sorted(map(_sorted, expect["thresholds"]), key=str)}


def _sorted(told: Json) -> Json:
    names = ("signal", "operator", "gracePeriodSeconds", "value", "minReclaim")
    return {name: told[name] for name in names}


def _value(value: ThresholdValue) -> Json:
    if value.quantity is not None:
        read = parse_quantity(value.quantity)
        return {"quantity": read.text, "value": read.value}
    return {"percentage": value.percentage}


def answer_observations(case: Json) -> Json:
    thresholds, _ = thresholds_of(case["thresholds"])
    try:
        seen = observe(msgspec.convert(case["summary"], Summary))
    except msgspec.ValidationError:
        return {"refused": True}
    return {
        "refused": False,
        "observations": {one.signal.value: _observation(one) for one in seen.values()},
        "thresholdsMet": _met(met(thresholds, seen), seen),
        "thresholdsMetEnforceMinReclaim": _met(met(thresholds, seen, reclaimed=True), seen),
    }


def comparable_observations(expect: Json) -> Json:
    sets = ("thresholdsMet", "thresholdsMetEnforceMinReclaim")
    return {"refused": False, **expect} | {
        name: sorted(expect[name], key=_by_text) for name in sets
    }


def _observation(one: Observation) -> Json:
    resource = one.signal.resource
    return {
        "available": one.available,
        "availableString": observed_text(resource, one.available),
        "capacity": one.capacity,
        "capacityString": observed_text(resource, one.capacity),
        "time": None if one.time is None else one.time.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _by_text(told: Json) -> str:
    return json.dumps(
        told | {"gracePeriodSeconds": float(told["gracePeriodSeconds"])}, sort_keys=True
    )


def _met(found: list[Threshold], seen: dict[Signal, Observation]) -> list[Json]:
    return sorted((_met_one(one, seen[one.signal].capacity) for one in found), key=_by_text)


def _met_one(one: Threshold, capacity: int) -> Json:
    quantity = one.value.quantity
    amount = one.value.of(capacity)
    text = format_binary(amount // NANO) if quantity is None else parse_quantity(quantity).text
    more = {}
    if one.min_reclaim is not None:
        more["thresholdPlusMinReclaim"] = -(-one.amount(capacity, reclaimed=True) // NANO)
    return more | {
        "gracePeriodSeconds": one.grace_period_nanoseconds / 10**9,
        "operator": "LessThan",
        "signal": one.signal.value,
        "thresholdQuantity": -(-amount // NANO),
        "thresholdQuantityString": text,
        "value": _value(one.value),
    }


def answer_ranking(case: Json) -> Json:
    pods = _pods(case["pods"])
    ranking = rank(
        Signal(case["signal"]),
        Layout.of(case["dedicatedImageFs"], case["splitContainerImageFs"]),
        pods,
        stats_by_uid(msgspec.convert(case["summary"], Summary).pods),
    )
    return {"order": [_key(one.pod) for one in ranking.candidates]}


def answer_admit(case: Json) -> Json:
    found = admit(msgspec.convert(case["pod"], Pod), case["nodeConditions"])
    return {"admit": found.admit, "reason": found.reason, "message": found.message}


def answer_pressure_sequence(case: Json) -> Json:
    """The steps one after the other; those that a provider's failure keeps from being."""
    return _answer_by(plan, case)


def _answer_by(rounds: Callable[[RoundFacts], RoundPlan], case: Json) -> Json:
    config = case["config"]
    thresholds, _ = thresholds_of(config)
    settings = PressureSettings(
        thresholds=thresholds,
        transition_period_nanoseconds=round(config["pressureTransitionPeriodSeconds"] * 10**9),
        max_pod_grace_period_seconds=config["maxPodGracePeriodSeconds"],
        local_storage_capacity_isolation=config["localStorageCapacityIsolation"],
    )
    told, state, split = [], PressureState(), config["splitContainerImageFs"]
    for step in case["steps"]:
        if step.get("hasDedicatedImageFsError") and not state.started and _runs(settings):
            told.append(_nothing(state, error=True))
            continue
        if step.get("hasDedicatedContainerFsError") and not state.started:
            split = False
        layout = Layout.of(config["dedicatedImageFs"], split)
        if step["summary"] is None:
            told.append(_nothing(state, error=False))
            state = msgspec.structs.replace(state, started=True)
            continue
        planned = rounds(_facts(step, settings, layout, state))
        told.append(_outcome(planned))
        state = planned.state
    return {"steps": told}


def _runs(settings: PressureSettings) -> bool:
    return bool(settings.thresholds) or settings.local_storage_capacity_isolation


def _facts(
    step: Json, settings: PressureSettings, layout: Layout, state: PressureState
) -> RoundFacts:
    after = step["summaryAfterReclaim"] or step["summary"]
    failed = step.get("summaryAfterReclaimError")
    return RoundFacts(
        settings=settings,
        layout=layout,
        summary=msgspec.convert(step["summary"], Summary),
        pods=_pods(step["pods"]),
        state=state,
        now=START + timedelta(seconds=step["atSeconds"]),
        reclaims=True,
        reclaimed=Reclaimed(None if failed else msgspec.convert(after, Summary)),
    )


def _nothing(state: PressureState, *, error: bool) -> Json:
    return _told_state(state) | {"reclaim": [], "evicted": [], "events": [], "error": error}


_STEPS = {ReclaimStep.UNUSED_CONTAINERS: "container", ReclaimStep.UNUSED_IMAGES: "image"}


def _outcome(planned: RoundPlan) -> Json:
    evicted: list[Json] = [
        {
            "pod": one.pod.key,
            "gracePeriodSeconds": one.grace_period_seconds,
            "message": one.told.message,
            _ANNOTATED: {two.key: two.value for two in one.told.annotations},
            "disrupts": one.disrupts,
        }
        for one in planned.victims
    ]
    events = [["Pod/" + one["pod"], one["message"], one[_ANNOTATED]] for one in evicted]
    if planned.starved is not None:
        why = f"Attempting to reclaim {planned.starved.signal.resource}"
        events.insert(0, ["Node/node-1", why, {}])
    return _told_state(planned.state) | {
        "reclaim": [_STEPS[one] for one in planned.reclaim],
        "evicted": evicted,
        "events": events,
        "error": False,
    }


def _told_state(state: PressureState) -> Json:
    return {
        "nodeConditions": sorted(one.type for one in state.conditions if one.held),
        "thresholdsMet": sorted(
            one.threshold.signal.value for one in state.thresholds if one.acted_upon
        ),
        "thresholdsObserved": sorted(
            (
                [
                    one.threshold.signal.value,
                    _value(one.threshold.value),
                    one.threshold.grace_period_nanoseconds / 10**9,
                    (one.first_observed_at - START).total_seconds(),
                ]
                for one in state.thresholds
            ),
            key=str,
        ),
    }


class OneOf:
    """Equal to each of some outcomes: upstream picks one of them at random."""

    def __init__(self, outcomes: list[Any]) -> None:
        self.outcomes = outcomes

    def __eq__(self, other: object) -> bool:
        return other in self.outcomes

    __hash__ = None  # type: ignore[assignment]  # nobody keeps it in a set


class Tied:
    """Equal to each order that differs from this one within groups of equal pods alone."""

    def __init__(self, order: list[str], groups: list[list[str]]) -> None:
        self._group = {name: tuple(sorted(group)) for group in groups for name in group}
        self._order = [self._group.get(name, name) for name in order]
        self._names = sorted(order)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list) or sorted(other) != self._names:
            return False
        return [self._group.get(name, name) for name in other] == self._order

    __hash__ = None  # type: ignore[assignment]  # as above


def comparable_ranking(expect: Json) -> Json:
    return {"order": Tied(expect["order"], expect.get("tieGroups") or [])}


def comparable_pressure_sequence(expect: Json) -> Json:
    """Each step as all the outcomes that upstream may come to."""
    steps = [OneOf([_comparable(one) for one in _outcomes(step)]) for step in expect["steps"]]
    return {"steps": steps}


def explain_pressure_sequence(case: Json, answer: Json, expect: Json) -> list[str]:
    """The differences that account for all steps that differ; none where something does not."""
    if _is_upstreams(answer, expect):
        return [LEAST_GRACE]
    if answer == answer_pressure_sequence(case):
        for as_set in _moves(case["config"]):
            if _is_upstreams(_answer_by(partial(_by_accident, as_set), case), expect):
                return [CONTAINERFS_ALIASING]
    return []


def _is_upstreams(answer: Json, expect: Json) -> bool:
    """Whether upstream answers so, but for grace periods of less than a second."""
    return all(
        ours == OneOf([_with_least_grace(one) for one in theirs.outcomes])
        for ours, theirs in zip(answer["steps"], expect["steps"], strict=True)
    )


def _with_least_grace(step: Json) -> Json:
    given = [
        one | {"gracePeriodSeconds": max(1, one["gracePeriodSeconds"])} for one in step["evicted"]
    ]
    return step | {"evicted": given}


# The thresholds of containerfs in the order in which UpdateContainerFsThresholds replaces those
# that were set, or else appends them.
_REPLACED = tuple(
    (signal, hard)
    for signal in (Signal.CONTAINERFS_AVAILABLE, Signal.CONTAINERFS_INODES_FREE)
    for hard in (True, False)
)


def _moves(config: Json) -> set[frozenset[tuple[Signal, bool]]]:
    """What counts in the first round as it was set, by where the list of thresholds may have moved.

    What is appended moves the list if it has no room. What is replaced after that is replaced in
    the new list, and the first round goes on by the one before. Whether there is room the length of
    the list decides, and Go's allocator.
    """
    was_set = {(one.signal, one.is_hard) for one in thresholds_of(config)[0]}
    return {
        frozenset(was_set.intersection(_REPLACED[place:]))
        for place, appended in enumerate(_REPLACED)
        if appended not in was_set
    } - {frozenset()}


def _by_accident(as_set: frozenset[tuple[Signal, bool]], facts: RoundFacts) -> RoundPlan:
    """A round, were these thresholds of containerfs not replaced in the first one.

    Those that were acted upon go on for as long as they are met.
    """

    def counting(
        thresholds: Sequence[Threshold], layout: Layout, *, first_round: bool
    ) -> tuple[Threshold, ...]:
        found = with_container_fs(thresholds, layout, first_round=first_round)
        if thresholds is not facts.settings.thresholds:
            # Whether a reclaim has helped is asked of what counts from now on.
            return found
        going_on = [one.threshold for one in facts.state.thresholds if one.acted_upon]
        kept = [one for one in thresholds if (one.signal, one.is_hard) in as_set]
        if first_round:
            found = tuple(one for one in found if (one.signal, one.is_hard) not in as_set)
        return (*found, *(one for one in kept if first_round or one in going_on))

    with patch("bailiff.decisions.pressure.round.with_container_fs", counting):
        return plan(facts)


def has_odd_percentage(case: Json) -> bool:
    """A percentage that Go's number parser takes, and that nobody can have meant."""
    maps = (case["evictionHard"], case["evictionSoft"], case["evictionMinimumReclaim"])
    texts = [text.lower() for one in maps for text in (one or {}).values() if text.endswith("%")]
    return any("n" in text or "_" in text or text.endswith("%%") for text in texts)


def has_huge_count(case: Json) -> bool:
    """A number in the summary beyond an int64."""
    return any(len(digits) > 18 and int(digits) >= 2**63 for digits in _numbers(case["summary"]))


def _numbers(value: object) -> list[str]:
    return re.findall(r"\d+", json.dumps(value))


def has_huge_quantity(case: Json) -> bool:
    """A quantity beyond an int64, which upstream turns into a negative number."""
    maps = (case["evictionHard"], case["evictionSoft"], case["evictionMinimumReclaim"])
    return any(_is_huge(text) for one in maps for text in (one or {}).values())


def _is_huge(text: str) -> bool:
    try:
        return parse_quantity(text).value >= 2**63
    except ValueError:
        return False


def _outcomes(step: Json) -> list[Json]:
    return [step, *step.get("anyOf", ())]


def _comparable(step: Json) -> Json:
    return {
        "nodeConditions": sorted(step["nodeConditions"]),
        "thresholdsMet": sorted(step["thresholdsMet"]),
        "thresholdsObserved": sorted(
            (
                [
                    one["signal"],
                    one["value"],
                    one["gracePeriodSeconds"],
                    one["firstObservedAtSeconds"],
                ]
                for one in step["thresholdsObserved"]
            ),
            key=str,
        ),
        "reclaim": step["reclaim"],
        "evicted": [
            {
                "pod": one["pod"],
                "gracePeriodSeconds": one["gracePeriodSeconds"],
                "message": one["message"],
                _ANNOTATED: one[_ANNOTATED] or {},
                "disrupts": one["condition"] is not None,
            }
            for one in step["evicted"]
        ],
        "events": [
            [one["object"], one["message"], one[_ANNOTATED] or {}] for one in step["events"]
        ],
        "error": step["error"] is not None,
    }


def _pods(told: list[Json]) -> tuple[Pod, ...]:
    return tuple(msgspec.convert(told, list[Pod]))


def _key(pod: ObjectReference) -> str:
    return f"{pod.namespace}/{pod.name}"
