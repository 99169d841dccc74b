"""kube-scheduler's extender over REST: its exact JSON, in both forms."""

import json
from typing import Any

import msgspec
import pytest
from fastapi import FastAPI
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.decisions.cost import QUICK_STEPS
from bailiff.decisions.scheduling import planning
from bailiff.kinds import Node, NodeSpec, Taint
from bailiff.lookup import UnavailableError
from bailiff.rest_api import RestSettings, create_app
from tests.harness.faces.asgi import Answer, call
from tests.harness.faces.rest_face import CLOCK
from tests.harness.kinds import no_execute, node_of
from tests.harness.lookups import DictSource
from tests.harness.pools import where_asked

PREFIX = "/scheduler/extender/v1"
POD = {"metadata": {"name": "web", "namespace": "shop", "uid": "u"}}
PATIENT = POD | {
    "spec": {"tolerations": [{"key": "spot", "operator": "Exists", "tolerationSeconds": 60}]}
}
FREE = {"metadata": {"name": "free"}}
TAINTED = {
    "metadata": {"name": "tainted"},
    "spec": {"taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]},
}
CORDONED = {"metadata": {"name": "cordoned"}, "spec": {"unschedulable": True}}
REFUSED = "node(s) had untolerated taint(s): gpu=a:NoSchedule"


def tainted(name: str, key: str, effect: str) -> Node:
    return node_of(name, Taint(key=key, effect=effect))


async def ask(app: FastAPI, verb: str, body: object) -> Any:
    answer = await call(app, "POST", f"{PREFIX}/{verb}", body)
    assert answer.status == 200, answer.body
    return answer.json


def whole(*nodes: object, pod: object = POD) -> dict[str, Any]:
    # As Go writes what kube-scheduler leaves out.
    items = list(nodes) or None
    return {"Pod": pod, "Nodes": {"metadata": {}, "items": items}, "NodeNames": None}


def named(*names: str, pod: object = POD) -> dict[str, Any]:
    return {"Pod": pod, "Nodes": None, "NodeNames": list(names)}


async def test_filter_names_in_which_nodes_the_pod_may_be_put(app: FastAPI) -> None:
    answer = await ask(app, "filter", whole(FREE, TAINTED, CORDONED))
    assert answer == {
        "Nodes": {"items": [FREE]},
        "FailedAndUnresolvableNodes": {
            "tainted": REFUSED,
            "cordoned": "node(s) were unschedulable",
        },
    }


async def test_nodes_go_back_byte_for_byte(app: FastAPI) -> None:
    node = (
        b'{"metadata":{"name" : "free","managedFields":[{"time":"2026-01-01T00:00:00.1234567891Z"}]'
        b',"annotations":{"x":"\\u00e9\\u003c"}},"odd":[ 1.50e0,null ]}'
    )
    body = b'{"Pod":{},"NodeNames":null,"Nodes":{"items":[ %b ,%b]}}' % (node, b'{"metadata":null}')
    refused = await call(app, "POST", f"{PREFIX}/filter", body)
    assert refused.json["errors"][0]["path"] == "$.Nodes.items[1].metadata.name"
    body = body.replace(b',{"metadata":null}', b"")
    answer = await call(app, "POST", f"{PREFIX}/filter", body)
    assert answer.body == b'{"Nodes":{"items":[%b]}}' % node


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (b'"Nodes":null,"Nodes":%b', {"Nodes": {"items": [FREE]}}),
        (b'"Nodes":%b,"Nodes":{"items":[]}', {"Nodes": {}}),
        (b'"Nodes":%b,"Nodes":null', None),
    ],
)
async def test_of_a_key_that_stands_twice_the_last_counts(
    app: FastAPI, keys: bytes, expected: object
) -> None:
    body = b'{"Pod":{},' + keys % b'{"items":[{"metadata":{"name":"free"}}]}' + b"}"
    answer = await call(app, "POST", f"{PREFIX}/filter", body)
    assert answer.status == (400 if expected is None else 200)
    if expected is not None:
        assert answer.json == expected


async def test_names_are_looked_up(app: FastAPI, source: DictSource) -> None:
    source.add(node_of("free"), tainted("tainted", "gpu", "NoSchedule"))
    answer = await ask(app, "filter", named("free", "tainted", "gone"))
    assert answer == {
        "NodeNames": ["free"],
        "FailedNodes": {"gone": "node(s) that Bailiff does not find in its cluster"},
        "FailedAndUnresolvableNodes": {
            "tainted": "node(s) had untolerated taint(s): gpu:NoSchedule"
        },
    }


