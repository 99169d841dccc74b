"""Questions that bring devices: beside a node's taints, alone, and about one rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions import (
    SYSTEMS,
    FactsError,
    NotRead,
    ObjectReference,
    OptionOverrides,
    Options,
    Scene,
    Verdict,
    Why,
)
from bailiff.decisions.device_taints import (
    DEVICE_TAINTS,
    DeviceTaintFacts,
    DeviceTaintIndex,
    DeviceTaintSubject,
)
from bailiff.decisions.node_taints import NODE_TAINTS, NodeTaintFacts
from bailiff.decisions.registry import Part
from bailiff.kinds import ObjectMeta, Pod, PodSpec, Taint, Toleration
from tests.harness.asking import decide, decide_batch
from tests.harness.device_kinds import (
    NOW,
    at,
    claim,
    index_of,
    on,
    rule,
    slice_of,
    taint,
    tolerating,
    using,
)
from tests.harness.kinds import node_of

KEEP, AT, EVICT_NOW = Verdict.KEEP, Verdict.EVICT_AT, Verdict.EVICT_NOW
BOTH = ("node-taints", "device-taints")


def node_taint(seconds):
    return Taint(key="n", effect="NoExecute", time_added=at(0)), Toleration(
        operator="Exists", toleration_seconds=seconds
    )


def tolerant(seconds, *claims):
    pod = using(*claims)
    return replace(pod, spec=replace(pod.spec, tolerations=(node_taint(seconds)[1],)))


@pytest.mark.parametrize(
    ("node_seconds", "device_seconds", "verdict", "by", "evict_at"),
    [
        (60, 30, AT, "device-taints", at(30)),
        (30, 60, AT, "node-taints", at(30)),
        (60, 0, EVICT_NOW, "device-taints", at(0)),
        (None, 60, AT, "device-taints", at(60)),
        (60, None, AT, "node-taints", at(60)),
        (None, None, KEEP, "", None),
    ],
)
def test_the_earliest_of_node_and_devices_counts_and_both_are_told(
    node_seconds, device_seconds, verdict, by, evict_at
):
    pod = tolerant(node_seconds, "c")
    tainted = node_of("node", node_taint(0)[0])
    devices = DeviceTaintFacts(
        resource_claims=(claim("c", on("a", tolerating(device_seconds))),),
        resource_slices=(slice_of(a=(taint(),)),),
    )
    decision = decide(pod=pod, node=tainted, device_taints=devices)
    assert (decision.verdict, decision.decided_by, decision.evict_at) == (verdict, by, evict_at)
    assert tuple(finding.system for finding in decision.findings) == BOTH
    explained = OptionOverrides(explain=True)
    (same,) = decide_batch(
        node=tainted, pods=(pod,), device_taints=devices, options=explained
    ).decisions
    assert same == decision


def under_a_rule(*claims):
    return DeviceTaintFacts(resource_claims=claims or (claim(),), device_taint_rules=(rule(),))


def test_devices_decide_without_a_node():
    decision = decide(pod=using("c"), device_taints=under_a_rule())
    assert (decision.verdict, decision.node) == (EVICT_NOW, "node")
    assert [finding.system for finding in decision.findings] == ["device-taints"]
    assert decision.eviction is not None
    assert decision.eviction.condition is not None
    assert decision.eviction.condition.reason == "DeletionByDeviceTaintManager"
    assert decision.event is not None
    assert decision.event.reason == "DeviceTaintManagerEviction"


def test_without_node_and_devices_there_is_nothing_to_decide_from():
    with pytest.raises(FactsError) as caught:
        decide(pod=using("c"))
    assert caught.value.path == "$"
    assert caught.value.reason.startswith("nothing to decide from: node or deviceTaints ")


@pytest.mark.parametrize("name", ["node", ""])
def test_what_if_it_ran_there_asks_the_devices_too(name):
    pod = using("c", node="")
    there = decide(pod=pod, node=node_of(name), device_taints=under_a_rule())
    assert there.verdict is EVICT_NOW
    assert decide(pod=pod, device_taints=under_a_rule()).reason == "PodNotBound"


def look_up(pod, *answers, options=None):
    """What the system's look-up comes to where its cluster answers so."""
    looking = DEVICE_TAINTS.look_up(Scene((pod,), NOW), options or Options())
    try:
        next(looking)
        for answer in answers:
            looking.send(answer)
    except StopIteration as ended:
        return ended.value
    raise AssertionError("it wants to see more")


FORBIDDEN = NotRead(Why.FORBIDDEN, "forbidden")
NOT_SERVED = NotRead(Why.NOT_SERVED, "")


@pytest.mark.parametrize(
    ("pod", "taints", "why", "expected"),
    [
        (using("c"), (), FORBIDDEN, (KEEP, "DevicesNotRead", 2)),
        (using("c"), (), NOT_SERVED, (KEEP, "DevicesNotServed", 2)),
        (using(), (), FORBIDDEN, (KEEP, "NoTaint", 1)),
        (using("c"), (node_taint(0)[0],), FORBIDDEN, (EVICT_NOW, "TaintNotTolerated", 2)),
    ],
)
def test_devices_that_are_not_known_do_not_seem_harmless(pod, taints, why, expected):
    scene = Scene((pod,), NOW, node_of("node", *taints))
    parts: list[Part] = [(NODE_TAINTS, NodeTaintFacts()), (DEVICE_TAINTS, look_up(pod, why))]
    decision = SYSTEMS.weigh_seen_pod(scene, parts, Options()).answer().decision
    assert (decision.verdict, decision.reason, len(decision.findings)) == expected
    (same,) = SYSTEMS.weigh_seen_pods(scene, parts, Options()).answer().decisions
    assert same == decision


