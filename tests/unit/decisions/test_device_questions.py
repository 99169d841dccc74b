"""Questions that bring devices: beside a node's taints, alone, and about one rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions import (
    DeviceFacts,
    DeviceTaintIndex,
    DeviceTaintRuleFacts,
    Facts,
    FactsError,
    NodeFacts,
    ObjectReference,
    OptionOverrides,
    Options,
    Verdict,
    bounds,
    decide,
    decide_devices,
    decide_node,
    decide_without_node,
    preview_rule,
)
from bailiff.decisions.device_objects import devices_not_read
from bailiff.kinds import Node, NodeSpec, ObjectMeta, Pod, PodSpec, Taint, Toleration
from tests.unit.decisions.device_taints.builders import (
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

KEEP, AT, EVICT_NOW = Verdict.KEEP, Verdict.EVICT_AT, Verdict.EVICT_NOW
BOTH = ("node-taints", "device-taints")


def node(*taints):
    return Node(metadata=ObjectMeta(name="node"), spec=NodeSpec(taints=taints))


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
    tainted = node(node_taint(0)[0])
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
        node=Node(metadata=ObjectMeta(name=name)),
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
    decision = decide(Facts(pod=pod, node=node(*taints)), NOW, unknown=unknown)
    assert (decision.verdict, decision.reason, len(decision.findings)) == expected
    (same,) = decide_node(NodeFacts(node=node(*taints), pods=(pod,)), NOW, Options(), unknown)
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
    facts = DeviceTaintRuleFacts(
        rule=asked,
        pods=(using("c"), using("other", name="q", uid="q-1")),
        resource_claims=(claim(),),
        resource_slices=(slice_of(a=(), b=()),),
    )
    seen = preview_rule(facts, NOW)
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
    facts = DeviceTaintRuleFacts(
        rule=asked,
        pods=(using("c"),),
        resource_claims=(claim("c", on("a", tolerating(60))),),
    )
    (decision,) = preview_rule(facts, NOW).decisions
    assert (decision.verdict, decision.evict_at) == (AT, due)


def test_other_rules_count_for_the_time_of_a_pod_but_not_whether_it_is_among_them():
    facts = DeviceTaintRuleFacts(
        rule=rule("asked", "None", device="a"),
        pods=(using("c"), using("d", name="q", uid="p-1")),
        resource_claims=(claim("c", on("a", tolerating(60, key="rule"))), claim("d", on("b"))),
        device_taint_rules=(rule("asked", "NoExecute"), rule("sooner", added=-100)),
    )
    seen = preview_rule(facts, NOW)
    (decision,) = seen.decisions
    assert (decision.pod.name, decision.evict_at) == ("p", at(-40))


def test_a_rule_that_selects_nothing():
    facts = DeviceTaintRuleFacts(
        rule=rule(selector=False), pods=(using("c"),), resource_claims=(claim(),)
    )
    seen = preview_rule(facts, NOW)
    assert (seen.published_devices, seen.allocated_devices, seen.decisions) == (0, 0, ())
    assert seen.condition.reason == "NotStarted"


def test_a_question_about_devices_that_asks_nothing():
    with pytest.raises(FactsError) as caught:
        decide_devices(DeviceFacts(resource_slices=(slice_of(),)), NOW)
    assert caught.value.path == "$.pods"


def tolerations(number):
    return tuple(tolerating(1, key=str(i)) for i in range(number))


@pytest.mark.parametrize(
    ("facts", "path"),
    [
        pytest.param(
            {"resource_slices": (slice_of(),) * (bounds.MAX_SLICES + 1)},
            "$.resourceSlices",
            id="slices",
        ),
        pytest.param(
            {"resource_claims": (claim(),) * (bounds.MAX_CLAIMS + 1)},
            "$.resourceClaims",
            id="claims",
        ),
        pytest.param(
            {"device_taint_rules": (rule(),) * (bounds.MAX_RULES + 1)},
            "$.deviceTaintRules",
            id="rules",
        ),
        pytest.param({"pods": (using(),) * (bounds.MAX_DEVICE_PODS + 1)}, "$.pods", id="pods"),
        pytest.param(
            {"resource_slices": (slice_of(**{f"d{i}": () for i in range(11)}),) * 5000},
            "$.resourceSlices[*].spec.devices",
            id="devices",
        ),
        pytest.param(
            {"resource_claims": (claim("c", *(on(),) * 11),) * 10_000},
            "$.resourceClaims[*].status.allocation.devices.results",
            id="allocated devices",
        ),
        pytest.param(
            {
                "resource_claims": (claim("c", *(on("a", *tolerations(100)),) * 100),),
                "device_taint_rules": tuple(rule(str(i)) for i in range(100)),
            },
            "$.resourceClaims",
            id="comparisons",
        ),
        pytest.param(
            {
                "resource_claims": (claim("c", *(on(),) * 1000),),
                "device_taint_rules": tuple(rule(str(i)) for i in range(101)),
            },
            "$.resourceClaims",
            id="an answer too long",
        ),
        pytest.param(
            {
                "pods": (using("c"),) * 1001,
                "resource_claims": (claim(),),
                "device_taint_rules": tuple(rule(str(i)) for i in range(100)),
            },
            "$.resourceClaims",
            id="answers too long together",
        ),
        pytest.param(
            {
                "pods": (using("c"),) * 100,
                "resource_claims": (claim("c", reserved_for=(using("c"),) * 6000),),
            },
            "$.resourceClaims",
            id="users to look through",
        ),
    ],
)
def test_every_question_is_bounded(facts, path):
    with pytest.raises(FactsError) as caught:
        DeviceFacts(**{"pods": (using(),), **facts}).check()
    assert caught.value.path == path
    assert "at most" in caught.value.reason


def test_a_trace_makes_an_answer_longer():
    facts = DeviceFacts(
        resource_claims=(claim("c", *(on(),) * 200),),
        device_taint_rules=tuple(rule(str(i)) for i in range(100)),
    )
    facts.check()
    with pytest.raises(FactsError, match="with a trace"):
        replace(facts, options=OptionOverrides(explain=True)).check()


def test_a_cluster_of_20_000_devices_and_claims_fits():
    slices = tuple(
        slice_of(f"s{n}", pool=f"p{n}", **{f"d{i}": (taint(),) for i in range(8)})
        for n in range(2500)
    )
    names = [(f"p{n}", f"d{i}") for n in range(2500) for i in range(8)]
    claims = tuple(
        claim(f"{pool}-{device}", on(device, tolerating(1), pool=pool)) for pool, device in names
    )
    pods = tuple(using(one.metadata.name, name=one.metadata.name) for one in claims)
    DeviceFacts(pods=pods, resource_claims=claims, resource_slices=slices).check()
    asked = rule(added=None)
    DeviceTaintRuleFacts(
        rule=asked, pods=pods, resource_claims=claims, resource_slices=slices
    ).check()


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
        pod=elsewhere, node=node(), resource_claims=(claim(),), device_taint_rules=(rule(),)
    )
    decision = decide(facts, NOW)
    assert [finding.reason for finding in decision.findings] == [
        "PodOnOtherNode",
        "TaintNotTolerated",
    ]
    assert decision.verdict is EVICT_NOW
