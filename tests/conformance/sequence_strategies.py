"""Sequences of changes as the generator of upstream's cases makes them, and stranger ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

# What is listed more than once comes more often: much has to meet for a timer to be set at all.
NODES = ("n1", "n1", "n2")
PODS = ("p1", "p2")
KEYS = ("a", "b")
START = "2026-01-01T00:00:00Z"
# Before, at and after the start, and far away.
INSTANTS = (
    "2025-12-31T23:59:30Z",
    START,
    "2026-01-01T00:00:20Z",
    "2026-01-01T09:00:00+08:00",
    "2030-01-01T00:00:00Z",
)
PHASES = ("Running",) * 9 + ("Succeeded",)
SECONDS = (None, -1, 0, *(1, 5, 30, 60, 300) * 4, 9223372037, 18446744074, 2**55, 2**63 - 1)
ADVANCES = (1, 4, 5, 29, 30, 60, 300)


def _taints() -> st.SearchStrategy[list[Json]]:
    taint = st.fixed_dictionaries(
        {
            "key": st.sampled_from(KEYS),
            "effect": st.sampled_from(("NoExecute",) * 5 + ("NoSchedule",)),
        },
        optional={"value": st.sampled_from(("v", "")), "timeAdded": st.sampled_from(INSTANTS)},
    )
    # The API server takes a key and effect only once.
    return st.lists(taint, max_size=3, unique_by=lambda one: (one["key"], one["effect"]))


def _tolerations() -> st.SearchStrategy[list[Json]]:
    toleration = st.fixed_dictionaries(
        {
            "key": st.sampled_from(KEYS),
            "operator": st.sampled_from(("Exists", "Exists", "Equal")),
            "effect": st.sampled_from(("NoExecute", "")),
            "tolerationSeconds": st.sampled_from(SECONDS),
        }
    )
    return st.lists(toleration, min_size=1, max_size=3)


def _node() -> st.SearchStrategy[Json]:
    return st.builds(
        lambda name, taints: {"node": {"metadata": {"name": name}, "spec": {"taints": taints}}},
        st.sampled_from(NODES),
        _taints(),
    )


@st.composite
def _pod(draw: st.DrawFn) -> Json:
    name = draw(st.sampled_from(PODS))
    uid = f"{name}-{draw(st.integers(1, 2))}"
    metadata = {"name": name, "namespace": "default", "uid": uid}
    if draw(st.integers(0, 19)) == 19:
        metadata["deletionTimestamp"] = START
    return {
        "pod": {
            "metadata": metadata,
            "spec": {
                "nodeName": draw(st.sampled_from((*NODES, *NODES, ""))),
                "tolerations": draw(_tolerations()),
            },
            "status": {"phase": draw(st.sampled_from(PHASES))},
        }
    }


def sequences() -> st.SearchStrategy[Json]:
    """Inputs in the form of the file's cases."""
    step = st.one_of(
        _node(),
        _pod(),
        st.builds(lambda seconds: {"advanceSeconds": seconds}, st.sampled_from(ADVANCES)),
        _node(),
        _pod(),
        st.builds(lambda name: {"deletePod": f"default/{name}"}, st.sampled_from(PODS)),
        st.builds(lambda name: {"deleteNode": name}, st.sampled_from(NODES)),
    )
    return st.builds(
        lambda steps: {"start": START, "steps": steps}, st.lists(step, min_size=8, max_size=24)
    )
