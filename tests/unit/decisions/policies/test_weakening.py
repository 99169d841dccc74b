"""What counts as a weakened policy: a table, and properties against what the rules then do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions.policies import (
    NO_POLICIES,
    Blast,
    BlastRadius,
    Breaker,
    Breakers,
    Circumstances,
    DrainOrder,
    EvictionApi,
    Exclusion,
    Gangs,
    LabelSelector,
    Limit,
    Limits,
    Operator,
    OverTime,
    OverTimeBudget,
    Pause,
    PauseNotice,
    Per,
    Policies,
    Publisher,
    Requirement,
    Store,
    Unreadable,
    Weekday,
    Window,
    free_at,
    hold,
    judge,
    read_book,
    spend,
    weakenings,
)
from bailiff.decisions.policies.weakening import FIELDS
from bailiff.kinds import Annotations
from tests.harness.kinds import node_of, pod_of

NIGHT = Window(start="22:00", end="06:00")
MONDAY = Window(start="00:00", end="24:00", days=(Weekday.MONDAY,))
WEB = LabelSelector(match_labels={"app": "web"})
WEB_OF_SHOP = LabelSelector(match_labels={"app": "web", "team": "shop"})
NEVER = LabelSelector(
    match_expressions=(Requirement(key="evict", operator=Operator.IN, values=("never", "no")),)
)
REWRITTEN = LabelSelector(
    match_expressions=(Requirement(key="evict", operator=Operator.IN, values=("no", "never")),)
)


def total(**limit: Any) -> Policies:
    return Policies(limits=Limits(total=Limit(**limit)))


def zone(**breaker: Any) -> Policies:
    return Policies(breakers=Breakers(zone=Breaker(**breaker)))


def radius(**bounds: Any) -> Policies:
    return Policies(blast_radius=BlastRadius(**bounds))


def windows(*open_in: Window) -> Policies:
    return Policies(windows=open_in)


def excluding(**how: Any) -> Policies:
    return Policies(exclude=Exclusion(**how))


def over_time(*budgets: OverTimeBudget, **settings: Any) -> Policies:
    return Policies(over_time=OverTime(budgets=budgets, **settings))


TEN = OverTimeBudget(name="ten", evictions=10, seconds=60)
FEW_NODES = OverTimeBudget(name="few", nodes=2, seconds=60)
NODES = OverTimeBudget(name="nodes", evictions=1, seconds=60, per=Per.NODE)
API, DEADLINE = EvictionApi(), EvictionApi(deadline_seconds=60)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (total(per_second=2), total(per_second=20), "limits.total.perSecond: 20 now, 2 before"),
        (total(per_second=2), NO_POLICIES, "limits.total: taken away"),
        (
            total(per_second=2, concurrency=3), total(concurrency=3),
            "limits.total.perSecond: taken away, 2 before",
        ),
        (
            total(per_second=2), total(per_second=2, burst=9),
            "limits.total.burst: 9 now, 1 before",
        ),
        (total(concurrency=2), total(per_second=2, burst=9, concurrency=2), None),
        (total(per_second=2), total(per_second=1, concurrency=4), None),
        (NO_POLICIES, total(per_second=2), None),
        (
            total(concurrency=2), total(concurrency=5),
            "limits.total.concurrency: 5 now, 2 before",
        ),
        (
            Policies(limits=Limits(per_slice_publisher=Limit(per_second=1))), NO_POLICIES,
            "limits.perSlicePublisher: taken away",
        ),
        (zone(), NO_POLICIES, "breakers.zone: taken away"),
        (zone(), zone(stop_at=1.0), "breakers.zone.stopAt: 1 now, 0.55 before"),
        (zone(), zone(slow_per_second=5), "breakers.zone.slowPerSecond: 5 now, 0.1 before"),
        (zone(), zone(min_failing=30), "breakers.zone.minFailing: 30 now, 3 before"),
        (zone(), zone(stop_at=0.4, min_nodes=1), None),
        (radius(max_pods=5), NO_POLICIES, "blastRadius: taken away"),
        (radius(max_pods=5), radius(max_pods=50), "blastRadius.maxPods: 50 now, 5 before"),
        (
            radius(max_pods=5, max_namespace_fraction=0.5), radius(max_pods=5),
            "blastRadius.maxNamespaceFraction: taken away, 0.5 before",
        ),
        (radius(max_pods=5), radius(max_pods=5, min_namespace_pods=50), None),
        (
            radius(max_namespace_fraction=0.5),
            radius(max_namespace_fraction=0.5, min_namespace_pods=50),
            "blastRadius.minNamespacePods: 50 now, 5 before",
        ),
        (Policies(pause=Pause(namespace="ops")), NO_POLICIES, "pause: taken away"),
        (
            Policies(pause=Pause(namespace="ops")), Policies(pause=Pause(namespace="mine")),
            'pause.namespace: "mine" now, "ops" before',
        ),
        (
            Policies(pause=Pause(namespace="ops")),
            Policies(pause=Pause(namespace="ops", name="other")),
            'pause.name: "other" now, "bailiff-pause" before',
        ),
        (Policies(protection=True), NO_POLICIES, "protection: switched off"),
        (Policies(own_slices_only=True), NO_POLICIES, "ownSlicesOnly: switched off"),
        (NO_POLICIES, Policies(protection=True), None),
        (
            excluding(namespaces=("a", "b")), excluding(namespaces=("c", "b")),
            "exclude.namespaces: without a",
        ),
        (
            excluding(namespaces=tuple("abcdefg")), NO_POLICIES,
            "exclude.namespaces: without a, b, c, d, e and 2 more",
        ),
        (excluding(pod_selector=WEB), NO_POLICIES, "exclude.podSelector: taken away"),
        (
            excluding(pod_selector=WEB), excluding(pod_selector=WEB_OF_SHOP),
            "exclude.podSelector: another selector, which may choose fewer",
        ),
        (excluding(pod_selector=WEB_OF_SHOP), excluding(pod_selector=WEB), None),
        (excluding(namespace_selector=NEVER), excluding(namespace_selector=REWRITTEN), None),
        (
            excluding(namespace_selector=WEB), excluding(namespace_selector=NEVER),
            "exclude.namespaceSelector: another selector, which may choose fewer",
        ),
        (windows(NIGHT), NO_POLICIES, "windows: taken away"),
        (
            windows(NIGHT), windows(NIGHT, MONDAY),
            "windows: 960 minutes a week more in time zone UTC",
        ),
        (windows(NIGHT, MONDAY), windows(MONDAY), None),
        (
            windows(NIGHT), windows(replace(NIGHT, time_zone="Europe/Berlin")),
            "windows: 3360 minutes a week more in time zone Europe/Berlin",
        ),
        (NO_POLICIES, windows(NIGHT), None),
        (Policies(eviction_api=API), NO_POLICIES, "evictionApi: taken away"),
        (
            Policies(eviction_api=API), Policies(eviction_api=DEADLINE),
            "evictionApi.deadlineSeconds: 60 now, never before",
        ),
        (Policies(eviction_api=DEADLINE), Policies(eviction_api=API), None),
        (Policies(drain_order=DrainOrder.PRIORITY), NO_POLICIES, None),
        (Policies(gangs=Gangs()), NO_POLICIES, "gangs: taken away"),
        (over_time(TEN), NO_POLICIES, "overTime: taken away"),
        (over_time(TEN, NODES), over_time(NODES), "overTime.budgets[ten]: taken away"),
        (over_time(TEN), over_time(NODES, TEN), None),
        (over_time(TEN), over_time(replace(TEN, evictions=9, seconds=60)), None),
        (
            over_time(TEN), over_time(replace(TEN, evictions=11)),
            "overTime.budgets[ten].evictions: 11 now, 10 before",
        ),
        (over_time(FEW_NODES), over_time(replace(FEW_NODES, nodes=1)), None),
        (
            over_time(FEW_NODES), over_time(replace(FEW_NODES, nodes=3)),
            "overTime.budgets[few].nodes: 3 now, 2 before",
        ),
        (
            over_time(TEN), over_time(replace(TEN, evictions=None, nodes=1)),
            "overTime.budgets[ten].evictions: taken away, 10 before",
        ),
        (
            over_time(FEW_NODES), over_time(replace(FEW_NODES, evictions=1, nodes=None)),
            "overTime.budgets[few].nodes: taken away, 2 before",
        ),
        (
            over_time(TEN), over_time(replace(TEN, seconds=59)),
            "overTime.budgets[ten].seconds: 59 now, 60 before",
        ),
        (
            over_time(TEN), over_time(replace(TEN, per=Per.NODE)),
            'overTime.budgets[ten].per: "Node" now, "Cluster" before',
        ),
        (
            over_time(TEN), over_time(replace(TEN, namespaces=("shop",))),
            'overTime.budgets[ten].namespaces: ["shop"] now, [] before',
        ),
        (
            over_time(TEN), over_time(TEN, unreadable=Unreadable.ALLOW),
            'overTime.unreadable: "Allow" now, "Refuse" before',
        ),
        (over_time(TEN, unreadable=Unreadable.ALLOW), over_time(TEN), None),
        (
            over_time(TEN), over_time(TEN, store=Store(name="mine")),
            'overTime.store.name: "mine" now, "bailiff-evictions" before',
        ),
    ],
)  # fmt: skip
def test_what_is_weaker(before: Policies, after: Policies, told: str | None) -> None:
    assert weakenings(before, after) == ([] if told is None else [told])


def test_all_that_became_weaker_is_told() -> None:
    before = Policies(protection=True, pause=Pause(namespace="ops"), limits=Limits(total=Limit(1)))
    assert len(weakenings(before, NO_POLICIES)) == 3


WHOLE = {LabelSelector, Window}


def parts(kind: Any) -> set[Any]:
    """The kind and all that its fields are made of, but for what is compared as a whole."""
    found = {kind}
    told: Any = msgspec.inspect.type_info(kind)
    for field in told.fields:
        for one in getattr(field.type, "types", (field.type,)):
            held = getattr(one, "item_type", one)
            if isinstance(held, msgspec.inspect.StructType) and held.cls not in WHOLE:
                found |= parts(held.cls)
    return found


def test_each_field_of_the_policies_says_how_it_may_be_weakened() -> None:
    fields = {
        kind: {field.name for field in msgspec.structs.fields(kind)} for kind in parts(Policies)
    }
    assert {kind: set(rules) for kind, rules in FIELDS.items()} == fields


# Few values, so that two policies often differ in little.

FEW = st.none() | st.sampled_from([1, 2])
LIMIT = st.builds(Limit, per_second=FEW, burst=st.sampled_from([1, 3]), concurrency=FEW)
BREAKER = st.none() | st.builds(
    Breaker,
    slow_at=st.sampled_from([0.2, 0.4]),
    stop_at=st.sampled_from([0.5, 0.9]),
    min_nodes=st.sampled_from([2, 6]),
    min_failing=st.sampled_from([1, 3]),
)
SELECTOR = st.none() | st.sampled_from([LabelSelector(), WEB, WEB_OF_SHOP, NEVER, REWRITTEN])
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "pause": st.none() | st.builds(Pause, namespace=st.sampled_from(["ops", "mine"])),
    "protection": st.booleans(),
    "own_slices_only": st.booleans(),
    "breakers": st.builds(Breakers, zone=BREAKER, cluster=BREAKER),
    "exclude": st.builds(
        Exclusion,
        namespaces=st.sampled_from([(), ("shop",), ("shop", "other")]),
        namespace_selector=SELECTOR,
        pod_selector=SELECTOR,
    ),
    "windows": st.lists(
        st.builds(
            Window,
            start=st.sampled_from(["00:00", "22:00", "12:00"]),
            end=st.sampled_from(["06:00", "13:00", "24:00"]),
            days=st.sampled_from([(), (Weekday.MONDAY,), (Weekday.SUNDAY, Weekday.MONDAY)]),
        ),
        max_size=2,
    ).map(tuple),
    "blast_radius": st.none()
    | st.builds(
        BlastRadius,
        max_pods=st.sampled_from([3, 5]),
        max_namespace_fraction=st.none() | st.sampled_from([0.2, 0.6]),
        min_namespace_pods=st.sampled_from([1, 9]),
    ),
    "over_time": st.none()
    | st.builds(
        lambda bound, seconds: OverTime(
            budgets=(OverTimeBudget(name="b", seconds=seconds, **bound),)
        ),
        st.sampled_from([{"evictions": 1}, {"evictions": 2}, {"nodes": 1}, {"nodes": 2}]),
        st.sampled_from([60, 600]),
    ),
}
POLICIES = st.builds(Policies, **PARTS)
LABELS = st.dictionaries(
    st.sampled_from(["app", "team", "evict"]), st.sampled_from(["web", "shop", "no"])
)
COUNTS = st.tuples(st.integers(0, 10), st.integers(0, 10)).map(sorted)


@st.composite
def places(draw: st.DrawFn) -> tuple[dict[str, Any], list[list[int]], datetime]:
    annotations = Annotations(do_not_evict=draw(st.none() | st.just("true")))
    labels = draw(LABELS)
    pod = pod_of("web", "n1", namespace="shop", labels=labels, annotations=annotations)
    total_pods = draw(st.integers(1, 10))
    facts = {
        "pod": pod,
        "node": node_of("n1"),
        "namespace_labels": draw(LABELS),
        "pause": draw(st.none() | st.just(PauseNotice())),
        "publisher": draw(st.none() | st.just(Publisher(driver="d", node="n2"))),
        "blast": Blast(
            cause="c",
            pods=draw(st.integers(1, 9)),
            namespace_evicted=draw(st.integers(1, total_pods)),
            namespace_pods=total_pods,
        ),
    }
    now = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(minutes=draw(st.integers(0, 7 * 24 * 60)))
    ago = [draw(st.sampled_from([10, 300, 900])) for _ in range(draw(st.integers(0, 2)))]
    evictions = " ".join(f"{round(now.timestamp() - s) * 1000}:{n}" for n, s in enumerate(ago))
    column = draw(st.sampled_from(["", "nodes/"]))
    facts["book"] = read_book({"b": f'{{"seconds":600,"evictions":{{"{column}":"{evictions}"}}}}'})
    return facts, [draw(COUNTS), draw(COUNTS)], now


def is_held(policies: Policies, place: tuple[dict[str, Any], list[list[int]], datetime]) -> bool:
    facts, (zone_nodes, nodes), now = place
    breakers = policies.breakers
    states: dict[str, Any] = {}
    for name, (failing, there), breaker in (
        ("zone_breaker", zone_nodes, breakers.zone),
        ("cluster_breaker", nodes, breakers.cluster),
    ):
        states[name] = judge(failing, there, breaker) if breaker else None
    return hold(Circumstances(**facts, **states), policies, now) is not None


@st.composite
def two_policies(draw: st.DrawFn) -> tuple[Policies, Policies]:
    """Both of the same few parts: what one part holds back no other shows to have been let go."""
    names = sorted(draw(st.sets(st.sampled_from(sorted(PARTS)), min_size=1, max_size=2)))
    one, other = ({name: draw(PARTS[name]) for name in names} for _ in range(2))
    return Policies(**one), Policies(**other)


S = TypeVar("S", Policies, Limit)


def hardened(before: S, other: S, policies: Callable[[S], Policies]) -> S:
    """The first with all fields of the second that make it no weaker.

    Few of two values that are drawn are so: there is no waiting for such a pair.
    """
    after = before
    for field in msgspec.structs.fields(type(before)):
        changed = replace(after, **{field.name: getattr(other, field.name)})
        if not weakenings(policies(before), policies(changed)):
            after = changed
    return after


@given(two_policies(), places())
def test_what_is_not_weaker_holds_back_all_that_was_held_back(drawn, place) -> None:
    before, other = drawn
    after = hardened(before, other, lambda policies: policies)
    # Which ConfigMap pauses is the same then: both have read the same notice.
    assert is_held(after, place) or not is_held(before, place)


@given(POLICIES)
def test_policies_are_not_weaker_than_themselves_or_none(policies: Policies) -> None:
    assert weakenings(policies, policies) == []
    assert weakenings(NO_POLICIES, policies) == []


def begun(limit: Limit, seconds: int) -> int:
    """How many begin in so many seconds if each takes two; instants in tenths of a second."""
    full_at, count = float("-inf"), 0
    ends: list[float] = []
    for tenth in range(10 * seconds):
        now = tenth / 10
        ends = [end for end in ends if end > now]
        while count < 1000 and free_at(limit, len(ends), full_at) <= now + 1e-9:
            full_at = spend(limit, full_at, now)
            ends.append(now + 2)
            count += 1
    return count


def in_all(limit: Limit) -> Policies:
    return Policies(limits=Limits(total=limit))


@given(LIMIT, LIMIT, st.integers(1, 8))
def test_a_limit_that_is_not_weaker_lets_no_more_begin(before, other, seconds) -> None:
    after = hardened(before, other, in_all)
    assert begun(after, seconds) <= begun(before, seconds)
