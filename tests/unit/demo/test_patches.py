from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff_demo.errors import ApiError
from bailiff_demo.objects import clone
from bailiff_demo.patches import apply_patch
from tests.unit.demo.api import JSON_PATCH, MERGE, STRATEGIC, Json


def patched(media_type: str, spec: object, patch: object) -> object:
    """What `spec` of an object becomes; a dict patches the spec, a list the whole object."""
    obj = {"metadata": {"name": "a"}, "spec": spec}
    body = {"spec": patch} if isinstance(patch, dict) else patch
    before = clone(obj)
    result = apply_patch(media_type, obj, body)
    assert obj == before, "the original must stay as it was"
    return result["spec"]


def test_a_merge_patch_replaces_lists_and_deletes_by_null() -> None:
    spec = {"a": 1, "b": {"c": 1, "d": 2}, "l": [1, 2]}
    patch = {"a": None, "b": {"c": None, "e": {"f": None, "g": 1}}, "l": [3]}
    assert patched(MERGE, spec, patch) == {"b": {"d": 2, "e": {"g": 1}}, "l": [3]}


STRATEGIC_CASES: dict[str, tuple[Json, Json, Json]] = {
    "taints are one value": (
        {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        {"taints": [{"key": "b", "effect": "NoExecute"}]},
        {"taints": [{"key": "b", "effect": "NoExecute"}]},
    ),
    "tolerations are one value": (
        {"tolerations": [{"key": "a"}]},
        {"tolerations": [{"key": "b"}]},
        {"tolerations": [{"key": "b"}]},
    ),
    "conditions merge by type": (
        {"conditions": [{"type": "A", "status": "True", "reason": "R"}, {"type": "B"}]},
        {"conditions": [{"type": "A", "status": "False"}, {"type": "C"}]},
        {
            "conditions": [
                {"type": "A", "status": "False", "reason": "R"},
                {"type": "B"},
                {"type": "C"},
            ]
        },
    ),
    "an item is deleted by its key": (
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"containers": [{"name": "a", "$patch": "delete"}]},
        {"containers": [{"name": "b"}]},
    ),
    "a list is replaced on demand": (
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"containers": [{"$patch": "replace"}, {"name": "c"}]},
        {"containers": [{"name": "c"}]},
    ),
    "an object is replaced on demand": (
        {"strategy": {"type": "RollingUpdate", "rollingUpdate": {}}},
        {"strategy": {"$patch": "replace", "type": "Recreate"}},
        {"strategy": {"type": "Recreate"}},
    ),
    "lists nest": (
        {"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y"}]}]},
        {"containers": [{"name": "a", "env": [{"name": "X", "value": "2"}]}]},
        {"containers": [{"name": "a", "env": [{"name": "X", "value": "2"}, {"name": "Y"}]}]},
    ),
    "owners merge by uid": (
        {"ownerReferences": [{"uid": "1", "name": "a"}]},
        {"ownerReferences": [{"uid": "2", "name": "b"}]},
        {"ownerReferences": [{"uid": "1", "name": "a"}, {"uid": "2", "name": "b"}]},
    ),
    "an order is not obeyed, and does no harm": (
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]},
        {"containers": [{"name": "a"}, {"name": "b"}]},
    ),
    "directives do not enter the object": (
        {},
        {"containers": [{"name": "a", "env": [{"name": "X", "$patch": "delete"}]}]},
        {"containers": [{"name": "a", "env": []}]},
    ),
}


@pytest.mark.parametrize(
    ("before", "patch", "after"), STRATEGIC_CASES.values(), ids=STRATEGIC_CASES
)
def test_strategic_merge(before: Json, patch: Json, after: Json) -> None:
    assert patched(STRATEGIC, before, patch) == after


@pytest.mark.parametrize(
    "patch",
    [
        {"containers": [{"image": "no name"}]},
        {"x": {"$patch": "explode"}},
    ],
)
def test_a_bad_strategic_patch_is_400(patch: Json) -> None:
    with pytest.raises(ApiError) as caught:
        patched(STRATEGIC, {"containers": [{"name": "a"}], "x": {}}, patch)
    assert caught.value.code == 400


