"""What holds an eviction back, which rule says so first, and what is not known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions.policies import (
    NO_BLAST,
    NO_POLICIES,
    Blast,
    BlastRadius,
    Breaker,
    BreakerLevel,
    Breakers,
    BreakerState,
    Cause,
    Circumstances,
    Exclusion,
    LabelSelector,
    Pause,
    PauseNotice,
    Policies,
    Publisher,
    Window,
    hold,
)
from bailiff.kinds import LABELS_NOT_KEPT, Annotations, Node, Pod
from tests.harness.kinds import node_of, pod_of

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
CAUSE = "a:NoExecute"
CALM = BreakerState()
STOPPED = BreakerState(level=BreakerLevel.STOPPED, message="zone eu: 6 of 10 nodes")
SLOW = BreakerState(level=BreakerLevel.SLOW, message="zone eu: 4 of 10 nodes")


def protected(do_not_evict: str | None = None) -> Pod:
    annotations = Annotations(do_not_evict=do_not_evict)
    return pod_of("web", "n1", namespace="shop", labels={"app": "web"}, annotations=annotations)


def acknowledging(taints: str = "") -> Node:
    return node_of("n1", annotations=Annotations(acknowledged_taints=taints))


# Everything is known, and nothing is in the way.
QUIET = Circumstances(
    pod=protected(),
    node=acknowledging(),
    zone="eu",
    namespace_labels={"team": "shop"},
    pause=None,
    zone_breaker=CALM,
    cluster_breaker=CALM,
    blast=Blast(cause=CAUSE, pods=1, namespace_evicted=1, namespace_pods=100),
)
NOTHING_KNOWN = Circumstances(pod=protected())
WEB = LabelSelector(match_labels={"app": "web"})
SHOP = LabelSelector(match_labels={"team": "shop"})
OTHERS = LabelSelector(match_labels={"team": "others"})

PAUSE = Policies(pause=Pause(namespace="kube-system"))
PROTECTION = Policies(protection=True)
RADIUS = Policies(blast_radius=BlastRadius(max_pods=10))
EVENING = Policies(windows=(Window(start="18:00", end="20:00"),))
OWN = Policies(own_slices_only=True)
STRANGER = Publisher(driver="gpu", node="n2", resource_slice="s")
ZONE = Policies(breakers=Breakers(zone=Breaker()))
CLUSTER = Policies(breakers=Breakers(cluster=Breaker()))
WIDE = Blast(cause=CAUSE, pods=11, namespace_evicted=1, namespace_pods=100)


def excluding(**how: Any) -> Policies:
    return Policies(exclude=Exclusion(**how))


@pytest.mark.parametrize(
    ("policies", "changes", "cause", "message", "until"),
    [
        pytest.param(
            PAUSE, {"pause": PauseNotice(by="anna", reason="x", until=NOW + HOUR)},
            Cause.PAUSED, "paused by anna until 2026-01-31T13:00:00Z: x", NOW + HOUR, id="paused",
        ),
        pytest.param(
            excluding(namespaces=("shop",)), {},
            Cause.EXCLUDED, "namespace shop is excluded", None, id="namespace by name",
        ),
        pytest.param(
            excluding(pod_selector=WEB), {},
            Cause.EXCLUDED, "the pod's labels are excluded", None, id="pod by labels",
        ),
        pytest.param(
            excluding(namespace_selector=SHOP), {},
            Cause.EXCLUDED, "the labels of namespace shop are excluded", None,
            id="namespace by labels",
        ),
        pytest.param(
            OWN, {"publisher": STRANGER},
            Cause.FOREIGN_SLICE,
            "ResourceSlice s is of node n2 and taints a device that a pod of node n1 uses", None,
            id="a slice of another node",
        ),
        pytest.param(
            PROTECTION, {"pod": protected("true")},
            Cause.PROTECTED, "annotation bailiff.dev/do-not-evict is true", None, id="protected",
        ),
        pytest.param(
            PROTECTION, {"pod": protected("2026-01-31T14:00:00+01:00")},
            Cause.PROTECTED,
            "annotation bailiff.dev/do-not-evict holds until 2026-01-31T13:00:00Z", NOW + HOUR,
            id="protected for a while",
        ),
        pytest.param(
            PROTECTION, {"pod": protected("yes")},
            Cause.PROTECTED,
            "annotation bailiff.dev/do-not-evict is 'yes': expected true, false, or an instant as "
            "2026-01-31T12:00:00Z", None, id="protected by something else",
        ),
        pytest.param(
            PROTECTION, {"pod": protected("2026-01-31T13:00:00")},
            Cause.PROTECTED,
            "annotation bailiff.dev/do-not-evict is '2026-01-31T13:00:00': expected true, false, "
            "or an instant as 2026-01-31T12:00:00Z", None, id="an instant without offset",
        ),
        pytest.param(
            PROTECTION, {"pod": protected("")},
            Cause.PROTECTED,
            "annotation bailiff.dev/do-not-evict is '': expected true, false, or an instant as "
            "2026-01-31T12:00:00Z", None, id="protected by presence",
        ),
        pytest.param(
            RADIUS, {"blast": WIDE},
            Cause.BLAST_RADIUS,
            "a:NoExecute evicts 11 pods, more than 10, and node n1 does not acknowledge it "
            "(bailiff.dev/acknowledged-taints)", None, id="blast radius",
        ),
        pytest.param(
            EVENING, {},
            Cause.OUTSIDE_WINDOW, "outside the windows, the next opens at 2026-01-31T18:00:00Z",
            NOW + 6 * HOUR, id="window",
        ),
        pytest.param(
            ZONE, {"zone_breaker": STOPPED},
            Cause.BREAKER_OPEN, "zone eu: 6 of 10 nodes", None, id="breaker of the zone",
        ),
        pytest.param(
            CLUSTER, {"cluster_breaker": STOPPED},
            Cause.BREAKER_OPEN, "zone eu: 6 of 10 nodes", None, id="breaker of the cluster",
        ),
    ],
)  # fmt: skip
def test_held(
    policies: Policies, changes: dict, cause: Cause, message: str, until: datetime | None
) -> None:
    found = hold(replace(QUIET, **changes), policies, NOW)
    assert found is not None
    assert (found.cause, found.message, found.until) == (cause, message, until)


@pytest.mark.parametrize(
    ("policies", "changes"),
    [
        pytest.param(PAUSE, {}, id="nothing is paused"),
        pytest.param(PAUSE, {"pause": PauseNotice(until=NOW)}, id="the pause has ended"),
        pytest.param(excluding(namespaces=("others",)), {}, id="another namespace"),
        pytest.param(excluding(namespace_selector=OTHERS), {}, id="another label of a namespace"),
        pytest.param(excluding(pod_selector=OTHERS), {}, id="another label of a pod"),
        pytest.param(PROTECTION, {}, id="no annotation"),
        pytest.param(PROTECTION, {"pod": protected("false")}, id="the annotation says false"),
        pytest.param(
            PROTECTION, {"pod": protected("2026-01-31T12:00:00Z")}, id="protected until now"
        ),
        pytest.param(
            RADIUS,
            {"blast": WIDE, "node": acknowledging("a:NoExecute")},
            id="much, but acknowledged",
        ),
        pytest.param(RADIUS, {"blast": NO_BLAST}, id="its system names no cause"),
        pytest.param(Policies(windows=(Window(start="12:00", end="13:00"),)), {}, id="it is open"),
        pytest.param(ZONE, {"zone_breaker": SLOW}, id="slow is not stopped"),
        pytest.param(NO_POLICIES, {"publisher": STRANGER}, id="any slice may evict"),
        pytest.param(OWN, {}, id="no slice's taint"),
        pytest.param(OWN, {"publisher": Publisher(driver="gpu", node="n1")}, id="its own node's"),
        pytest.param(OWN, {"publisher": Publisher(driver="gpu")}, id="a slice of no node"),
        pytest.param(ZONE, {"cluster_breaker": STOPPED}, id="no breaker for the cluster"),
        pytest.param(CLUSTER, {"zone_breaker": STOPPED}, id="no breaker for zones"),
    ],
)
def test_not_held(policies: Policies, changes: dict) -> None:
    assert hold(replace(QUIET, **changes), policies, NOW) is None


@pytest.mark.parametrize(
    ("policies", "cause", "message"),
    [
        (PAUSE, Cause.PAUSED, "ConfigMap kube-system/bailiff-pause has not been read yet"),
        (
            excluding(namespace_selector=OTHERS),
            Cause.EXCLUDED,
            "the labels of namespace shop are not known yet",
        ),
        (RADIUS, Cause.BLAST_RADIUS, "it is not known yet how many pods the same cause evicts"),
        (ZONE, Cause.BREAKER_OPEN, "nodes without a zone: not known yet how many nodes fail"),
        (CLUSTER, Cause.BREAKER_OPEN, "cluster: not known yet how many nodes fail"),
    ],
)
def test_what_is_not_known_is_waited_for(policies: Policies, cause: Cause, message: str) -> None:
    found = hold(NOTHING_KNOWN, policies, NOW)
    assert found is not None
    assert (found.cause, found.message, found.until) == (cause, message, None)
    assert not found.for_good


@pytest.mark.parametrize(
    ("policies", "changes", "for_good"),
    [
        (excluding(namespaces=("shop",)), {}, True),
        (excluding(pod_selector=WEB), {}, True),
        (excluding(namespace_selector=SHOP), {}, True),
        (PROTECTION, {"pod": protected("true")}, False),
        (EVENING, {}, False),
        (OWN, {"publisher": STRANGER}, False),
    ],
)
def test_what_no_waiting_ends(policies: Policies, changes: dict[str, Any], for_good: bool) -> None:
    found = hold(replace(QUIET, **changes), policies, NOW)
    assert found is not None
    assert found.for_good is for_good


def test_labels_that_were_dropped_are_not_known() -> None:
    bare = protected()
    metadata = replace(bare.metadata, labels=LABELS_NOT_KEPT)
    circumstances = replace(QUIET, pod=replace(bare, metadata=metadata))
    found = hold(circumstances, excluding(pod_selector=OTHERS), NOW)
    assert found is not None
    assert (found.message, found.for_good) == ("the pod's labels are not known yet", False)


def test_a_known_exclusion_needs_no_further_facts() -> None:
    policies = excluding(namespaces=("shop",), namespace_selector=OTHERS)
    found = hold(NOTHING_KNOWN, policies, NOW)
    assert found is not None
    assert found.message == "namespace shop is excluded"


def test_an_acknowledgement_of_a_node_that_is_not_known_does_not_count() -> None:
    found = hold(replace(QUIET, blast=WIDE, node=None), RADIUS, NOW)
    assert found is not None
    assert found.cause is Cause.BLAST_RADIUS


# Each policy as it holds everything back, in the order in which they are asked.
IN_ORDER: tuple[tuple[Cause, dict, dict], ...] = (
    (Cause.PAUSED, {"pause": PAUSE.pause}, {"pause": PauseNotice()}),
    (Cause.EXCLUDED, {"exclude": Exclusion(namespaces=("shop",))}, {}),
    (Cause.PROTECTED, {"protection": True}, {"pod": protected("true")}),
    (Cause.FOREIGN_SLICE, {"own_slices_only": True}, {"publisher": STRANGER}),
    (Cause.BLAST_RADIUS, {"blast_radius": RADIUS.blast_radius}, {"blast": WIDE}),
    (Cause.OUTSIDE_WINDOW, {"windows": EVENING.windows}, {}),
    (Cause.BREAKER_OPEN, {"breakers": ZONE.breakers}, {"zone_breaker": STOPPED}),
)


@given(st.sets(st.integers(0, len(IN_ORDER) - 1)))
def test_the_first_policy_in_force_says_why(chosen: set[int]) -> None:
    circumstances, policies = QUIET, NO_POLICIES
    for index, (_, settings, changes) in enumerate(IN_ORDER):
        circumstances = replace(circumstances, **changes)
        if index in chosen:
            policies = replace(policies, **settings)
    found = hold(circumstances, policies, NOW)
    expected = IN_ORDER[min(chosen)][0] if chosen else None
    assert (found.cause if found else None) is expected


def test_by_default_nothing_is_held_and_no_fact_is_needed() -> None:
    assert hold(NOTHING_KNOWN, NO_POLICIES, NOW) is None
