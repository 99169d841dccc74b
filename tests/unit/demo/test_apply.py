"""Server-side apply: paths and owners as values, then over the wire and by kubectl's rules."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.embedded.apply import (
    APPLY,
    UPDATE,
    Owner,
    Owners,
    after_write,
    apply_config,
    decode_owners,
    encode_owners,
)
from bailiff.embedded.apply.fields import decode_fields, encode_fields, fields_of, text_of
from tests.unit.embedded.api import MERGE, PODS, Client, Json, pod

APPLY_PATCH = "application/apply-patch+yaml"
MAP = "/api/v1/namespaces/default/configmaps/a"
NOW = "2026-01-01T00:00:00Z"
ONE, TWO = Owner("one", APPLY, "v1"), Owner("two", APPLY, "v1")

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
    {"name": st.just("a")},
    optional={
        "finalizers": st.lists(texts, unique=True),
        "labels": st.dictionaries(texts, texts),
    },
)
configs = st.fixed_dictionaries({"metadata": metas}, optional={"spec": specs})


@pytest.mark.parametrize(
    ("obj", "tree"),
    [
        ({"data": {"a": "1"}}, {"f:data": {"f:a": {}}}),
        ({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a", "uid": "u"}}, {}),
        ({"spec": {"taints": [{"key": "a"}]}}, {"f:spec": {"f:taints": {}}}),
        ({"metadata": {"finalizers": ["a/b"]}}, {"f:metadata": {"f:finalizers": {'v:"a/b"': {}}}}),
        ({"spec": {"selector": {"matchLabels": {"a": "b"}}}}, {"f:spec": {"f:selector": {}}}),
        ({"spec": {"more": {}}}, {"f:spec": {"f:more": {}}}),
        (
            {"status": {"conditions": [{"type": "X", "status": "True"}]}},
            {
                "f:status": {
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
        ({"imagePullSecrets": [{"name": "a"}]}, {"f:imagePullSecrets": {}}),
        (
            {"spec": {"imagePullSecrets": [{"name": "a"}]}},
            {"f:spec": {"f:imagePullSecrets": {'k:{"name":"a"}': {}}}},
        ),
    ],
)
def test_what_an_object_says(obj: Json, tree: Json) -> None:
    assert encode_fields(frozenset(fields_of(obj))) == tree


@given(configs)
def test_fields_go_there_and_back(config: Json) -> None:
    paths = frozenset(fields_of(config))
    assert decode_fields(encode_fields(paths)) == paths


@pytest.mark.parametrize("tree", [None, [], {"x": {}}, {"f:a": None}])
def test_what_is_no_tree_of_fields(tree: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        decode_fields(tree)
    entry = {"manager": "a", "operation": UPDATE, "apiVersion": "v1", "fieldsV1": tree}
    assert decode_owners([entry]) == {}


def test_paths_are_named_as_messages_do() -> None:
    fields = fields_of({"spec": {"containers": [{"name": "a"}]}, "metadata": {"finalizers": ["b"]}})
    assert {text_of(path) for path in fields} == {
        '.spec.containers[name="a"]',
        '.spec.containers[name="a"].name',
        '.metadata.finalizers[="b"]',
    }


def applied(live: Json, config: Json, owners: Owners, who: Owner = ONE) -> tuple[Json, Owners]:
    result = apply_config(deepcopy(live), config, owners, who, NOW)
    return result.object, result.owners


@given(configs, configs)
def test_an_apply_twice_is_an_apply_once(live: Json, config: Json) -> None:
    once, owners = applied(live, config, {})
    assert applied(once, config, owners) == (once, owners)


@given(configs, configs, configs)
def test_what_is_wanted_is_there(live: Json, first: Json, config: Json) -> None:
    once, owners = applied(live, first, {})
    after, _ = applied(once, config, owners)
    assert said(config).items() <= said(after).items()


def said(obj: Json) -> Json:
    """Fields that are more than an empty map, which says nothing once something is in it."""
    return {text_of(path): value for path, value in fields_of(obj).items() if value != {}}


@given(configs, configs)
def test_what_is_wanted_no_more_is_gone(first: Json, second: Json) -> None:
    """Whoever applies alone from the beginning gets just what is wanted last."""
    once, owners = applied({}, first, {})
    after, _ = applied(once, second, owners)
    assert said(after) == said(applied({}, second, {})[0])


@given(configs, configs, configs)
def test_one_never_takes_away_what_another_applies(a: Json, b: Json, c: Json) -> None:
    live, owners = applied({}, a, {}, TWO)
    live, owners = applied(live, b, owners)
    kept = owners[TWO].fields if TWO in owners else frozenset()
    after, owners = applied(live, c, owners)
    still = owners[TWO].fields if TWO in owners else frozenset()
    assert still <= kept
    assert {path for path in kept if path not in fields_of(after)} <= kept - still


@given(configs, configs, configs)
def test_a_conflict_is_a_change_of_what_another_owns(a: Json, b: Json, c: Json) -> None:
    live, owners = applied({}, a, {}, TWO)
    result = apply_config(live, b, owners, ONE, NOW)
    before, after = fields_of(live), fields_of(result.object)
    for conflict in result.conflicts:
        assert conflict.owner == TWO
        assert conflict.path in owners[TWO].fields
        assert before.get(conflict.path, "absent") != after[conflict.path]
    assert applied(result.object, c, result.owners)


@given(configs, configs, configs)
def test_every_changed_field_has_its_writer(first: Json, second: Json, third: Json) -> None:
    writer, other = Owner("a", UPDATE, "v1"), Owner("b", UPDATE, "v1")
    owners = after_write({}, {}, fields_of(first), writer, NOW)
    owners = after_write(owners, fields_of(first), fields_of(second), other, NOW)
    owners = after_write(owners, fields_of(second), fields_of(third), writer, NOW)
    owned = [holding.fields for holding in owners.values()]
    assert frozenset().union(*owned) == frozenset(fields_of(third))
    assert sum(map(len, owned)) == len(fields_of(third))
    assert decode_owners(encode_owners(owners)) == owners


def test_writers_are_bounded() -> None:
    owners: Owners = {}
    obj: Json = {}
    for index in range(30):
        before, obj = obj, {**obj, f"x{index}": index}
        writer = Owner(f"w{index}", UPDATE, "v1")
        time = f"2026-01-01T00:00:{index:02}Z"
        owners = after_write(owners, fields_of(before), fields_of(obj), writer, time)
    assert len(owners) == 10
    assert Owner("w29", UPDATE, "v1") in owners
    assert Owner("ancient-changes", UPDATE, "v1") in owners
    assert {path for holding in owners.values() for path in holding.fields} == set(fields_of(obj))


def config_map(**data: Any) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}


async def test_a_duplicate_key_is_refused(api: Client) -> None:
    config = pod() | {"apiVersion": "v1", "kind": "Pod"}
    config["spec"]["containers"] *= 2
    status = await api.refused("PATCH", f"{PODS}/a", config, type=APPLY_PATCH, fieldManager="one")
    assert status["code"] == 400
    assert '.spec.containers: duplicate entries for key [name="c"]' in status["message"]


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


async def test_times_in_yaml_are_text(api: Client) -> None:
    body = (
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: 2020-01-01T00:00:00Z}\n"
    )
    reply = await api.send("PATCH", MAP, body, type=APPLY_PATCH, fieldManager="one")
    assert reply.status == 201, reply.raw
    assert reply.body["data"] == {"x": "2020-01-01T00:00:00Z"}


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
    again = await api.patch(path, config, APPLY_PATCH, fieldManager="one")
    assert again == made
