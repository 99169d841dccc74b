"""Questions that bring devices: beside a node's taints, alone, and about one rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions import (
    DeviceFacts,
    DeviceTaintIndex,
    Facts,
    FactsError,
    NodeFacts,
    ObjectReference,
    OptionOverrides,
    Options,
    Verdict,
    decide,
    decide_devices,
    decide_node,
    decide_without_node,
)
from bailiff.decisions.device_objects import devices_not_read
from bailiff.kinds import ObjectMeta, Pod, PodSpec, Taint, Toleration
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
    facts = Facts(
        pod=pod,
        node=tainted,
        resource_claims=(claim("c", on("a", tolerating(device_seconds))),),
        resource_slices=(slice_of(a=(taint(),)),),
    )
    decision = decide(facts, NOW)
    assert (decision.verdict, decision.decided_by, decision.evict_at) == (verdict, by, evict_at)
    assert tuple(finding.system for finding in decision.findings) == BOTH
    (same,) = decide_node(
        NodeFacts(
            node=tainted,
            pods=(pod,),
            resource_claims=facts.resource_claims,
            resource_slices=facts.resource_slices,
            options=OptionOverrides(explain=True),
        ),
        NOW,
    )
    assert same == decision


def test_devices_decide_without_a_node():
    facts = Facts(pod=using("c"), resource_claims=(claim(),), device_taint_rules=(rule(),))
    decision = decide(facts, NOW)
    assert (decision.verdict, decision.node) == (EVICT_NOW, "node")
    assert [finding.system for finding in decision.findings] == ["device-taints"]
    assert decision.condition is not None
    assert decision.condition.reason == "DeletionByDeviceTaintManager"
    assert decision.event is not None
    assert decision.event.reason == "DeviceTaintManagerEviction"


def test_without_node_and_devices_there_is_nothing_to_decide_from():
    with pytest.raises(FactsError) as caught:
        decide(Facts(pod=using("c")), NOW)
    assert caught.value.path == "$.node"


@pytest.mark.parametrize("name", ["node", ""])
def test_what_if_it_ran_there_asks_the_devices_too(name):
    facts = Facts(
        pod=using("c", node=""),
        node=node_of(name),
        resource_claims=(claim(),),
        device_taint_rules=(rule(),),
    )
    assert decide(facts, NOW).verdict is EVICT_NOW
    alone = replace(facts, node=None)
    assert decide(alone, NOW).reason == "PodNotBound"


def test_a_pod_whose_node_is_gone_may_be_evicted_by_its_devices():
    facts = Facts(pod=using("c"), resource_claims=(claim(),), device_taint_rules=(rule(),))
    decision = decide_without_node(facts, NOW)
    assert decision.verdict is EVICT_NOW
    assert [finding.reason for finding in decision.findings] == ["NodeGone", "TaintNotTolerated"]


@pytest.mark.parametrize(
    ("pod", "taints", "expected"),
    [
        (using("c"), (), (KEEP, "DevicesNotRead", 2)),
        (using(), (), (KEEP, "NoTaint", 1)),
        (using("c"), (node_taint(0)[0],), (EVICT_NOW, "TaintNotTolerated", 2)),
    ],
)
def test_devices_that_are_not_known_do_not_seem_harmless(pod, taints, expected):
    unknown = devices_not_read("forbidden")
    decision = decide(Facts(pod=pod, node=node_of("node", *taints)), NOW, unknown=unknown)
    assert (decision.verdict, decision.reason, len(decision.findings)) == expected
    (same,) = decide_node(
        NodeFacts(node=node_of("node", *taints), pods=(pod,)), NOW, Options(), unknown
    )
    assert same == decision


def test_pods_and_claims_are_answered_in_their_order():
    later = claim("later", on("a", tolerating(60)))
    facts = DeviceFacts(
        pods=(using("later", name="b"), using(name="a")),
        resource_claims=(later, claim("now"), claim("kept", on("b"))),
        resource_slices=(slice_of(a=(taint(), taint("z"))),),
    )
    answer = decide_devices(facts, NOW)
    assert [(d.pod.name, d.verdict) for d in answer.decisions] == [("b", AT), ("a", KEEP)]
    assert [(c.claim.name, c.verdict, c.evict_at, c.holds_until) for c in answer.claims] == [
        ("later", AT, at(60), at(60)),
        ("now", EVICT_NOW, at(0), None),
        ("kept", KEEP, None, None),
    ]
    assert answer.claims[1].reasons == (
        "ResourceSlice /s:s-1 gpu.example.com/pool/a taint #0",
        "ResourceSlice /s:s-1 gpu.example.com/pool/a taint #1",
    )
    assert answer.claims[2].reasons == ()
    assert not any(c.trace for c in answer.claims)


def test_a_trace_names_slice_device_rule_and_toleration():
    facts = DeviceFacts(
        resource_claims=(claim("c", on("a", tolerating(60))),),
        resource_slices=(slice_of(a=(taint(),)),),
        device_taint_rules=(rule("r"),),
        options=OptionOverrides(explain=True),
    )
    (answer,) = decide_devices(facts, NOW).claims
    by_slice, by_rule = answer.trace
    slice_source, rule_source = by_slice.device, by_rule.device
    assert slice_source is not None
    assert rule_source is not None
    assert slice_source.resource_slice == ObjectReference(name="s", uid="s-1")
    assert slice_source.device == rule_source.device == "a"
    assert rule_source.device_taint_rule == ObjectReference(name="r", uid="r-1")
    assert by_slice.toleration == tolerating(60)


def test_of_objects_of_one_name_the_last_counts():
    facts = DeviceFacts(
        pods=(using("c"),),
        resource_claims=(claim(), claim()),
        resource_slices=(slice_of(a=(taint(),)), slice_of(a=())),
        device_taint_rules=(rule("r"), rule("r", "None")),
    )
    answer = decide_devices(facts, NOW)
    assert [d.verdict for d in answer.decisions] == [KEEP]
    assert [c.verdict for c in answer.claims] == [KEEP, KEEP]


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
    facts = DeviceFacts(
        pods=(pod,),
        resource_claims=tuple(claims),
        resource_slices=tuple(slices),
        device_taint_rules=tuple(rules),
    )
    index: DeviceTaintIndex = index_of(*slices, *rules, *claims)
    (decision,) = decide_devices(facts, NOW).decisions
    assert decision.findings == (index.decide(pod, NOW, Options(explain=False)),)


def test_a_pod_on_another_node_is_still_evicted_by_its_devices():
    elsewhere = Pod(
        metadata=ObjectMeta(name="p", namespace="default", uid="p-1"),
        spec=PodSpec(node_name="other", resource_claims=using("c").spec.resource_claims),
    )
    facts = Facts(
        pod=elsewhere,
        node=node_of("node"),
        resource_claims=(claim(),),
        device_taint_rules=(rule(),),
    )
    decision = decide(facts, NOW)
    assert [finding.reason for finding in decision.findings] == [
        "PodOnOtherNode",
        "TaintNotTolerated",
    ]
    assert decision.verdict is EVICT_NOW
