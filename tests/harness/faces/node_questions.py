"""Questions about many nodes as hypothesis draws them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions.scheduling import Maintenance
from bailiff.kinds import (
    Annotations,
    Node,
    NodeCondition,
    NodeMeta,
    NodeSpec,
    NodeStatus,
)
from tests.harness.faces import device_questions
from tests.harness.faces.questions import PODS, TAINTS, TIMES, question

NAMES = st.sampled_from(["n1", "n2", "n3", "n4"])
NODES = st.builds(
    Node,
    metadata=st.builds(
        NodeMeta,
        name=NAMES,
        annotations=st.builds(
            Annotations, maintenance=st.sampled_from(["", "", "soon", "2026-01-01T01:00:00Z"])
        ),
    ),
    spec=st.builds(
        NodeSpec,
        taints=st.lists(TAINTS, max_size=3).map(tuple),
        unschedulable=st.booleans(),
    ),
    status=st.builds(
        NodeStatus,
        conditions=st.lists(
            st.builds(
                NodeCondition,
                type=st.sampled_from(["MemoryPressure", "PIDPressure", "Ready"]),
                status=st.sampled_from(["True", "False"]),
            ),
            max_size=2,
        ).map(tuple),
    ),
)


def in_order(drawn: Maintenance) -> Maintenance:
    """The same, beginning when it would have ended where that is earlier."""
    if drawn.ends_at is None or drawn.starts_at <= drawn.ends_at:
        return drawn
    return replace(drawn, starts_at=drawn.ends_at, ends_at=drawn.starts_at)


MAINTENANCE = st.builds(
    Maintenance,
    nodes=st.lists(NAMES, max_size=3).map(tuple),
    starts_at=TIMES,
    ends_at=st.none() | TIMES,
    reason=st.sampled_from(["", "disks"]),
).map(in_order)
FLEET = {
    "nodes": st.lists(NODES, max_size=6).map(tuple),
    "maintenance": st.lists(MAINTENANCE, max_size=2).map(tuple),
}
ABOUT_NODES = question(pod=PODS, **FLEET)


@st.composite
def with_devices(draw: st.DrawFn) -> dict[str, Any]:
    """The same, about a pod with devices."""
    about_one = draw(device_questions.ABOUT_ONE)
    told = {"pod": about_one["pod"], "deviceTaints": about_one["deviceTaints"]}
    body: dict[str, Any] = draw(ABOUT_NODES) | told
    return body


@st.composite
def streams(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The requests of one stream, as protobuf's JSON has them."""
    requests = []
    for number in range(draw(st.integers(1, 6))):
        body = draw(question(pods=st.lists(PODS, max_size=3).map(tuple), **FLEET))
        asked = draw(
            st.sampled_from(
                [
                    {"nodes": {"nodes": body["nodes"], "maintenance": body["maintenance"]}},
                    {"changes": {"put": body["nodes"], "remove": draw(st.lists(NAMES))}},
                    {"pods": {"pods": body["pods"], "now": body.get("now")}},
                ]
            )
        )
        requests.append({"requestId": f"r{number}", **asked})
    return requests
