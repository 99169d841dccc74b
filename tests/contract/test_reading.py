"""Reading: get, list, pages, selectors, and what is answered when that cannot be done."""

from __future__ import annotations

import asyncio
import json

import pytest

from bailiff import cluster as k8s
from bailiff.clock import SystemClock
from bailiff.cluster import Cluster, ClusterSettings, Request, Selection
from bailiff.decisions import Wanted
from bailiff.kinds import Node, Pod, Taint, Toleration
from bailiff.lookup import ClusterSource, MissingError
from tests.harness.api import NODES, PODS, Api, Bench, name_of, uid_of, version_of
from tests.harness.objects import taint

pytestmark = pytest.mark.parity


async def test_says_its_version_and_that_it_is_ready(cluster: Cluster) -> None:
    version = json.loads(await cluster.send(Request("GET", "/version")))
    assert (version["major"], version["gitVersion"][:3]) == ("1", "v1.")
    assert await cluster.send(Request("GET", "/readyz", accept="*/*")) == b"ok"


async def test_get_decodes_a_pod_into_our_kinds(bench: Bench) -> None:
    toleration = {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 7}
    node = await bench.node()
    made = await bench.pod("a", node=node, tolerations=[toleration])
    pod = await bench.cluster.get(k8s.PODS, "a", bench.namespace)
    assert (pod.metadata.uid, pod.metadata.resource_version) == (uid_of(made), version_of(made))
    assert (pod.spec.node_name, pod.status.phase) == (node, "Pending")
    expected = Toleration(key="k", operator="Exists", effect="NoExecute", toleration_seconds=7)
    assert pod.spec.tolerations[0] == expected
    assert pod.metadata.creation_timestamp is not None


async def test_every_pod_is_given_the_default_tolerations(bench: Bench) -> None:
    pod = await bench.pod()
    keys = {(t["key"], t["tolerationSeconds"]) for t in pod["spec"]["tolerations"]}
    assert keys == {
        ("node.kubernetes.io/not-ready", 300),
        ("node.kubernetes.io/unreachable", 300),
    }


async def test_get_decodes_a_node_into_our_kinds(bench: Bench) -> None:
    name = await bench.node(taint("k", "v"))
    node = await bench.cluster.get(k8s.NODES, name)
    assert Taint(key="k", value="v", effect="NoExecute") in node.spec.taints


@pytest.mark.parametrize("path", ["/api/v1/namespaces/default/pods/none", "/api/v1/nodes/none"])
async def test_what_is_not_there_is_not_found(cluster: Cluster, path: str) -> None:
    with pytest.raises(k8s.NotFoundError) as caught:
        await cluster.send(Request("GET", path))
    assert (caught.value.status, caught.value.reason) == (404, "NotFound")
    assert caught.value.details["name"] == "none"
    assert path in str(caught.value)


@pytest.mark.parametrize("path", ["/api/v1/nothings", "/apis/none.example/v1/nothings"])
async def test_an_unknown_resource_is_not_found(cluster: Cluster, path: str) -> None:
    with pytest.raises(k8s.NotFoundError):
        await cluster.send(Request("GET", path))


async def test_a_list_comes_in_pages_of_one_version(api: Api, bench: Bench) -> None:
    made = {uid_of(await bench.pod()) for _ in range(5)}
    async with await api.connect(ClusterSettings(page_size=2)) as cluster:
        selection = Selection(namespace=bench.namespace)
        pages = [page async for page in cluster.pages(PODS, selection)]
        listing = await cluster.list(PODS, namespace=bench.namespace)
    assert [len(page.items) for page in pages] == [2, 2, 1]
    assert len({page.metadata.resource_version for page in pages}) == 1
    assert {uid_of(pod) for page in pages for pod in page.items} == made
    assert {uid_of(pod) for pod in listing.items} == made


async def test_a_page_that_is_too_long_is_read_in_smaller_ones(api: Api, bench: Bench) -> None:
    """From the same token, and in the same state of the cluster; short ones may be longer again."""
    made = [name_of(await bench.pod(f"a-{number}")) for number in range(4)]
    long = {"long": "x" * 30_000}
    made += [name_of(await bench.pod(f"b-{number}", annotations=long)) for number in range(6)]
    made += [name_of(await bench.pod(f"c-{number}")) for number in range(4)]
    settings = ClusterSettings(page_size=4, max_response_bytes=100_000)
    async with await api.connect(settings) as cluster:
        selection = Selection(namespace=bench.namespace)
        pages = [page async for page in cluster.pages(PODS, selection)]
    assert [name_of(pod) for page in pages for pod in page.items] == made
    assert [len(page.items) for page in pages] == [4, 1, 1, 1, 1, 1, 1, 1, 2, 1]
    assert len({page.metadata.resource_version for page in pages}) == 1


async def test_later_pages_show_the_state_of_the_first(api: Api, bench: Bench) -> None:
    made = {name_of(await bench.pod(name)) for name in ("a", "b", "c")}
    async with await api.connect(ClusterSettings(page_size=2)) as cluster:
        pages = cluster.pages(PODS, Selection(namespace=bench.namespace))
        seen = [name_of(pod) for pod in (await anext(pages)).items]
        await bench.pod("d")
        await bench.remove("c")
        seen += [name_of(pod) for pod in (await anext(pages)).items]
        await pages.aclose()
    assert set(seen) == made


