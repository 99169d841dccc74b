"""A policy file: what it may say, and what is said of one that is wrong."""

from __future__ import annotations

import json
from contextlib import suppress

import jsonschema_rs
import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.policies import (
    NO_POLICIES,
    BlastRadius,
    Breaker,
    Breakers,
    DrainOrder,
    EvictionApi,
    Exclusion,
    LabelSelector,
    Limit,
    Limits,
    Operator,
    Pause,
    Policies,
    PolicyError,
    Requirement,
    Weekday,
    Window,
    read,
    schema,
)
from bailiff.decisions.policies.reading import MAX_BYTES
from bailiff.kinds.names import LABEL_RULE

HEAD = "apiVersion: bailiff.dev/v1\nkind: WorkerPolicies\n"


def reading(text: str) -> Policies:
    return read((HEAD + text).encode())


def test_a_file_that_asks_for_nothing_is_no_policies() -> None:
    assert reading("") == NO_POLICIES
    assert reading("limits:\nwindows:\npause: null\n") == NO_POLICIES


def test_yaml() -> None:
    policies = reading("""
evictionApi: {deadlineSeconds: 1e3}
limits: {total: {perSecond: 5, burst: 10}, perNode: {concurrency: 2}}
drainOrder: Priority
breakers: {zone: {}}
exclude: {podSelector: {matchExpressions: [{key: example.com/a, operator: Exists}]}}
windows: [{start: 22:00, end: 06:00, days: [Sat], timeZone: Europe/Berlin}]
""")
    assert policies.eviction_api == EvictionApi(deadline_seconds=1000.0)
    assert policies.limits.total == Limit(per_second=5.0, burst=10)
    assert policies.limits.per_node == Limit(concurrency=2)
    assert policies.drain_order is DrainOrder.PRIORITY
    assert policies.breakers.zone == Breaker()
    assert policies.exclude.pod_selector is not None
    assert policies.exclude.pod_selector.match_expressions[0].operator is Operator.EXISTS
    assert policies.windows == (
        Window(start="22:00", end="06:00", days=(Weekday.SATURDAY,), time_zone="Europe/Berlin"),
    )