async def test_none_are_left(app: FastAPI, source: DictSource) -> None:
    source.add(tainted("another", "gpu", "NoSchedule"))
    assert (await ask(app, "filter", whole()))["Nodes"] == {}
    assert (await ask(app, "filter", named()))["NodeNames"] == []
    assert await ask(app, "prioritize", named()) == []
    answer = await ask(app, "filter", named("gone"))
    assert answer.keys() == {"NodeNames", "FailedNodes"}
    assert (answer["NodeNames"], [*answer["FailedNodes"]]) == ([], ["gone"])


async def test_prioritize_gives_points_by_preference(app: FastAPI, source: DictSource) -> None:
    worst, middle = tainted("worst", "dear", "PreferNoSchedule"), node_of("middle")
    middle = replace(middle, spec=NodeSpec(taints=(no_execute("spot"),)))
    source.add(worst, middle, node_of("best"), tainted("closed", "gpu", "NoSchedule"))
    names = ("worst", "middle", "best", "closed", "gone")
    found = await ask(app, "prioritize", named(*names, pod=PATIENT))
    assert found == [
        {"Host": "worst", "Score": 0},
        {"Host": "middle", "Score": 5},
        {"Host": "best", "Score": 10},
        {"Host": "closed", "Score": 0},
        {"Host": "gone", "Score": 0},
    ]
    assert await ask(app, "prioritize", whole(FREE)) == [{"Host": "free", "Score": 10}]


async def test_preempt_drops_nodes_where_the_pod_could_not_stay(
    app: FastAPI, source: DictSource
) -> None:
    source.add(node_of("free"), tainted("tainted", "gpu", "NoSchedule"))
    source.add(node_of("evicting", no_execute("spot")))
    at_once = {"tolerations": [{"operator": "Exists", "tolerationSeconds": 0}]}
    victims = {"Pods": [{"UID": "v"}], "NumPDBViolations": 2}
    body: dict[str, Any] = {
        "Pod": POD,
        "NodeNameToVictims": None,
        "NodeNameToMetaVictims": dict.fromkeys(("free", "tainted", "gone"), victims),
    }
    expected = {"NodeNameToMetaVictims": {"free": victims, "gone": victims}}
    assert await ask(app, "preempt", body) == expected
    pods = {"Pods": [{"metadata": {"uid": "v", "name": "v"}}], "NumPDBViolations": 2}
    body = {"Pod": POD, "NodeNameToVictims": dict.fromkeys(("free", "tainted", "gone"), pods)}
    assert await ask(app, "preempt", body) == expected
    body = {"Pod": POD | {"spec": at_once}, "NodeNameToMetaVictims": {"evicting": victims}}
    assert await ask(app, "preempt", body) == {"NodeNameToMetaVictims": {}}


async def refused(app: FastAPI, verb: str, body: object) -> tuple[int, str, str]:
    answer: Answer = await call(app, "POST", f"{PREFIX}/{verb}", body)
    return answer.status, answer.json["code"], answer.json["detail"]


EITHER = "either Nodes or NodeNames is to be given, and not both"
MISSPELT = (
    "'pod' is to be written Pod; 'nodenames' is to be written NodeNames; "
    "'NODES' is to be written Nodes"
)
TOLERATING = {"tolerations": [{"tolerationSeconds": "x"}]}


@pytest.mark.parametrize(
    ("verb", "body", "code", "detail"),
    [
        ("filter", {}, "wrong_shape", "$.Pod: required, and missing or null"),
        (
            "filter",
            {"pod": {}, "nodenames": [], "NODES": 5, "podd": 1},
            "wrong_shape",
            f"$.Pod: required, and missing or null; {MISSPELT}",
        ),
        (
            "filter",
            {"Pod": POD, "nodeNames": []},
            "wrong_shape",
            f"$.Nodes: {EITHER}; 'nodeNames' is to be written NodeNames",
        ),
        ("filter", {"Pod": POD}, "wrong_shape", f"$.Nodes: {EITHER}"),
        ("filter", whole(FREE) | {"NodeNames": []}, "wrong_shape", f"$.Nodes: {EITHER}"),
        ("filter", [], "wrong_shape", "$: Expected `object`, got `array`"),
        ("prioritize", named() | {"NodeNames": [5]}, "wrong_shape", "$.NodeNames[0]: Expected"),
        (
            "prioritize",
            named(pod={"spec": TOLERATING}),
            "wrong_shape",
            "$.Pod.spec.tolerations[0].tolerationSeconds: Expected `int | null`, got `str`",
        ),
        ("preempt", {"Pod": POD}, "wrong_shape", "$.NodeNameToVictims: either NodeNameToVictims"),
        (
            "preempt",
            {"Pod": POD, "NodeNameToMetaVictims": {"n": {"Pods": [{"UID": 5}]}}},
            "wrong_shape",
            '$.NodeNameToMetaVictims["n"].Pods[0].UID: Expected',
        ),
        (
            "filter",
            b'{"pod": ' + b"[" * 2000 + b"]" * 2000 + b"}",
            "malformed_body",
            "$: nested deeper than",
        ),
        ("filter", b"{", "malformed_body", "$: Input data was truncated"),
    ],
)
async def test_wrong_shapes_are_told(
    app: FastAPI, verb: str, body: object, code: str, detail: str
) -> None:
    found = await refused(app, verb, body)
    assert found[:2] == (400, code)
    assert found[2].startswith(detail)
    assert ("is to be written" in found[2]) == ("is to be written" in detail)
    assert "podd" not in found[2]


