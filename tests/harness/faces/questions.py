"""Questions about node taints as hypothesis draws them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import strategies as st

from bailiff.decisions import OptionOverrides
from bailiff.decisions.node_taints import NodeTaintFacts, TaintObservation
from bailiff.decisions.node_taints.change import TaintSelector
from bailiff.kinds import (
    INT64_MAX,
    INT64_MIN,
    NewTaint,
    Node,
    NodeMeta,
    NodeSpec,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    Taint,
    Toleration,
)
from tests.harness.faces.grpc_face import NOW

KEYS = st.sampled_from(["a", "b", "node.kubernetes.io/unreachable", "ключ"])
EFFECTS = st.sampled_from(["NoExecute", "NoExecute", "NoSchedule", ""])
# Not the epoch: protobuf cannot tell it from an empty time (see reading.py).
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = st.datetimes(
    min_value=datetime(1, 1, 2),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(9999, 12, 30),  # noqa: DTZ001 - as above
    timezones=st.just(UTC),
).filter(lambda at: at != _EPOCH) | st.integers(-600, 600).map(
    lambda seconds: NOW + timedelta(seconds=seconds)
)
MAYBE_TIMES = st.none() | TIMES
INT64 = st.integers(INT64_MIN, INT64_MAX) | st.integers(-1, 900)

TAINTS = st.builds(
    Taint, key=KEYS, value=st.sampled_from(["", "1", "x"]), effect=EFFECTS, time_added=MAYBE_TIMES
)
TOLERATIONS = st.builds(
    Toleration,
    key=KEYS | st.just(""),
    operator=st.sampled_from(["", "Equal", "Exists", "Lt", "Gt", "Other"]),
    value=st.sampled_from(["", "1", "2", "x"]),
    effect=EFFECTS,
    toleration_seconds=st.none() | INT64,
)
METADATA = st.builds(
    ObjectMeta,
    name=st.sampled_from(["web-1", "web-2"]),
    namespace=st.just("shop"),
    uid=st.text(max_size=3),
    resource_version=st.text("0123456789", max_size=3),
    generation=INT64,
    creation_timestamp=MAYBE_TIMES,
    deletion_timestamp=st.none() | st.none() | TIMES,
    owner_references=st.lists(
        st.builds(OwnerReference, kind=st.just("ReplicaSet"), controller=st.booleans()), max_size=1
    ).map(tuple),
)
CONDITIONS = st.builds(
    PodCondition,
    type=st.sampled_from(["PodScheduled", "Ready"]),
    status=st.sampled_from(["True", "False"]),
    observed_generation=INT64,
    last_transition_time=MAYBE_TIMES,
)
PODS = st.builds(
    Pod,
    metadata=METADATA,
    spec=st.builds(
        PodSpec,
        node_name=st.sampled_from(["", "node-1", "node-1", "node-2"]),
        tolerations=st.lists(TOLERATIONS, max_size=4).map(tuple),
    ),
    status=st.builds(
        PodStatus,
        phase=st.sampled_from(["", "Running", "Succeeded"]),
        conditions=st.lists(CONDITIONS, max_size=2).map(tuple),
    ),
)
NODES = st.builds(
    Node,
    metadata=st.just(NodeMeta(name="node-1")),
    spec=st.builds(NodeSpec, taints=st.lists(TAINTS, max_size=4).map(tuple)),
)
MANY_PODS = st.lists(PODS, max_size=6).map(tuple)
OBSERVED = st.lists(
    st.builds(TaintObservation, key=KEYS, effect=EFFECTS, time=TIMES), max_size=3
).map(tuple)
OPTIONS = st.builds(
    OptionOverrides,
    comparison_operators=st.none() | st.booleans(),
    evict_ended_pods=st.none() | st.booleans(),
    explain=st.none() | st.booleans(),
)


def question(**facts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """What a question about a node is asked with, as REST takes it."""
    parts = st.fixed_dictionaries({"now": MAYBE_TIMES, "options": OPTIONS, **facts})
    return parts.map(_body)


def _body(facts: dict[str, Any]) -> dict[str, Any]:
    words = {name.split("_")[0] + "".join(part.title() for part in name.split("_")[1:]): value
             for name, value in facts.items() if value is not None}  # fmt: skip
    body: dict[str, Any] = msgspec.to_builtins(words)
    return body


def facts_of_a_node(**more: st.SearchStrategy[Any]) -> st.SearchStrategy[NodeTaintFacts]:
    """The section of node taints."""
    return st.builds(NodeTaintFacts, first_observed=OBSERVED, **more)


ABOUT_ONE = question(pod=PODS, node=NODES, node_taints=facts_of_a_node(bound_at=MAYBE_TIMES))
ABOUT_PODS = question(pods=MANY_PODS, node=NODES, node_taints=facts_of_a_node())
# What is to come or to go must be what Kubernetes takes.
GIVEN_KEYS = KEYS.filter(str.isascii)
ADDED = st.builds(
    NewTaint,
    key=GIVEN_KEYS,
    value=st.sampled_from(["", "1", "x"]),
    effect=EFFECTS.filter(bool),
    time_added=MAYBE_TIMES,
)
ABOUT_A_CHANGE = question(
    node=NODES,
    pods=MANY_PODS,
    add_taints=st.lists(ADDED, min_size=1, max_size=2).map(tuple),
    remove_taints=st.lists(
        st.builds(TaintSelector, key=GIVEN_KEYS, effect=EFFECTS), max_size=2
    ).map(tuple),
    node_taints=facts_of_a_node(),
)
