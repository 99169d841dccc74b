"""What an answer costs is counted before any of it is made, and what costs too much is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bailiff.decisions import FactsError, OptionOverrides, Plan
from bailiff.decisions.cost import MAX_ANSWER_BYTES, MAX_PODS, MAX_STEPS, QUICK_BYTES, QUICK_STEPS
from bailiff.decisions.device_taints import DeviceTaintFacts, weighing
from bailiff.decisions.device_taints.facts import MAX_CLAIMS, MAX_RULES, MAX_SLICES
from bailiff.decisions.node_taints.change import TaintSelector
from bailiff.kinds import DeviceToleration, Pod
from tests.harness.asking import ask, planned, steps
from tests.harness.device_kinds import claim, on, rule, slice_of, taint, using
from tests.harness.device_kinds import tolerating as device_tolerating
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating

EXPLAIN = OptionOverrides(explain=True)
BRIEF = OptionOverrides(explain=False)


def refused(question: str, **facts: Any) -> FactsError:
    with pytest.raises(FactsError) as caught:
        planned(question, **facts)
    assert "at most" in caught.value.reason
    return caught.value


def tainted(number: int) -> Any:
    return node_of("n", *(no_execute(f"k{i}") for i in range(number)))


NOTHING, MATCHING = Pod(), pod_of("p", "n", tolerating("k1", 300), tolerating("k2", 300))


@pytest.mark.parametrize("pod", [NOTHING, MATCHING], ids=["no tolerations", "tolerations match"])
@pytest.mark.parametrize("options", [EXPLAIN, BRIEF], ids=["with trace", "without"])
def test_many_pods_on_many_taints(pod: Pod, options: OptionOverrides) -> None:
    many = (pod,) * 1000
    error = refused("decideBatch", pods=many, node=tainted(4000), options=options)
    assert error.path == "$.node.spec.taints"


@pytest.mark.parametrize("pod", [NOTHING, MATCHING], ids=["no tolerations", "tolerations match"])
def test_a_trace_costs_steps_even_where_nothing_matches(pod: Pod) -> None:
    pods = (pod,) * 100
    assert steps("decideBatch", pods=pods, node=tainted(1000), options=BRIEF) <= MAX_STEPS
    error = refused("decideBatch", pods=pods, node=tainted(1000), options=EXPLAIN)
    assert error.path == "$.node.spec.taints"
    assert "comparisons" in error.reason


# To make and write a decision, whatever it says.
A_DECISION = 10


def test_a_taint_of_one_pod_is_counted_though_it_tolerates_nothing() -> None:
    assert steps("decide", pod=NOTHING, node=tainted(7), options=BRIEF) == 7 + A_DECISION
    assert steps("decide", pod=MATCHING, node=tainted(7), options=BRIEF) == 21 + A_DECISION


LONGEST_KEY = 253 + 1 + 63


@pytest.mark.parametrize("character", ["a", "\x01", "\u30a2"])
def test_empty_pods_and_a_taint_with_the_longest_key(character: str) -> None:
    """The answer repeats the key for every pod: 60 MB for a question of 24 KB, were it not counted.

    More pods are refused sooner than their answer is too long.
    """
    node = node_of("n", no_execute(character * LONGEST_KEY))
    answer = len(msgspec.json.encode(ask("decideBatch", pods=(Pod(),) * 1000, node=node)))
    assert answer < MAX_ANSWER_BYTES
    more = 1000 * MAX_ANSWER_BYTES // answer
    if more <= MAX_PODS:
        assert refused("decideBatch", pods=(Pod(),) * more, node=node).path == "$.node.spec.taints"


def test_a_change_costs_what_merging_does_and_both_answers() -> None:
    pods = (Pod(),) * 100
    node, added = tainted(300), tuple(no_execute(f"n{i}") for i in range(300))
    gone = tuple(TaintSelector(key=f"k{i}") for i in range(300))
    once = steps("decideBatch", pods=pods, node=node_of("n", *node.spec.taints, *added))
    merged = steps("previewTaintChange", pods=pods, node=node, add_taints=added, remove_taints=gone)
    assert merged == 2 * once + 600 * 600
    twice = {"add_taints": added * 2, "remove_taints": gone * 2}
    error = refused("previewTaintChange", pods=pods, node=node, **twice)
    assert error.path == "$.node.spec.taints"


@pytest.mark.parametrize(
    "question", ["decideBatch", "previewTaintChange", "previewDeviceTaintRule"]
)
def test_more_pods_than_any_question_may_have(question: str) -> None:
    others: dict[str, dict[str, Any]] = {
        "decideBatch": {"node": node_of("n")},
        "previewTaintChange": {"node": node_of("n"), "add_taints": (no_execute(),)},
        "previewDeviceTaintRule": {"rule": rule()},
    }
    assert refused(question, pods=(Pod(),) * (MAX_PODS + 1), **others[question]).path == "$.pods"


def test_what_is_small_may_be_answered_where_it_arrives() -> None:
    def asked(pods: int) -> bool:
        return planned("decideBatch", pods=(Pod(),) * pods, node=tainted(10)).is_quick

    most = QUICK_STEPS // (10 + A_DECISION)
    assert asked(most)
    assert not asked(most + 1)


def test_a_hundred_pods_of_a_node_are_answered_where_they_arrive() -> None:
    """Their answer is counted far longer than it is; a thread for it would cost a fifth more."""
    assert planned("decideBatch", pods=(MATCHING,) * 100, node=tainted(1)).is_quick


def test_what_is_short_may_be_written_where_its_question_arrives() -> None:
    def answered(told: int) -> bool:
        plan: Plan[Any] = Plan(1, told, lambda: None)
        return plan.is_quick

    assert answered(QUICK_BYTES)
    assert not answered(QUICK_BYTES + 1)


def tolerations(number: int) -> tuple[DeviceToleration, ...]:
    return tuple(device_tolerating(1, key=str(i)) for i in range(number))


def rules(number: int) -> dict[str, Any]:
    return {"device_taint_rules": tuple(rule(str(i)) for i in range(number))}


CLAIMS = "$.deviceTaints.resourceClaims"


@pytest.mark.parametrize(
    ("pods", "devices", "path"),
    [
        pytest.param(
            1,
            {"resource_slices": (slice_of(),) * (MAX_SLICES + 1)},
            "$.deviceTaints.resourceSlices",
            id="slices",
        ),
        pytest.param(1, {"resource_claims": (claim(),) * (MAX_CLAIMS + 1)}, CLAIMS, id="claims"),
        pytest.param(1, rules(MAX_RULES + 1), "$.deviceTaints.deviceTaintRules", id="rules"),
        pytest.param(
            1,
            {"resource_slices": (slice_of(**{f"d{i}": () for i in range(11)}),) * 5000},
            "$.deviceTaints.resourceSlices[*].spec.devices",
            id="devices",
        ),
        pytest.param(
            1,
            {"resource_claims": (claim("c", *(on(),) * 11),) * 10_000},
            f"{CLAIMS}[*].status.allocation.devices.results",
            id="allocated devices",
        ),
        pytest.param(
            1,
            {"resource_claims": (claim("c", *(on("a", *tolerations(100)),) * 100),), **rules(100)},
            CLAIMS,
            id="comparisons",
        ),
        pytest.param(
            1,
            {"resource_claims": (claim("c", *(on(),) * 1000),), **rules(250)},
            CLAIMS,
            id="an answer too long",
        ),
        pytest.param(
            500,
            {"resource_claims": (claim(),), **rules(400)},
            CLAIMS,
            id="many pods on one claim",
        ),
        pytest.param(
            1,
            {"resource_claims": (claim(),) * 300 + (claim("c", *(on(),) * 1000),), **rules(20)},
            CLAIMS,
            id="claims of one name, of which the last is told for each",
        ),
        pytest.param(
            100,
            {"resource_claims": (claim("c", reserved_for=(using("c"),) * 6000),)},
            CLAIMS,
            id="users to look through",
        ),
    ],
)
def test_every_question_about_devices_is_bounded(
    pods: int, devices: dict[str, Any], path: str
) -> None:
    facts = {"pods": (using("c"),) * pods, "device_taints": DeviceTaintFacts(**devices)}
    assert refused("decideBatch", **facts).path == path


def test_a_trace_makes_an_answer_longer() -> None:
    devices = DeviceTaintFacts(resource_claims=(claim("c", *(on(),) * 400),), **rules(100))
    planned("decideBatch", device_taints=devices)
    error = refused("decideBatch", device_taints=devices, options=EXPLAIN)
    assert "without a trace" in error.reason


def test_a_cluster_of_10_000_devices_claims_and_pods_fits() -> None:
    slices = tuple(
        slice_of(f"s{n}", pool=f"p{n}", **{f"d{i}": (taint(),) for i in range(8)})
        for n in range(1250)
    )
    names = [(f"p{n}", f"d{i}") for n in range(1250) for i in range(8)]
    claims = tuple(
        claim(f"{pool}-{device}", on(device, device_tolerating(1), pool=pool))
        for pool, device in names
    )
    pods = tuple(using(one.metadata.name, name=one.metadata.name) for one in claims)
    devices = DeviceTaintFacts(resource_claims=claims, resource_slices=slices)
    assert steps("decideBatch", pods=pods, device_taints=devices) <= MAX_STEPS
    asked = rule(added=None)
    planned("previewDeviceTaintRule", rule=asked, pods=pods, device_taints=devices)


def test_counting_compares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device meets what names it; whether it is tolerated is not asked."""

    def compare(*_: object) -> None:
        raise AssertionError("compared")

    monkeypatch.setattr("bailiff.decisions.tolerations.tolerates", compare)
    monkeypatch.setattr("bailiff.decisions.device_taints.rules.selects", compare)
    devices = DeviceTaintFacts(resource_claims=(claim(),), **rules(3))
    assert steps("decideBatch", pods=(using("c"),), device_taints=devices) > 0
    assert weighing.weigh(devices, (), explain=False).steps == 2 * 3
