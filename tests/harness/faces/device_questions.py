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


DEVICES = st.fixed_dictionaries(
    {
        "resourceClaims": st.lists(claims(), max_size=3),
        "resourceSlices": st.lists(slices(unique=False), max_size=3),
        "deviceTaintRules": st.lists(rules(), min_size=1, max_size=3),
    }
)


def question(**facts: st.SearchStrategy[Any]) -> st.SearchStrategy[Body]:
    """Some devices, and what else a question is told."""
    return st.fixed_dictionaries({"deviceTaints": DEVICES, "options": OPTIONS, **facts})


MANY = st.lists(pods(), min_size=1, max_size=4)
ABOUT_PODS = question(pods=MANY) | question(node=st.just(NODE), pods=MANY)
ABOUT_ONE = question(pod=pods(), node=st.just(NODE)) | question(pod=pods())
ABOUT_A_RULE = question(rule=rules(), pods=st.lists(pods(), max_size=4))
