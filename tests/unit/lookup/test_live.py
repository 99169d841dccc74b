"""Answers about the objects of a cluster: what is read for them, and what is said without it."""

import asyncio
import json
from datetime import timedelta

import pytest

from bailiff.decisions import SYSTEMS, Options, Systems
from bailiff.kinds import DeviceTaintRule, Node, Pod, ResourceClaim, ResourceSlice, decode
from bailiff.lookup import (
    FailedError,
    ForbiddenError,
    LookUps,
    MissingError,
    NotServedError,
    TooManyError,
    UnavailableError,
)
from tests.harness.clocks import ManualClock
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating
from tests.harness.lookups import DictSource

CLOCK = ManualClock()
TRAIN = b"""{"metadata": {"name": "train", "namespace": "default", "uid": "u"},
"spec": {"nodeName": "node-1", "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}],
"tolerations": [{"key": "maintenance", "operator": "Exists", "tolerationSeconds": 60}]}}"""
CLAIM = b"""{"metadata": {"name": "gpu", "namespace": "default"}, "status": {
"allocation": {"devices": {"results": [{"driver": "d", "pool": "p", "device": "gpu-0"}]}},
"reservedFor": [{"resource": "pods", "name": "train", "uid": "u"}]}}"""
RULE = """{"metadata": {"name": "recall", "uid": "r"}, "spec": {"deviceSelector": {},
"taint": {"key": "recall", "effect": "NoExecute", "timeAdded": "%s"}}}"""
TAINTED = node_of("node-1", no_execute())


@pytest.fixture
def source():
    return DictSource()


def ask(source, systems=SYSTEMS, timeout=3.0, at_a_time=1):
    return LookUps(source, systems, CLOCK, timeout, at_a_time)


async def pod(source, name="web", **options):
    plan = await ask(source).pod("default", name, Options(**options))
    return plan.answer().decision


async def node(source, name="node-1", **options):
    plan = await ask(source).node(name, Options(**options))
    return plan.answer().decisions


async def one_of_each(source, **options):
    """The answer for the pod `train` asked alone, and asked with all of its node."""
    return [await pod(source, "train", **options), *await node(source, **options)]


def told(decision):
    return [(one.verdict, one.reason) for one in decision.findings]


async def test_one_pod(source):
    source.add(pod_of("web", "node-1", tolerating(seconds=9)), TAINTED)
    decision = await pod(source)
    assert (decision.verdict, decision.evict_at) == ("EVICT_AT", CLOCK.now() + timedelta(seconds=9))
    assert decision.findings[0].trace


@pytest.mark.parametrize(
    ("explain", "traced"), [(None, (True, False)), (True, (True, True)), (False, (False, False))]
)
@pytest.mark.parametrize("usually", [True, False])
async def test_a_trace_is_given_as_asked_for_or_as_the_question_has_it(
    source, explain, traced, usually
):
    source.add(pod_of("web", "node-1"), TAINTED)
    options = Options(explain=usually)
    one = (await ask(source).pod("default", "web", options, explain)).answer().decision
    (many,) = (await ask(source).node("node-1", options, explain)).answer().decisions
    assert tuple(bool(decision.findings[0].trace) for decision in (one, many)) == traced


@pytest.mark.parametrize(("on", "reason"), [("", "PodNotBound"), ("node-9", "NodeGone")])
async def test_a_pod_without_its_node(source, on, reason):
    source.add(pod_of("web", on))
    decision = await pod(source)
    assert (decision.verdict, decision.reason) == ("KEEP", reason)


async def test_a_node_and_its_pods(source):
    source.add(TAINTED, pod_of("b", "node-1"), pod_of("a", "node-1", tolerating()))
    source.add(pod_of("elsewhere", "node-2"))
    found = [(one.pod.name, one.verdict) for one in await node(source)]
    assert found == [("b", "EVICT_NOW"), ("a", "KEEP")]


async def test_no_device_is_read_where_no_pod_has_claims(source):
    source.add(TAINTED, pod_of("web", "node-1"))
    await pod(source)
    assert source.seen == []


@pytest.fixture
def user(source):
    """A pod that tolerates its node's taint for 60 s, and whose device has one in 30 s."""
    soon = (CLOCK.now() + timedelta(seconds=30)).isoformat()
    source.add(TAINTED, decode(TRAIN, Pod), decode(CLAIM, ResourceClaim))
    source.add(decode((RULE % soon).encode(), DeviceTaintRule))
    return source


async def test_all_systems_are_told_and_the_earliest_wins(user):
    for decision in await one_of_each(user):
        assert decision.evict_at == CLOCK.now() + timedelta(seconds=30)
        assert told(decision) == [
            ("EVICT_AT", "ToleratedUntil"),
            ("EVICT_AT", "TaintStartsLater"),
        ]