JSON_CASES: list[tuple[list[Json], Json]] = [
    ([{"op": "add", "path": "/spec/b", "value": 2}], {"a": [1, 2], "b": 2}),
    ([{"op": "add", "path": "/spec/a/1", "value": 9}], {"a": [1, 9, 2]}),
    ([{"op": "add", "path": "/spec/a/-", "value": 9}], {"a": [1, 2, 9]}),
    ([{"op": "remove", "path": "/spec/a/0"}], {"a": [2]}),
    ([{"op": "replace", "path": "/spec/a", "value": {}}], {"a": {}}),
    ([{"op": "move", "from": "/spec/a", "path": "/spec/b"}], {"b": [1, 2]}),
    ([{"op": "copy", "from": "/spec/a/0", "path": "/spec/b"}], {"a": [1, 2], "b": 1}),
    ([{"op": "test", "path": "/spec/a/0", "value": 1}], {"a": [1, 2]}),
    ([{"op": "test", "path": "/spec/none", "value": None}], {"a": [1, 2]}),
    ([{"op": "add", "path": "/spec/x~1y~0z", "value": 1}], {"a": [1, 2], "x/y~z": 1}),
]


@pytest.mark.parametrize(("steps", "after"), JSON_CASES)
def test_json_patch(steps: list[Json], after: Json) -> None:
    assert patched(JSON_PATCH, {"a": [1, 2]}, steps) == after


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"op": "test", "path": "/spec/a", "value": 5}, 422),
        ({"op": "remove", "path": "/spec/none"}, 422),
        ({"op": "remove", "path": ""}, 422),
        ({"op": "move", "from": "", "path": "/spec/a"}, 422),
        ({"op": "remove", "path": "/spec/a/-"}, 422),
        ({"op": "replace", "path": "/spec/a/2", "value": 1}, 422),
        ({"op": "replace", "path": "/spec/none", "value": 1}, 422),
        ({"op": "add", "path": "/none/x", "value": 1}, 422),
        ({"op": "add", "path": "/spec/a/7", "value": 1}, 422),
        ({"op": "add", "path": "/spec/a/01", "value": 1}, 422),
        ({"op": "move", "from": "/spec", "path": "/spec/a/x"}, 422),
        ({"op": "add", "path": "/spec/b"}, 400),
        ({"op": "add", "path": "spec", "value": 1}, 400),
        ({"op": "dance", "path": "/spec"}, 400),
        ({}, 400),
    ],
)
def test_a_json_patch_that_does_not_fit(step: Json, code: int) -> None:
    with pytest.raises(ApiError) as caught:
        patched(JSON_PATCH, {"a": [1, 2]}, [step])
    assert caught.value.code == code


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "replace", "delete"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "a",
                    "name",
                    "op",
                    "path",
                    "containers",
                    "finalizers",
                    "$patch",
                    "$retainKeys",
                    "$setElementOrder/containers",
                    "$deleteFromPrimitiveList/finalizers",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


pointers = st.sampled_from(["", "/", "/spec", "/spec/a", "/spec/0", "/spec/-", "/metadata", "x"])
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"])},
    optional={"path": pointers, "from": pointers, "value": json_values},
)


@given(spec=json_values, steps=st.lists(operations, max_size=4))
def test_any_json_patch_is_applied_or_refused(spec: object, steps: list[Json]) -> None:
    """Nothing but a refusal ever comes out."""
    try:
        assert "metadata" in apply_patch(JSON_PATCH, {"metadata": {}, "spec": spec}, steps)
    except ApiError as error:
        assert error.code in (400, 422)  # noqa: PT017 - the type alone says too little


@given(
    media_type=st.sampled_from([JSON_PATCH, MERGE, STRATEGIC]), spec=json_values, patch=json_values
)
def test_any_patch_is_applied_or_refused(media_type: str, spec: object, patch: object) -> None:
    """Nothing but a refusal ever comes out."""
    obj = {"metadata": {"name": "a"}, "spec": spec}
    for body in (patch, {"spec": patch}, [patch]):
        try:
            assert "metadata" in apply_patch(media_type, obj, body)
        except ApiError as error:
            assert error.code in (400, 422)  # noqa: PT017 - the type alone says too little


def test_copies_of_copies_are_bounded() -> None:
    steps = [{"op": "copy", "from": "/spec", "path": f"/spec/{i}"} for i in range(40)]
    with pytest.raises(ApiError) as caught:
        patched(JSON_PATCH, {"a": "x" * 100}, steps)
    assert caught.value.code == 413
