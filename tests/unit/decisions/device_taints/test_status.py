"""A DeviceTaintRule's condition, and what a rule would do."""

from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from bailiff.decisions import Options
from bailiff.decisions.device_taints import RuleEffect, rule_status
from bailiff.kinds import Condition, DeviceTaintRuleStatus
from tests.harness.device_kinds import (
    NOW,
    add,
    at,
    claim,
    extended,
    index_of,
    on,
    reserved,
    rule,
    slice_of,
    taint,
    tolerating,
    using,
)


@dataclass
class Effect:
    """An effect that counts how often it was asked for."""

    told: RuleEffect
    asked: int = 0

    def __call__(self):
        self.asked += 1
        return self.told


def pods(*namespaces):
    index = index_of(rule())
    for number, namespace in enumerate(namespaces):
        add(index, claim(namespace=namespace, reserved_for=(reserved("x", f"u-{number}"),)))
        add(index, using("c", name=f"p{number}", uid=f"u-{number}", namespace=namespace))
    return index.pods_doomed_by(rule())


def with_condition(one, written=None, **condition):
    found = Condition(type="EvictionInProgress", last_transition_time=written, **condition)
    return replace(one, status=DeviceTaintRuleStatus(conditions=(Condition(type="X"), found)))


@pytest.mark.parametrize(
    ("effect", "told", "evicted", "condition"),
    [
        (
            "NoExecute",
            RuleEffect(),
            0,
            ("False", "NotStarted", ""),
        ),
        (
            "NoExecute",
            RuleEffect(),
            2,
            ("False", "Completed", "2 pods evicted since starting the controller."),
        ),
        (
            "NoExecute",
            RuleEffect(pods=pods("a")),
            0,
            ("True", "PodsPendingEviction", "1 pod needs to be evicted in 1 namespace."),
        ),
        (
            "NoExecute",
            RuleEffect(pods=pods("a", "b")),
            1,
            (
                "True",
                "PodsPendingEviction",
                (
                    "2 pods need to be evicted in 2 different namespaces. "
                    "1 pod evicted since starting the controller."
                ),
            ),
        ),
        (
            "None",
            RuleEffect(1, 0, pods("a")),
            0,
            (
                "False",
                "NoEffect",
                (
                    "1 published device selected. 0 allocated devices selected. 1 pod would be "
                    "evicted in 1 namespace if the effect was NoExecute. This information will not "
                    "be updated again. Recreate the DeviceTaintRule to trigger an update."
                ),
            ),
        ),
        (
            "NoSchedule",
            RuleEffect(pods=pods("a")),
            0,
            ("False", "OtherEffect", "Eviction only happens for the NoExecute effect."),
        ),
    ],
)
def test_the_condition(effect, told, evicted, condition):
    one = rule(effect=effect, generation=7)
    found = rule_status(one, Effect(told), evicted, NOW)
    assert found.requeue_after_seconds == 0
    assert found.condition is not None
    assert (found.condition.type, found.condition.observed_generation) == ("EvictionInProgress", 7)
    told_now = found.condition.status, found.condition.reason, found.condition.message
    assert told_now == condition
    assert found.condition.last_transition_time == NOW
    # Once written, there is nothing to write, however much later.
    written = replace(one, status=DeviceTaintRuleStatus(conditions=(found.condition,)))
    assert rule_status(written, Effect(told), evicted, at(60)) == (None, 0)


@pytest.mark.parametrize(
    ("written", "generation", "wait"),
    [
        pytest.param(at(-3), 1, 7, id="fresh"),
        pytest.param(at(-10), 1, 0, id="old enough"),
        pytest.param(at(-3), 0, 0, id="of an older spec"),
        pytest.param(at(4), 1, 14, id="from a clock that is ahead"),
        pytest.param(None, 1, 0, id="never"),
    ],
)
def test_at_most_every_ten_seconds(written, generation, wait):
    effect = Effect(RuleEffect())
    one = with_condition(rule(), written, observed_generation=generation)
    found = rule_status(one, effect, 0, NOW)
    assert found.requeue_after_seconds == wait
    assert (found.condition is None) == bool(wait)
    assert effect.asked == (not wait)


BUSY = (
    slice_of(a=(), b=(taint(),)),
    slice_of("other", pool="other", a=()),
    claim("c", on("a"), on("a")),
    claim("d", on("b"), reserved_for=(reserved("q", "q-1"),)),
    claim("e", on("a", tolerating()), reserved_for=(reserved("t", "t-1"),)),
    using("c"),
    using("d", name="q", uid="q-1"),
    using("e", name="t", uid="t-1"),
)


@pytest.mark.parametrize(
    ("selected", "published", "allocated", "doomed"),
    [
        ({}, 3, 4, ["p", "q"]),
        ({"pool": "pool"}, 2, 4, ["p", "q"]),
        ({"device": "a"}, 2, 3, ["p"]),
        ({"device": "b"}, 1, 1, ["q"]),
        ({"pool": "other"}, 1, 0, []),
        ({"selector": False}, 0, 0, []),
    ],
)
def test_what_a_rule_would_do(selected, published, allocated, doomed):
    index = index_of(*BUSY)
    effect = index.effect_of(rule(effect="None", **selected))
    assert (effect.published_devices, effect.allocated_devices) == (published, allocated)
    assert [pod.name for pod in effect.pods] == doomed
    assert effect.namespaces == bool(doomed)
    # And if it did: the same, and nothing was changed by asking.
    assert index.rules == {}
    add(index, rule(**selected))
    assert [pod.name for pod in index.pods_doomed_by(rule())] == doomed


@pytest.mark.parametrize(
    ("pod", "options", "doomed"),
    [
        (using("c", phase="Failed"), Options(), False),
        (using("c", phase="Failed"), Options(evict_ended_pods=True), True),
        (using("c", deletion_timestamp=NOW), Options(evict_ended_pods=True), False),
        (using("c", node=""), Options(), False),
        (using(extended_resource_claim_status=extended("c")), Options(), True),
        (
            using(extended_resource_claim_status=extended("c")),
            Options(extended_resource_claims=False),
            False,
        ),
    ],
)
def test_whom_a_rule_counts(pod, options, doomed):
    index = index_of(rule(), claim(), pod)
    assert bool(index.pods_doomed_by(rule(), options)) is doomed
    found = index.status_of(rule(), 0, NOW, options)
    assert found.condition is not None
    assert found.condition.status == str(doomed)
    if doomed:
        # A pod that somebody else deleted is pending no more.
        index.delete_pod(("default", "p"))
        assert index.pods_doomed_by(rule(), options) == ()
