"""Server-side apply: who owns what, what goes with whom, and the bodies it takes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff_demo.apply import (
    Owner,
    Owners,
    apply_config,
    decode_owners,
    encode_owners,
    fields_of,
    record_write,
)
from bailiff_demo.registry import Target
from bailiff_demo.resources import CONFIGMAPS
from tests.unit.demo.api import MERGE, Client, Json

APPLY_PATCH = "application/apply-patch+yaml"
MAP = "/api/v1/namespaces/default/configmaps/a"
NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"
# A kind without a status, so that every field may be owned.
TARGET = Target(CONFIGMAPS, "default", "a")

texts = st.text("abc", min_size=1, max_size=2)
scalars = st.one_of(texts, st.integers(0, 3), st.booleans())
items = st.lists(
    st.fixed_dictionaries({"name": texts}, optional={"image": scalars, "command": st.lists(texts)}),
    unique_by=lambda item: str(item["name"]),
    max_size=3,
)
specs = st.fixed_dictionaries(
    {},
    optional={
        "containers": items,
        "taints": st.lists(texts, max_size=2),
        "nodeSelector": st.dictionaries(texts, texts, max_size=2),
        "more": st.dictionaries(texts, scalars, max_size=2),
    },
)
metas = st.fixed_dictionaries(
    {"name": st.just("a")}, optional={"labels": st.dictionaries(texts, texts)}
)
configs = st.fixed_dictionaries({"metadata": metas}, optional={"spec": specs})


def tree_of(obj: Json) -> Any:
    """What the creator of an object owns, as FieldsV1."""
    made = deepcopy(obj)
    made.setdefault("metadata", {"name": "a"})
    record_write(TARGET, made, None, "one", NOW)
    (entry,) = made["metadata"].get("managedFields") or [{"fieldsV1": {}}]
    return entry["fieldsV1"]


@pytest.mark.parametrize(
    ("obj", "tree"),
    [
        ({"data": {"a": "1"}}, {"f:data": {"f:a": {}}}),
        ({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a", "uid": "u"}}, {}),
        ({"spec": {"taints": [{"key": "a"}]}}, {"f:spec": {"f:taints": {}}}),
        ({"spec": {"selector": {"matchLabels": {"a": "b"}}}}, {"f:spec": {"f:selector": {}}}),
        ({"spec": {"more": {}}}, {"f:spec": {"f:more": {}}}),
        (
            {"spec": {"conditions": [{"type": "X", "status": "True"}]}},
            {
                "f:spec": {
                    "f:conditions": {'k:{"type":"X"}': {".": {}, "f:type": {}, "f:status": {}}}
                }
            },
        ),
        (
            {"ports": [{"containerPort": 80}]},
            {
                "f:ports": {
                    'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}
                }
            },
        ),
        (
            {"metadata": {"ownerReferences": [{"uid": "u", "name": "n"}]}},
            {"f:metadata": {"f:ownerReferences": {'k:{"uid":"u"}': {}}}},
        ),
        # Without its key an item cannot be told from others: the list is one value.
        ({"containers": [{"image": "i"}]}, {"f:containers": {}}),
    ],
)
def test_what_an_object_says(obj: Json, tree: Json) -> None:
    assert tree_of(obj) == tree


@pytest.mark.parametrize("tree", [None, [], {"f:a": None}])
def test_what_is_no_tree_of_fields_owns_nothing(tree: Any) -> None:
    entry = {"manager": "a", "operation": "Update", "apiVersion": "v1", "fieldsV1": tree}
    assert decode_owners([entry]) == {}


def applied(live: Json, config: Json, who: str = "one", now: str = NOW) -> Json:
    return apply_config(TARGET, deepcopy(live), deepcopy(config), who, now)


def owners_of(obj: Json) -> Owners:
    return decode_owners(obj["metadata"].get("managedFields"))


def said(obj: Json) -> Json:
    """Fields that are more than an empty map, which says nothing once something is in it."""
    return {str(path): value for path, value in fields_of(obj).items() if value != {}}


@given(configs, configs)
def test_an_apply_twice_is_an_apply_once(live: Json, config: Json) -> None:
    once = applied(live, config)
    assert applied(once, config, now=LATER) == once


@given(configs, configs, configs)
def test_what_is_wanted_is_there(live: Json, first: Json, config: Json) -> None:
    after = applied(applied(live, first), config)
    assert said(config).items() <= said(after).items()


@given(configs, configs)
def test_what_is_wanted_no_more_is_gone(first: Json, second: Json) -> None:
    """Whoever applies alone from the beginning gets just what is wanted last."""
    after = applied(applied({}, first), second)
    assert said(after) == said(applied({}, second))


@given(configs, configs, configs)
def test_one_never_takes_away_what_another_applies(a: Json, b: Json, c: Json) -> None:
    two = Owner("two", "Apply", "v1")
    live = applied(applied({}, a, "two"), b)
    kept = owners_of(live)[two].fields if two in owners_of(live) else frozenset()
    after = applied(live, c)
    still = owners_of(after)[two].fields if two in owners_of(after) else frozenset()
    assert still <= kept
    assert {path for path in kept if path not in fields_of(after)} <= kept - still


@given(configs, configs, configs)
def test_every_changed_field_has_its_last_writer(first: Json, second: Json, third: Json) -> None:
    old: Json | None = None
    for manager, state in (("a", first), ("b", second), ("a", third)):
        new = deepcopy(state)
        record_write(TARGET, new, old, manager, NOW)
        old = new
    assert old is not None
    owned = [holding.fields for holding in owners_of(old).values()]
    assert frozenset().union(*owned) == frozenset(fields_of(third))
    assert sum(map(len, owned)) == len(fields_of(third))
    assert encode_owners(owners_of(old)) == (old["metadata"].get("managedFields") or [])


def test_the_time_of_an_entry_is_that_of_its_managers_last_change() -> None:
    made = config_map(x="1")
    record_write(TARGET, made, None, "one", NOW)
    changed = config_map(x="1", y="2")
    record_write(TARGET, changed, made, "two", LATER)
    times = {o.manager: h.time for o, h in owners_of(changed).items()}
    assert times == {"one": NOW, "two": LATER}


def test_an_item_goes_though_another_owns_a_field_of_it() -> None:
    both = {"containers": [{"name": "a", "image": "1"}, {"name": "side", "image": "1"}]}
    made = applied({}, {"metadata": {"name": "a"}, "spec": both})
    changed = deepcopy(made)
    changed["spec"]["containers"][1]["image"] = "2"
    record_write(TARGET, changed, made, "kubectl-set", LATER)
    one = {"containers": [{"name": "a", "image": "1"}]}
    after = applied(changed, {"metadata": {"name": "a"}, "spec": one})
    assert after["spec"] == one


def test_nobody_owns_identity() -> None:
    entry = {"manager": "one", "operation": "Apply", "apiVersion": "v1"}
    entry["fieldsV1"] = {"f:kind": {}, "f:metadata": {"f:namespace": {}}}  # type: ignore[assignment]  # JSON
    live: Json = {
        "kind": "A",
        "metadata": {"name": "a", "namespace": "d", "managedFields": [entry]},
    }
    after = applied(live, {"metadata": {"name": "a"}})
    assert (after["kind"], after["metadata"]["namespace"]) == ("A", "d")


def config_map(**data: Any) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}


async def test_nulls_are_nothing(api: Client) -> None:
    made = await api.patch(MAP, config_map(x="1", y=None), APPLY_PATCH, fieldManager="one")
    assert made["data"] == {"x": "1"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"a: &x [1]\nb: *x\n", 400),
        (b"? [1, 2]\n: 3\n", 400),
        (b"a: !!python/object:os.system {}\n", 400),
        (b"\xff\xfe", 400),
        (b"{" * 5000, 400),
        (b"[" * 5000, 400),
        (b"a: " + b"x" * 300_000, 413),
        (b'{"data": ' + b'{"a":' * 200 + b"1" + b"}" * 201, 400),
    ],
)
async def test_bodies_that_are_refused(api: Client, body: bytes, code: int) -> None:
    reply = await api.send("PATCH", MAP, body, type=APPLY_PATCH, fieldManager="one")
    assert reply.status == code, reply.raw


async def test_managed_fields_that_are_none_are_ignored(api: Client) -> None:
    await api.patch(MAP, config_map(x="1"), APPLY_PATCH, fieldManager="one")
    for broken in ("x", [1], [{"manager": 1}], [{"operation": "Apply", "apiVersion": "v1"}]):
        patch = {"metadata": {"managedFields": broken}, "data": {"x": "1"}}
        after = await api.patch(MAP, patch, MERGE)
        assert [entry["manager"] for entry in after["metadata"]["managedFields"]] == ["one"]


async def test_a_view_of_another_version_is_applied(api: Client) -> None:
    path = "/apis/resource.k8s.io/v1beta2/deviceclasses/a"
    config = {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceClass",
        "metadata": {"name": "a"},
        "spec": {"selectors": [{"cel": {"expression": "true"}}]},
    }
    made = await api.patch(path, config, APPLY_PATCH, fieldManager="one")
    assert made["apiVersion"] == "resource.k8s.io/v1beta2"
    now = await api.get("/apis/resource.k8s.io/v1/deviceclasses/a")
    assert now["spec"] == config["spec"]
    assert await api.patch(path, config, APPLY_PATCH, fieldManager="one") == made