async def test_an_empty_list_has_a_version(bench: Bench) -> None:
    listing = await bench.cluster.list(PODS, namespace=bench.namespace)
    assert listing.items == ()
    assert int(listing.resource_version) > 0


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("spec.nodeName={node}", {"bound", "done"}),
        ("spec.nodeName!={node}", {"free"}),
        ("spec.nodeName=", {"free"}),
        ("status.phase=Pending", {"bound", "free"}),
        ("status.phase!=Succeeded,spec.nodeName={node}", {"bound"}),
        ("metadata.name=free", {"free"}),
        ("metadata.namespace={namespace}", {"bound", "free", "done"}),
        ("spec.nodeName=none", set()),
    ],
)
async def test_field_selectors(bench: Bench, selector: str, expected: set[str]) -> None:
    node = await bench.node()
    await bench.pod("free")
    await bench.pod("bound", node=node)
    await bench.set_status(await bench.pod("done", node=node), phase="Succeeded")
    wanted = selector.format(node=node, namespace=bench.namespace)
    found = await bench.cluster.list(PODS, namespace=bench.namespace, field_selector=wanted)
    assert {name_of(pod) for pod in found.items} == expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("app=web", {"web"}),
        ("app!=web", {"db", "bare"}),
        ("app in (web,db)", {"web", "db"}),
        ("app notin (web)", {"db", "bare"}),
        ("app", {"web", "db"}),
        ("!app", {"bare"}),
        ("app=web,tier=front", {"web"}),
        ("app=web,tier=back", set()),
    ],
)
async def test_label_selectors(bench: Bench, selector: str, expected: set[str]) -> None:
    await bench.pod("web", labels={"app": "web", "tier": "front"})
    await bench.pod("db", labels={"app": "db"})
    await bench.pod("bare")
    found = await bench.cluster.list(PODS, namespace=bench.namespace, label_selector=selector)
    assert {name_of(pod) for pod in found.items} == expected


@pytest.mark.parametrize(
    "query",
    [
        {"fieldSelector": "spec.unknown=1"},
        {"fieldSelector": "nonsense"},
        {"labelSelector": "a in"},
        {"continue": "nonsense", "limit": "1"},
        {"limit": "many"},
    ],
)
async def test_a_senseless_list_is_a_bad_request(cluster: Cluster, query: dict[str, str]) -> None:
    with pytest.raises(k8s.BadRequestError) as caught:
        await cluster.send(Request("GET", "/api/v1/pods", query))
    assert caught.value.reason == "BadRequest"


async def test_a_version_that_is_yet_to_come_times_out(
    cluster: Cluster,
) -> None:
    query = {"resourceVersion": "999999999", "resourceVersionMatch": "NotOlderThan"}
    with pytest.raises(k8s.ServerError) as caught:
        await cluster.send(Request("GET", "/api/v1/pods", query))
    assert (caught.value.status, caught.value.reason) == (504, "Timeout")
    assert caught.value.retry_after == 1


async def test_a_forgotten_page_is_gone_and_the_list_starts_over(api: Api, bench: Bench) -> None:
    made = {name_of(await bench.pod()) for _ in range(4)}
    async with await api.connect(ClusterSettings(page_size=1)) as cluster:
        selection = Selection(namespace=bench.namespace)
        pages = cluster.pages(PODS, selection)
        await anext(pages)
        await bench.pod("late")
        await api.forget_history()
        with pytest.raises(k8s.ExpiredError) as caught:
            await anext(pages)
        listing = await cluster.list(PODS, namespace=bench.namespace)
    assert (caught.value.status, caught.value.reason) == (410, "Expired")
    assert {name_of(pod) for pod in listing.items} == made | {"late"}


async def test_what_a_person_asks_for_is_found(bench: Bench) -> None:
    source = ClusterSource(bench.cluster, SystemClock())
    node, other = await asyncio.gather(bench.node(), bench.node())
    await bench.pod("here", node=node)
    await bench.pod("there", node=other)
    assert (await source.get(Pod, "here", bench.namespace)).spec.node_name == node
    assert (await source.get(Node, node)).metadata.name == node
    on_node = await source.see(Wanted(Pod, fields=(("spec.nodeName", node),)))
    assert [pod.metadata.name for pod in on_node if isinstance(pod, Pod)] == ["here"]
    assert await source.see(Wanted(Pod, fields=(("spec.nodeName", "no-such,node=x"),))) == ()
    with pytest.raises(MissingError):
        await source.get(Node, "no-such-node")


async def test_a_name_cannot_climb_out_of_its_path(bench: Bench) -> None:
    with pytest.raises(k8s.StatusError) as caught:
        await bench.cluster.get(PODS, "../../../nodes", bench.namespace)
    assert caught.value.status in {400, 404}
    with pytest.raises(ValueError, match="cannot be part of a path"):
        await bench.cluster.get(NODES, "..")