def test_json() -> None:
    text = {"apiVersion": "bailiff.dev/v1", "kind": "WorkerPolicies", "protection": True}
    assert read(json.dumps(text).encode()) == Policies(protection=True)


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("", "$", "must be an object with apiVersion: bailiff.dev/v1, kind: WorkerPolicies"),
        ("[]", "$", "must be an object with"),
        ("protection: true", "$.apiVersion", "required to be bailiff.dev/v1, and missing"),
        ("apiVersion: v1", "$.apiVersion", "required to be bailiff.dev/v1, got 'v1'"),
        ("apiVersion: bailiff.dev/v1", "$.kind", "required to be WorkerPolicies, and missing"),
        ("{", "$", "not valid YAML"),
        ("a: &a [*a]", "$", "aliases are not allowed"),
        ("#" * (MAX_BYTES + 1), "$", "262145 bytes, at most 262144 are allowed"),
    ],
)
def test_what_is_no_policy_file(text: str, path: str, reason: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read(text.encode())
    assert caught.value.path == path
    assert reason in caught.value.reason


SELECTOR = "exclude: {podSelector: {matchExpressions: [{key: a, operator: %s}]}}"


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("eviction_api: {}", "$.eviction_api", "unknown field, allowed are evictionApi, limits, "),
        (
            "limits: {total: {persecond: 5}}",
            "$.limits.total.persecond",
            "unknown field, allowed are perSecond, burst, concurrency",
        ),
        ("windows: [{from: 1}]", "$.windows[0].from", "allowed are start, end, days, timeZone"),
        (
            "limits: {total: {perSecond: 0}}",
            "$.limits.total.perSecond",
            "Expected `float` >= 1e-06",
        ),
        ("limits: {total: {perSecond: .nan}}", "$.limits.total.perSecond", "got `str`"),
        ("limits: {total: {perSecond: 1e-310}}", "$.limits.total.perSecond", ">= 1e-06"),
        ("limits: {total: {perSecond: 1e999}}", "$.limits.total.perSecond", "<= 10000.0"),
        ("limits: {total: {}}", "$.limits.total", "limits nothing: set perSecond, concurrency"),
        ("limits: {perNode: {burst: 5}}", "$.limits.perNode", "limits nothing"),
        (
            "limits: {perZone: {burst: 5, concurrency: 1}}",
            "$.limits.perZone.burst",
            "means nothing without perSecond",
        ),
        ("limits: []", "$.limits", "Expected `object`, got `array`"),
        ("drainOrder: priority", "$.drainOrder", "must be one of Due, Priority, got 'priority'"),
        ("drainOrder: 5", "$.drainOrder", "Expected `str`, got `int`, allowed are Due, Priority"),
        (
            "breakers: {zone: {slowAt: 0.6}}",
            "$.breakers.zone.slowAt",
            "must not be above stopAt: 0.6 is above 0.55",
        ),
        ("breakers: {cluster: {stopAt: 1.5}}", "$.breakers.cluster.stopAt", "<= 1.0"),
        ("pause: {}", "$.pause.namespace", "required, and missing or null"),
        ("pause: {namespace: a/../b}", "$.pause.namespace", LABEL_RULE),
        ('pause: {namespace: "a\\n"}', "$.pause.namespace", "line feed"),
        ("exclude: {namespaces: [Shop]}", "$.exclude.namespaces[0]", LABEL_RULE),
        ("exclude: {namespaces: [no]}", "$.exclude.namespaces[0]", "got `bool`"),
        (SELECTOR % "in", "$.exclude.podSelector.matchExpressions[0].operator", "In, NotIn, Exi"),
        (SELECTOR % "In", "$.exclude.podSelector.matchExpressions[0].values", "at least one"),
        (
            SELECTOR % "Exists, values: [b]",
            "$.exclude.podSelector.matchExpressions[0].values",
            "Exists and DoesNotExist take none",
        ),
        (
            SELECTOR % "NotIn, values: [ok, -b]",
            "$.exclude.podSelector.matchExpressions[0].values[1]",
            "must be empty, or at most 63",
        ),
        (
            "exclude: {namespaceSelector: {matchExpressions: [{key: A/b/c, operator: Exists}]}}",
            "$.exclude.namespaceSelector.matchExpressions[0].key",
            "must be NAME or PREFIX/NAME",
        ),
        (
            "exclude: {podSelector: {matchLabels: {a b: c}}}",
            "$.exclude.podSelector.matchLabels",
            "'a b' must be NAME",
        ),
        (
            "exclude: {podSelector: {matchLabels: {a: b c}}}",
            "$.exclude.podSelector.matchLabels.a",
            "must be empty, or at most 63",
        ),
        (
            "exclude: {podSelector: {matchLabels: {1: a}}}",
            "$.exclude.podSelector.matchLabels",
            "Expected `str`, got `int`",
        ),
        ("windows: [{start: 22:00}]", "$.windows[0].end", "required, and missing"),
        ("windows: [{start: 24:00, end: 01:00}]", "$.windows[0].start", "must be HH:MM"),
        ("windows: [{start: 22:00, end: 22:00}]", "$.windows[0].end", "must not be start"),
        ("windows: [{start: 1:00, end: 02:00}]", "$.windows[0].start", "must be HH:MM"),
        ("windows: [{start: 01:00, end: 02:00, days: [Mo]}]", "$.windows[0].days[0]", "Mon, Tue"),
        (
            "windows: [{start: 01:00, end: 02:00, timeZone: Europe/Nowhere}]",
            "$.windows[0].timeZone",
            "unknown: 'Europe/Nowhere'",
        ),
        ("windows: [{start: 01:00, end: 02:00, timeZone: Europe}]", "$.windows[0].timeZone", "unk"),
        ("windows: [{start: 01:00, end: 02:00, timeZone: ../x}]", "$.windows[0].timeZone", "unk"),
        ("blastRadius: {}", "$.blastRadius", "bounds nothing: set maxPods, maxNamespaceFraction"),
        (
            "overTime: {budgets: [{name: few, seconds: 60}]}",
            "$.overTime.budgets[0]",
            "bounds nothing: set evictions or nodes",
        ),
        (
            "overTime: {budgets: [{name: few, seconds: 60, nodes: 2, evictions: 9}]}",
            "$.overTime.budgets[0].nodes",
            "make it a budget of its own",
        ),
        (
            "overTime: {budgets: [{name: few, seconds: 60, nodes: 2, per: Node}]}",
            "$.overTime.budgets[0].per",
            "means nothing with nodes",
        ),
        (
            "overTime: {budgets: [{name: few, seconds: 60, nodes: 0}]}",
            "$.overTime.budgets[0].nodes",
            ">= 1",
        ),
        ("evictionApi: {deadlineSeconds: -1}", "$.evictionApi.deadlineSeconds", ">= 0"),
        ("1: 2", "$", "Expected `str`"),
    ],
)
def test_what_a_policy_file_may_not_say(text: str, path: str, reason: str) -> None:
    with pytest.raises(PolicyError) as caught:
        reading(text)
    assert caught.value.path == path
    assert reason in caught.value.reason


