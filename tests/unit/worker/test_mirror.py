"""What the mirror holds, and what it tells of, whatever the watches say."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import msgspec
from hypothesis import given

from bailiff.cluster import Changed, Deleted, Replaced
from bailiff.kinds import Node, Pod
from bailiff.worker.mirror import Mirror, PodKey, pod_key
from tests.harness.kinds import node_of, pod_of


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.known: dict[str, Pod] = {}
        self.gone: list[Pod] = []

    def node_changed(self, name: str) -> None:
        self.nodes.append(name)

    def pod_changed(self, key: PodKey, pod: Pod) -> None:
        assert pod_key(pod) == key
        self.known[pod.metadata.uid] = pod

    def all_listed(self) -> None:
        """Of no interest here."""

    def pod_gone(self, pod: Pod) -> None:
        del self.known[pod.metadata.uid]
        self.gone.append(pod)


async def mirrored(*pods: Pod) -> tuple[Mirror, Listener]:
    """A mirror that has been told of these pods."""
    listener = Listener()
    mirror = Mirror(listener)
    await tell(mirror.apply_pod, Replaced(pods, "1"))
    return mirror, listener


async def tell(apply: Callable[[Any], Any], event: Any) -> None:
    """Have it taken in, however long that takes."""
    taken = apply(event)
    if taken is not None:
        await taken


def pod(name: str = "a", node: str = "n1", uid: str = "", phase: str = "Running") -> Pod:
    return pod_of(name, node, uid=uid or f"uid-{name}", phase=phase)


async def test_a_list_without_a_pod_says_that_it_is_gone() -> None:
    stays, goes = pod("stays"), pod("goes")
    mirror, listener = await mirrored(stays, goes)
    await tell(mirror.apply_pod, Replaced((stays,), "2"))
    assert mirror.pod(pod_key(goes)) is None
    assert list(mirror.pods_on("n1")) == [stays]
    assert (mirror.pod_count, mirror.pods_in("default"), listener.gone) == (1, 1, [goes])


async def test_one_update_that_brings_another_uid_says_that_the_first_pod_is_gone() -> None:
    first, second = pod(uid="first"), pod(uid="second")
    mirror, listener = await mirrored(first)
    await tell(mirror.apply_pod, Changed(second))
    assert (listener.gone, list(listener.known)) == ([first], ["second"])
    assert list(mirror.pods_on("n1")) == [second]
    assert mirror.pods_in("default") == 1


async def test_a_pod_that_is_bound_leaves_no_trace_where_it_was() -> None:
    mirror, _ = await mirrored(pod(node="n1"))
    moved = pod(node="n2")
    await tell(mirror.apply_pod, Changed(moved))
    assert (list(mirror.pods_on("n1")), list(mirror.pods_on("n2"))) == ([], [moved])
    assert list(mirror.node_names()) == ["n2"]


async def test_a_deletion_of_what_was_never_seen_changes_nothing() -> None:
    mirror, listener = await mirrored(pod("a"))
    await tell(mirror.apply_pod, Deleted(pod("b")))
    await tell(mirror.apply_node, Deleted(node_of("n9")))
    assert (mirror.pod_count, mirror.node_count, listener.gone) == (1, 0, [])


async def test_a_list_of_nodes_tells_of_those_that_came_and_of_those_that_went() -> None:
    mirror, listener = await mirrored(pod(node="n9"))
    n1, n2, n3 = (node_of(name) for name in ("n1", "n2", "n3"))
    await tell(mirror.apply_node, Replaced((n1, n2), "1"))
    listener.nodes.clear()
    await tell(mirror.apply_node, Replaced((n2, n3), "2"))
    assert sorted(listener.nodes) == ["n1", "n2", "n3"]
    assert (mirror.node("n1"), list(mirror.nodes())) == (None, [n2, n3])
    assert sorted(mirror.node_names()) == ["n2", "n3", "n9"]


async def test_it_is_synced_when_both_kinds_have_been_listed() -> None:
    mirror = Mirror(Listener())
    await tell(mirror.apply_node, Changed(node_of("n1")))
    await tell(mirror.apply_pod, Changed(pod()))
    assert not mirror.synced
    await tell(mirror.apply_pod, Replaced((), "1"))
    assert (mirror.pods_synced, mirror.synced) == (True, False)
    await tell(mirror.apply_node, Replaced((), "1"))
    assert (mirror.nodes_synced, mirror.synced) == (True, True)


PODS = st.builds(
    pod,
    name=st.sampled_from("abc"),
    node=st.sampled_from(["", "n1", "n2"]),
    uid=st.sampled_from(["x", "y"]),
    phase=st.sampled_from(["Pending", "Running", "Failed", "Succeeded"]),
).map(lambda one: msgspec.structs.replace(one, metadata=_own_uid(one)))


def _own_uid(one: Pod) -> Any:
    # A UID belongs to one name for ever.
    meta = one.metadata
    return msgspec.structs.replace(meta, uid=f"{meta.uid}-{meta.name}")


LISTS = st.lists(PODS, unique_by=pod_key).map(lambda pods: Replaced(tuple(pods), "1"))
NODES = st.sampled_from(["n1", "n2"]).map(node_of)
EVENTS = st.lists(
    st.one_of(PODS.map(Changed), PODS.map(Deleted), LISTS, NODES.map(Changed), NODES.map(Deleted))
)


@given(EVENTS)
def test_it_holds_what_a_plain_dictionary_would(events: list[Any]) -> None:
    with asyncio.Runner() as runner:
        runner.run(_compare_while_told(events))


async def _compare_while_told(events: list[Any]) -> None:
    mirror, listener = await mirrored()
    pods: dict[PodKey, Pod] = {}
    nodes: dict[str, Node] = {}
    for event in events:
        if not isinstance(event, Replaced) and isinstance(event.object, Node):
            await tell(mirror.apply_node, event)
            _follow(nodes, event.object.metadata.name, event)
            continue
        await tell(mirror.apply_pod, event)
        if isinstance(event, Replaced):
            pods = {pod_key(one): one for one in event.items}
        else:
            _follow(pods, pod_key(event.object), event)
        assert listener.known == {one.metadata.uid: one for one in pods.values()}
    _compare(mirror, pods, nodes)


def _follow(objects: dict[Any, Any], key: Any, event: Changed[Any] | Deleted[Any]) -> None:
    if isinstance(event, Changed):
        objects[key] = event.object
    else:
        objects.pop(key, None)


def _compare(mirror: Mirror, pods: dict[PodKey, Pod], nodes: dict[str, Node]) -> None:
    assert {key: mirror.pod(key) for key in pods} == pods
    assert (mirror.pod_count, mirror.node_count) == (len(pods), len(nodes))
    used = Counter(one.spec.node_name for one in pods.values())
    for name in ("n1", "n2"):
        assert mirror.node(name) == nodes.get(name)
        assert len(mirror.pods_on(name)) == used[name]
        assert all(one.spec.node_name == name for one in mirror.pods_on(name))
    assert set(mirror.node_names()) == nodes.keys() | (used.keys() - {""})
    assert mirror.pods_in("default") == sum(not one.is_finished for one in pods.values())