@pytest.mark.parametrize("unseen", [ResourceClaim, ResourceSlice, DeviceTaintRule])
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ForbiddenError("grant it"), "DevicesNotRead"),
        (NotServedError("none"), "DevicesNotServed"),
    ],
)
async def test_what_may_not_be_seen_is_said_and_the_node_still_decides(user, unseen, error, reason):
    user.errors[unseen] = error
    for decision in await one_of_each(user):
        assert told(decision) == [("KEEP", reason), ("EVICT_AT", "ToleratedUntil")]
        assert decision.verdict == "EVICT_AT"
        assert ("grant it" in decision.findings[0].message) == (reason == "DevicesNotRead")


@pytest.mark.parametrize(
    ("on", "reason"), [(True, "DevicesNotRead"), (False, "DeviceTaintEvictionOff")]
)
async def test_what_is_not_known_is_the_reason_where_nothing_evicts(user, on, reason):
    user.objects[Node] = [node_of("node-1")]
    user.errors[ResourceSlice] = ForbiddenError("no")
    decision = await pod(user, "train", device_taint_eviction=on)
    assert (decision.verdict, decision.reason) == ("KEEP", reason)


async def test_with_the_gate_off_no_device_is_read(user):
    for decision in await one_of_each(user, device_taint_eviction=False):
        assert ("KEEP", "DeviceTaintEvictionOff") in told(decision)
    assert [wanted.kind for wanted in user.seen] == [Pod]


@pytest.mark.parametrize("unseen", [Pod, Node, ResourceClaim])
@pytest.mark.parametrize("error", [UnavailableError("down"), FailedError("nonsense")])
async def test_a_cluster_that_fails_fails_the_answer(user, unseen, error):
    user.errors[unseen] = error
    with pytest.raises(type(error)):
        await pod(user, "train")


@pytest.mark.parametrize("unseen", [Pod, Node])
async def test_what_the_question_is_about_has_to_be_seen(user, unseen):
    user.errors[unseen] = ForbiddenError("no")
    with pytest.raises(ForbiddenError):
        await pod(user, "train")
    with pytest.raises(ForbiddenError):
        await node(user)


async def test_what_is_missing_is_told(source):
    with pytest.raises(MissingError):
        await pod(source)
    with pytest.raises(MissingError):
        await node(source)


async def test_more_than_one_answer_may_hold_is_the_clusters_matter(source, monkeypatch):
    monkeypatch.setattr("bailiff.decisions.registry.MAX_PODS", 1)
    source.add(TAINTED, *(pod_of(name, "node-1") for name in "ab"))
    with pytest.raises(TooManyError, match=r"more than one answer may hold: \$\.pods: at most 1"):
        await node(source)


async def test_a_note_on_a_live_node_that_nothing_dates_is_not_believed(source):
    """The same node in a file, as kubectl prints it, leaves managedFields out: there it is."""
    note = '[{"key":"maintenance","effect":"NoExecute","time":"2020-01-01T00:00:00Z"}]'
    annotations = {"bailiff.dev/taints-first-observed": note}
    taints = [{"key": "maintenance", "effect": "NoExecute"}]
    whole = {"metadata": {"name": "node-1", "annotations": annotations}, "spec": {"taints": taints}}
    source.add(decode(json.dumps(whole).encode(), Node))
    source.add(pod_of("web", "node-1", tolerating(seconds=60)))
    decision = await pod(source)
    assert decision.evict_at == CLOCK.now() + timedelta(seconds=60)
    found, _ = await ask(source).node_and_pods("node-1")
    assert found.metadata.annotations.taints_first_observed == ""


async def test_all_of_some_kinds(user):
    user.objects.pop(Pod)
    found = await ask(user).all_of(ResourceClaim, ResourceSlice)
    assert {kind: len(objects) for kind, objects in found.items()} == {
        ResourceClaim: 1,
        ResourceSlice: 0,
    }


class Hanging(DictSource):
    """A cluster that never answers."""

    async def get(self, kind, name, namespace=""):
        await asyncio.Event().wait()


@pytest.mark.looptime
async def test_reading_is_bounded_in_time_and_number():
    lookups = ask(Hanging(), timeout=3.0, at_a_time=1)
    asked = [lookups.pod("default", f"p{number}", Options()) for number in range(3)]
    failed = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(one) for one in failed] == [UnavailableError] * 3
    assert all("3 s" in str(one) for one in failed)
    assert asyncio.get_running_loop().time() < 4


async def test_no_system_no_finding(source):
    source.add(TAINTED, pod_of("web", "node-1"))
    plan = await ask(source, Systems(())).pod("default", "web", Options())
    assert plan.answer().decision.findings == ()