async def test_a_long_body_is_refused_in_the_same_words(app: FastAPI) -> None:
    nodes: list[dict[str, Any]] = [
        {"metadata": {"name": f"node-{number}", "labels": {"x": "y" * 200}}}
        for number in range(2000)
    ]
    assert len((await ask(app, "filter", whole(*nodes)))["Nodes"]["items"]) == 2000
    nodes[-1].update(spec={"taints": [{"key": 5}]})
    said = "$.Nodes.items[1999].spec.taints[0].key: Expected `str | null`, got `int`"
    assert await refused(app, "filter", whole(*nodes)) == (400, "wrong_shape", said)


async def test_a_cluster_that_cannot_be_read(app: FastAPI, source: DictSource) -> None:
    source.errors[Node] = UnavailableError("the nodes could not be read")
    answer = await ask(app, "filter", named("free"))
    assert answer == {"Error": "Bailiff: the nodes could not be read"}
    said = await refused(app, "prioritize", named("free"))
    assert said == (503, "cluster_unavailable", "the nodes could not be read")


async def test_no_cluster() -> None:
    app = create_app(RestSettings(), CLOCK, CollectorRegistry(), Options())
    assert "no cluster to read" in (await ask(app, "filter", named("free")))["Error"]
    assert (await refused(app, "prioritize", named("free")))[:2] == (503, "no_cluster")
    empty = {"Pod": POD, "NodeNameToMetaVictims": {}}
    assert await ask(app, "preempt", empty) == {"NodeNameToMetaVictims": {}}
    assert (await ask(app, "filter", whole(FREE)))["Nodes"] == {"items": [FREE]}


async def test_what_is_too_much_to_compare_is_refused(app: FastAPI) -> None:
    taints = [{"key": f"k{n}", "effect": "NoSchedule"} for n in range(1000)]
    pod = {"spec": {"tolerations": [{"key": f"t{n}", "effect": "NoSchedule"} for n in range(1000)]}}
    node = {"metadata": {"name": "n"}, "spec": {"taints": taints}}
    status, code, said = await refused(app, "filter", whole(node, pod=pod))
    assert (status, code) == (400, "wrong_shape")
    assert said.startswith("$.Nodes: needs ")


@pytest.mark.parametrize(("steps", "where"), [(QUICK_STEPS, "loop"), (0, "thread")])
async def test_nodes_that_take_long_to_look_at_keep_nobody_waiting(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, steps: int, where: str
) -> None:
    seen = where_asked(monkeypatch)
    monkeypatch.setattr(planning, "QUICK_STEPS", steps)
    await ask(app, "filter", whole(FREE))
    assert seen == [where]


async def test_requests_are_counted_by_route(app: FastAPI, registry: CollectorRegistry) -> None:
    await ask(app, "filter", whole(FREE))
    labels = {"method": "POST", "route": f"{PREFIX}/filter", "status": "200"}
    assert registry.get_sample_value("bailiff_rest_requests_total", labels) == 1


def test_an_answer_is_what_go_reads() -> None:
    document: Any = create_app(RestSettings(), CLOCK, CollectorRegistry(), Options()).openapi()
    operation = document["paths"][f"{PREFIX}/preempt"]["post"]
    shown = operation["responses"]["200"]["content"]["application/json"]["examples"]
    victims = {"Pods": [{"UID": "u-2"}]}
    assert shown["names"]["value"] == {"NodeNameToMetaVictims": {"node-1": victims}}
    assert json.loads(msgspec.json.encode(shown)) == shown
