"""Questions about devices as hypothesis draws them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.conformance.device_strategies import claims, pods, rules, slices

Body = dict[str, Any]

NODE = {
    "metadata": {"name": "node"},
    "spec": {"taints": [{"key": "n", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:30Z"}]},
}
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        name: st.booleans()
        for name in ("explain", "extendedResourceClaims", "podGroupClaims", "evictEndedPods")
    },
)


@st.composite
def questions(draw: st.DrawFn, /, **more: st.SearchStrategy[Any]) -> Body:
    """Some devices, and what else a question is told."""
    objects = {
        "resourceClaims": st.lists(claims(), max_size=3),
        "resourceSlices": st.lists(slices(unique=False), max_size=3),
        "deviceTaintRules": st.lists(rules(), min_size=1, max_size=3),
        "options": OPTIONS,
    }
    return {name: draw(strategy) for name, strategy in (objects | more).items()}


MANY = st.lists(pods(), min_size=1, max_size=4)
ABOUT_PODS = questions(pods=MANY)
ABOUT_ONE = questions(pod=pods(), node=st.just(NODE)) | questions(pod=pods())
ABOUT_A_NODE = questions(node=st.just(NODE), pods=MANY)
ABOUT_A_RULE = questions(rule=rules(), pods=st.lists(pods(), max_size=4))
