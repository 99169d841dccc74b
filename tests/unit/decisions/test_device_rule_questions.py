"""What would one more DeviceTaintRule do?"""

import pytest

from bailiff.decisions import Verdict
from bailiff.decisions.device_taints import DeviceTaintFacts
from tests.harness.asking import ask
from tests.harness.device_kinds import NOW, at, claim, on, rule, slice_of, tolerating, using

AT, EVICT_NOW = Verdict.EVICT_AT, Verdict.EVICT_NOW


def preview(rule, *pods, **devices):
    """What is said of a rule; `devices` are the fields of their section."""
    section = DeviceTaintFacts(**devices)
    return ask("previewDeviceTaintRule", rule=rule, pods=pods, device_taints=section)


@pytest.mark.parametrize(
    ("asked", "reason", "message"),
    [
        (
            rule("new", "None", added=None),
            "NoEffect",
            (
                "2 published devices selected. 1 allocated device selected. 1 pod would be evicted "
                "in 1 namespace if the effect was NoExecute. This information will not be updated "
                "again. Recreate the DeviceTaintRule to trigger an update."
            ),
        ),
        (
            rule("new", "NoExecute"),
            "PodsPendingEviction",
            "1 pod needs to be evicted in 1 namespace.",
        ),
        (
            rule("new", "NoSchedule"),
            "OtherEffect",
            "Eviction only happens for the NoExecute effect.",
        ),
    ],
)
def test_a_rule_is_looked_at_as_if_it_evicted(asked, reason, message):
    seen = preview(
        asked,
        using("c"),
        using("other", name="q", uid="q-1"),
        resource_claims=(claim(),),
        resource_slices=(slice_of(a=(), b=()),),
    )
    assert (seen.published_devices, seen.allocated_devices, seen.namespaces) == (2, 1, 1)
    (decision,) = seen.decisions
    assert (decision.pod.name, decision.verdict, decision.evict_at) == ("p", EVICT_NOW, at(0))
    assert (seen.condition.reason, seen.condition.message) == (reason, message)
    assert seen.condition.last_transition_time == NOW


@pytest.mark.parametrize(
    ("asked", "due"),
    [
        (rule("r", "NoExecute", added=-10), at(50)),
        # The API server gives the taint a new time when its effect changes, and where it has none.
        (rule("r", "None", added=-10), at(60)),
        (rule("r", "NoExecute", added=None), at(60)),
    ],
)
def test_time_runs_from_when_the_rule_would_begin_to_evict(asked, due):
    claims = (claim("c", on("a", tolerating(60))),)
    (decision,) = preview(asked, using("c"), resource_claims=claims).decisions
    assert (decision.verdict, decision.evict_at) == (AT, due)


def test_other_rules_count_for_the_time_of_a_pod_but_not_whether_it_is_among_them():
    seen = preview(
        rule("asked", "None", device="a"),
        using("c"),
        using("d", name="q", uid="p-1"),
        resource_claims=(claim("c", on("a", tolerating(60, key="rule"))), claim("d", on("b"))),
        device_taint_rules=(rule("asked", "NoExecute"), rule("sooner", added=-100)),
    )
    (decision,) = seen.decisions
    assert (decision.pod.name, decision.evict_at) == ("p", at(-40))


def test_a_rule_that_selects_nothing():
    seen = preview(rule(selector=False), using("c"), resource_claims=(claim(),))
    assert (seen.published_devices, seen.allocated_devices, seen.decisions) == (0, 0, ())
    assert seen.condition.reason == "NotStarted"
