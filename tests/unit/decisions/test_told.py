"""No answer is longer than what was counted before it was made, whatever its texts are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiff.decisions import OptionOverrides, lengths
from bailiff.decisions.cost import MAX_ANSWER_BYTES
from bailiff.decisions.device_taints import DeviceTaintFacts
from bailiff.decisions.node_taints import NodeTaintFacts, TaintObservation, weighing
from bailiff.decisions.node_taints.change import TaintSelector
from bailiff.kinds import (
    AllocationResult,
    Device,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    DeviceToleration,
    Node,
    NodeMeta,
    NodeSpec,
    ObjectMeta,
    Pod,
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSpec,
    PodStatus,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
    Taint,
    Toleration,
)
from bailiff.kinds.names import MAX_LABEL, MAX_SUBDOMAIN
from tests.harness.asking import planned, take_any_taint
from tests.harness.device_kinds import NOW, at
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating

MAX_KEY = MAX_SUBDOMAIN + 1 + MAX_LABEL
# Characters that JSON escapes, and that UTF-8 writes in one to four bytes.
ALPHABET = 'a\x01\x1f\x7f"\\\u00e9\u2028\u30a2\U0001f600'
FEW = settings(max_examples=50)


def texts(most: int) -> st.SearchStrategy[str]:
    """The longest of each character, one of all of them, and the shortest."""
    longest = [character * most for character in ALPHABET]
    return st.sampled_from([*longest, (ALPHABET * most)[:most], "a", ""])


NAMES, WORDS, KEYS = texts(MAX_SUBDOMAIN), texts(MAX_LABEL), texts(MAX_KEY)
EFFECTS = st.sampled_from(["NoExecute", "NoExecute", "NoExecute", "NoSchedule"])
TIMES = st.none() | st.integers(-900, 900).map(lambda seconds: at(seconds + 0.000_001))
SECONDS = st.none() | st.sampled_from([-(2**63), 0, 5, 86400, 2**63 - 1])
# A few texts in all, so that tolerations match now and then.
SOME: dict[str, st.SearchStrategy[str]] = {"key": KEYS, "value": WORDS}


def tolerations(kind: type[Toleration]) -> st.SearchStrategy[tuple[Any, ...]]:
    one = st.builds(
        kind,
        key=st.just("") | KEYS,
        operator=st.sampled_from(["Exists", "Exists", "Equal"]) | WORDS,
        value=WORDS,
        effect=st.sampled_from(["", "NoExecute", "NoExecute"]),
        toleration_seconds=SECONDS,
    )
    return st.lists(one, max_size=3).map(tuple)


def taints(kind: type[Taint], least: int = 0) -> st.SearchStrategy[tuple[Any, ...]]:
    one = st.builds(kind, effect=EFFECTS, time_added=TIMES, **SOME)
    return st.lists(one, min_size=least, max_size=3).map(tuple)


def metadata(name: st.SearchStrategy[str] = NAMES) -> st.SearchStrategy[ObjectMeta]:
    return st.builds(ObjectMeta, name=name, namespace=WORDS, uid=NAMES, creation_timestamp=TIMES)


@st.composite
def node_questions(draw: st.DrawFn) -> dict[str, Any]:
    """A node and its pods: bound to it, to another one, or to none; some have ended."""
    name = draw(NAMES.filter(bool))
    spec = NodeSpec(taints=draw(taints(Taint)))
    pods = st.builds(
        Pod,
        metadata=metadata(),
        spec=st.builds(
            PodSpec,
            node_name=st.just(name) | st.just("") | NAMES,
            tolerations=tolerations(Toleration),
        ),
        status=st.builds(PodStatus, phase=st.sampled_from(["", "", "Failed"])),
    )
    return {
        "node": Node(metadata=NodeMeta(name=name), spec=spec),
        "pods": draw(st.lists(pods, max_size=4).map(tuple)),
    }


@st.composite
def devices(draw: st.DrawFn, names: tuple[str, ...]) -> DeviceTaintFacts:
    """Claims of these names, with devices that slices and rules taint; some names twice."""
    driver, pool, device = draw(WORDS), draw(NAMES), draw(WORDS)
    result = st.builds(
        DeviceRequestAllocationResult,
        driver=st.just(driver),
        pool=st.just(pool),
        device=st.just(device),
        tolerations=tolerations(DeviceToleration),
    )
    claim = st.builds(
        ResourceClaim,
        metadata=st.builds(
            ObjectMeta, name=st.sampled_from(names), namespace=st.just(""), uid=NAMES
        ),
        status=st.builds(
            ResourceClaimStatus,
            allocation=st.builds(
                AllocationResult,
                devices=st.builds(
                    DeviceAllocationResult, results=st.lists(result, max_size=2).map(tuple)
                ),
            ),
            reserved_for=st.just((ResourceClaimConsumerReference(uid="u"),)),
        ),
    )
    published = st.builds(Device, name=st.just(device), taints=taints(DeviceTaint))
    one_slice = st.builds(
        ResourceSlice,
        metadata=metadata(),
        spec=st.builds(
            ResourceSliceSpec,
            driver=st.just(driver),
            pool=st.just(ResourcePool(name=pool)),
            devices=st.lists(published, max_size=1).map(tuple),
        ),
    )
    return DeviceTaintFacts(
        resource_claims=tuple(draw(st.lists(claim, min_size=1, max_size=3))),
        resource_slices=tuple(draw(st.lists(one_slice, max_size=2))),
        device_taint_rules=tuple(draw(st.lists(RULES, max_size=2))),
    )


RULES = st.builds(
    DeviceTaintRule,
    metadata=metadata(),
    spec=st.builds(
        DeviceTaintRuleSpec,
        device_selector=st.just(DeviceTaintSelector()),
        taint=st.builds(DeviceTaint, effect=EFFECTS, time_added=TIMES, **SOME),
    ),
)


@st.composite
def device_questions(draw: st.DrawFn) -> dict[str, Any]:
    """Pods that name claims: by name, by template, by extended resources, or in vain."""
    names = tuple(draw(st.lists(NAMES, min_size=1, max_size=2)))
    entry = st.builds(
        PodResourceClaim,
        name=st.just("t") | WORDS,
        resource_claim_name=st.none() | st.sampled_from(names) | NAMES,
        resource_claim_template_name=st.none() | NAMES,
    )
    made = st.builds(
        PodResourceClaimStatus,
        name=st.just("t"),
        resource_claim_name=st.none() | st.sampled_from(names),
    )
    extended = st.builds(PodExtendedResourceClaimStatus, resource_claim_name=st.sampled_from(names))
    pod = st.builds(
        Pod,
        metadata=st.builds(ObjectMeta, name=NAMES, namespace=st.just(""), uid=st.just("u")),
        spec=st.builds(
            PodSpec,
            node_name=NAMES,
            resource_claims=st.lists(entry, max_size=3).map(tuple),
        ),
        status=st.builds(
            PodStatus,
            resource_claim_statuses=st.lists(made, max_size=1).map(tuple),
            extended_resource_claim_status=st.none() | extended,
        ),
    )
    pods = tuple(draw(st.lists(pod, min_size=1, max_size=3)))
    return {"pods": pods, "device_taints": draw(devices(names))}


def assert_counted(name: str, facts: dict[str, Any], *, explain: bool, measured: bool) -> None:
    """The bytes of the answer are within those of the plan, counted roughly or measured."""
    options = OptionOverrides(explain=explain)
    with pytest.MonkeyPatch.context() as patch:
        take_any_taint(patch)
        if measured:
            patch.setattr(lengths, "ROUGH_BYTES", -1)
            patch.setattr(weighing, "ROUGH_BYTES", -1)
        plan = planned(name, options=options, **facts)
    assert len(msgspec.json.encode(plan.answer())) <= plan.told


@FEW
@given(node_questions(), st.booleans(), st.booleans())
def test_a_node_s_pods(facts: dict[str, Any], explain: bool, measured: bool) -> None:
    assert_counted("decideBatch", facts, explain=explain, measured=measured)
    for pod in facts["pods"][:1]:
        one = {"pod": pod, "node": facts["node"]}
        assert_counted("decide", one, explain=explain, measured=measured)


@FEW
@given(device_questions(), st.booleans(), st.booleans())
def test_pods_and_their_devices(facts: dict[str, Any], explain: bool, measured: bool) -> None:
    assert_counted("decideBatch", facts, explain=explain, measured=measured)


@FEW
@given(node_questions(), device_questions(), st.booleans(), st.booleans())
def test_both_together(
    by_node: dict[str, Any], by_device: dict[str, Any], explain: bool, measured: bool
) -> None:
    facts = {**by_device, "node": by_node["node"]}
    assert_counted("decideBatch", facts, explain=explain, measured=measured)


@FEW
@given(node_questions(), taints(Taint, 1), st.booleans(), st.booleans())
def test_a_change_of_taints(
    facts: dict[str, Any], added: tuple[Taint, ...], explain: bool, measured: bool
) -> None:
    gone = tuple(TaintSelector(key=taint.key) for taint in facts["node"].spec.taints[:1])
    more = {**facts, "add_taints": added, "remove_taints": gone}
    assert_counted("previewTaintChange", more, explain=explain, measured=measured)


@FEW
@given(device_questions(), RULES, st.booleans(), st.booleans())
def test_a_rule(
    facts: dict[str, Any], rule: DeviceTaintRule, explain: bool, measured: bool
) -> None:
    more = {**facts, "rule": rule}
    assert_counted("previewDeviceTaintRule", more, explain=explain, measured=measured)


def test_what_is_counted_for_an_ordinary_node_is_not_far_from_its_answer() -> None:
    """Else answers would be refused that are short enough."""
    told = NodeTaintFacts(
        first_observed=(TaintObservation(key="maintenance", effect="NoExecute", time=NOW),)
    )
    pods = tuple(pod_of(f"web-{n}", "n", tolerating("maintenance", 300)) for n in range(5000))
    plan = planned("decideBatch", pods=pods, node=node_of("n", no_execute()), node_taints=told)
    answer = len(msgspec.json.encode(plan.answer()))
    assert answer <= plan.told < 3 * answer < MAX_ANSWER_BYTES