def test_where_the_gate_is_off_nothing_is_looked_up_and_no_device_evicts():
    off = Options(device_taint_eviction=False)
    scene = Scene((using("c"),), NOW, node_of("node"))
    parts = [(DEVICE_TAINTS, look_up(using("c"), options=off))]
    decision = SYSTEMS.weigh_seen_pod(scene, parts, off).answer().decision
    assert (decision.verdict, decision.reason) == (KEEP, "DeviceTaintEvictionOff")
    asked = OptionOverrides(device_taint_eviction=False)
    told = decide_batch(
        pods=(using("c"), using()), device_taints=under_a_rule(), options=asked
    ).decisions
    assert [one.reason for one in told] == ["DeviceTaintEvictionOff", "NoDeviceClaims"]


def test_pods_and_claims_are_answered_in_their_order():
    later = claim("later", on("a", tolerating(60)))
    devices = DeviceTaintFacts(
        resource_claims=(later, claim("now"), claim("kept", on("b"))),
        resource_slices=(slice_of(a=(taint(), taint("z"))),),
    )
    answer = decide_batch(pods=(using("later", name="b"), using(name="a")), device_taints=devices)
    claims = answer.reports.device_taints.claims
    assert [(d.pod.name, d.verdict) for d in answer.decisions] == [("b", AT), ("a", KEEP)]
    assert [(c.claim.name, c.verdict, c.evict_at, c.holds_until) for c in claims] == [
        ("later", AT, at(60), at(60)),
        ("now", EVICT_NOW, at(0), None),
        ("kept", KEEP, None, None),
    ]
    assert claims[1].reasons == (
        "ResourceSlice /s:s-1 gpu.example.com/pool/a taint #0",
        "ResourceSlice /s:s-1 gpu.example.com/pool/a taint #1",
    )
    assert claims[2].reasons == ()
    assert not any(c.trace for c in claims)


def test_a_trace_names_slice_device_rule_and_toleration():
    devices = DeviceTaintFacts(
        resource_claims=(claim("c", on("a", tolerating(60))),),
        resource_slices=(slice_of(a=(taint(),)),),
        device_taint_rules=(rule("r"),),
    )
    answer = decide_batch(device_taints=devices, options=OptionOverrides(explain=True))
    (found,) = answer.reports.device_taints.claims
    by_slice, by_rule = (step.subject for step in found.trace)
    assert isinstance(by_slice, DeviceTaintSubject)
    assert isinstance(by_rule, DeviceTaintSubject)
    assert by_slice.device.resource_slice == ObjectReference(name="s", uid="s-1")
    assert by_slice.device.device == by_rule.device.device == "a"
    assert by_rule.device.device_taint_rule == ObjectReference(name="r", uid="r-1")
    assert by_slice.toleration == tolerating(60)


def test_of_objects_of_one_name_the_last_counts():
    devices = DeviceTaintFacts(
        resource_claims=(claim(), claim()),
        resource_slices=(slice_of(a=(taint(),)), slice_of(a=())),
        device_taint_rules=(rule("r"), rule("r", "None")),
    )
    answer = decide_batch(pods=(using("c"),), device_taints=devices)
    assert [d.verdict for d in answer.decisions] == [KEEP]
    assert [c.verdict for c in answer.reports.device_taints.claims] == [KEEP, KEEP]


DEVICES = st.sampled_from(["a", "b"])
SLICES = st.lists(
    st.builds(
        lambda name, generation, device, added: slice_of(
            name, generation, **{device: (taint(added=added),)}
        ),
        st.sampled_from(["s", "t", "u"]),
        st.integers(0, 2),
        DEVICES,
        st.integers(-2, 2),
    ),
    max_size=6,
)
CLAIMS = st.lists(
    st.builds(
        lambda name, device, seconds: claim(name, on(device, tolerating(seconds))),
        st.sampled_from(["c", "d"]),
        DEVICES,
        st.none() | st.integers(0, 2),
    ),
    min_size=1,
    max_size=4,
)
RULES = st.lists(st.builds(rule, st.sampled_from(["q", "r"]), added=st.integers(-2, 2)), max_size=2)


@given(SLICES, CLAIMS, RULES)
def test_a_question_gets_the_answer_of_an_index_that_saw_all_of_it(slices, claims, rules):
    pod = using("c", "d")
    devices = DeviceTaintFacts(
        resource_claims=tuple(claims),
        resource_slices=tuple(slices),
        device_taint_rules=tuple(rules),
    )
    index: DeviceTaintIndex = index_of(*slices, *rules, *claims)
    (decision,) = decide_batch(pods=(pod,), device_taints=devices).decisions
    assert decision.findings == (index.decide(pod, NOW, Options(explain=False)),)


def test_a_pod_on_another_node_is_still_evicted_by_its_devices():
    elsewhere = Pod(
        metadata=ObjectMeta(name="p", namespace="default", uid="p-1"),
        spec=PodSpec(node_name="other", resource_claims=using("c").spec.resource_claims),
    )
    decision = decide(pod=elsewhere, node=node_of("node"), device_taints=under_a_rule())
    assert [finding.reason for finding in decision.findings] == [
        "PodOnOtherNode",
        "TaintNotTolerated",
    ]
    assert decision.verdict is EVICT_NOW