@pytest.mark.parametrize("text", ["drainOrder: %s", "? %s\n: 1", "%s: 1", "windows: [{? %s : 1}]"])
def test_errors_stay_short(text: str) -> None:
    with pytest.raises(PolicyError) as caught:
        reading(text % ("x" * 100_000))
    assert len(str(caught.value)) < 1500


@pytest.mark.parametrize(
    "text",
    [
        "exclude: {podSelector: {}}",
        "exclude: {namespaces: [shop, shop]}",
        "exclude: {podSelector: {matchLabels: {example.com/Some_name.x: ''}}}",
        SELECTOR % "In, values: [x, x]",
        "breakers: {zone: {slowAt: 0.5, stopAt: 0.5}}",
        "windows: [{start: 00:00, end: 24:00}]",
    ],
)
def test_what_it_may_say(text: str) -> None:
    assert reading(text) != NO_POLICIES


@given(st.binary(max_size=80) | st.text(max_size=60))
def test_anything_is_read_or_refused(text: bytes | str) -> None:
    with suppress(PolicyError):
        read(text if isinstance(text, bytes) else HEAD.encode() + text.encode())


VALIDATOR = jsonschema_rs.validator_for(schema())
COUNTS = st.integers(1, 1_000_000)
FRACTIONS = st.floats(0, 1, exclude_min=True)
LIMITS = st.none() | st.builds(
    Limit, per_second=st.floats(0.001, 1e4), burst=COUNTS, concurrency=st.none() | COUNTS
)
BREAKERS = st.none() | st.builds(
    lambda one, other, nodes: Breaker(
        slow_at=min(one, other), stop_at=max(one, other), min_nodes=nodes
    ),
    FRACTIONS,
    FRACTIONS,
    COUNTS,
)
WORDS = st.sampled_from(("a", "a.b-c", "Z9"))
REQUIREMENTS = st.builds(
    Requirement, key=WORDS, operator=st.just(Operator.IN), values=st.tuples(WORDS)
)
SELECTORS = st.none() | st.builds(
    LabelSelector,
    match_labels=st.dictionaries(WORDS, WORDS | st.just("")),
    match_expressions=st.tuples(REQUIREMENTS),
)
POLICIES = st.builds(
    Policies,
    eviction_api=st.none() | st.builds(EvictionApi, deadline_seconds=st.floats(0, 1e6)),
    limits=st.builds(Limits, total=LIMITS, per_node=LIMITS, per_namespace=LIMITS, per_zone=LIMITS),
    drain_order=st.sampled_from(DrainOrder),
    breakers=st.builds(Breakers, zone=BREAKERS, cluster=BREAKERS),
    pause=st.none() | st.just(Pause(namespace="kube-system")),
    protection=st.booleans(),
    exclude=st.builds(
        Exclusion,
        namespaces=st.lists(st.sampled_from(("a", "b-2"))).map(tuple),
        namespace_selector=SELECTORS,
        pod_selector=SELECTORS,
    ),
    windows=st.sampled_from(((), (Window(start="22:00", end="06:00", days=tuple(Weekday)),))),
    blast_radius=st.none() | st.builds(BlastRadius, max_pods=COUNTS),
)


@given(POLICIES)
def test_what_is_written_down_is_read_again_and_as_the_schema_has_it(policies: Policies) -> None:
    document = {
        "apiVersion": "bailiff.dev/v1",
        "kind": "WorkerPolicies",
        **msgspec.to_builtins(policies),
    }
    VALIDATOR.validate(json.loads(json.dumps(document)))
    assert read(json.dumps(document).encode()) == policies
    assert read(yaml.safe_dump(document).encode()) == policies


@pytest.mark.parametrize(
    ("fields", "valid"),
    [
        ({}, True),
        ({"limits": {"total": {"perSecond": 5}}}, True),
        ({"windows": [{"start": "22:00", "end": "06:00"}], "breakers": {"zone": {}}}, True),
        ({"apiVersion": "v1"}, False),
        ({"limits": {"totl": {}}}, False),
        ({"windows": [{"start": "25:00", "end": "06:00"}]}, False),
        ({"drainOrder": "priority"}, False),
    ],
)
def test_schema(fields: dict, valid: bool) -> None:
    document = {"apiVersion": "bailiff.dev/v1", "kind": "WorkerPolicies", **fields}
    assert VALIDATOR.is_valid(document) is valid


def test_the_schema_speaks_to_people_who_write_files() -> None:
    words = [kind["description"] for kind in schema()["$defs"].values()]
    assert all(words)
    assert not any("Attributes" in text for text in words)
