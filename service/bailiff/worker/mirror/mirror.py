"""The nodes and pods of the cluster, as last seen, indexed by node.

Fed by list and watch, read by the evaluator. Listeners hear of every change after it has been
made, one after the other; what the change means is their business.

A list of all pods is taken in by slices, so that others have their turn meanwhile. They see each
pod as it was or as it is now, never neither: who vanished is dropped, all others are put over what
was there. Events that come meanwhile wait, because whoever feeds the mirror awaits each call.

An object that cannot be decoded is dropped too: nobody may act on what it was before. Without a
pod's entry there is no eviction of it; of such a node the name is kept, so that nobody takes it for
gone.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from bailiff.cluster import Changed, Deleted, Replaced, Unreadable
from bailiff.worker.mirror.slices import in_slices

if TYPE_CHECKING:
    from collections.abc import Iterator, ValuesView

    from bailiff.cluster import WatchEvent
    from bailiff.kinds import Node, Pod

PodKey = tuple[str, str]


def pod_key(pod: Pod) -> PodKey:
    """Namespace and name."""
    return pod.metadata.namespace, pod.metadata.name


class NodeListener(Protocol):
    """Who wants to know of nodes."""

    def nodes_relisted(self) -> None:
        """All nodes are about to be told of anew: what happened to them meanwhile, nobody knows."""

    def node_changed(self, name: str, node: Node | None) -> None:
        """The node appeared or changed; None: it went, or cannot be read.

        One that is another under the name of the old is told of twice: as None, then as it is.
        """


class PodListener(Protocol):
    """Who wants to know of pods."""

    def pod_changed(self, key: PodKey, pod: Pod) -> None:
        """The pod appeared or changed."""

    def pod_gone(self, pod: Pod) -> None:
        """The pod of this UID is no more, or cannot be read; another of its name may be there."""


class Mirror:
    """All nodes and pods. Not thread-safe: one event loop owns it."""

    def __init__(self) -> None:
        """Start empty, with nobody to tell."""
        self._node_listeners: list[NodeListener] = []
        self._pod_listeners: list[PodListener] = []
        self._nodes: dict[str, Node] = {}
        self._unreadable_nodes: set[str] = set()
        self._pods: dict[PodKey, Pod] = {}
        self._by_node: dict[str, dict[PodKey, Pod]] = {}
        self._unfinished: dict[str, int] = {}
        self.nodes_synced = False
        self.pods_synced = False
        # Set once both have been listed.
        self.listed = asyncio.Event()

    def listen_to_nodes(self, listener: NodeListener) -> None:
        """Tell this one of every change of a node, after those that listen already."""
        self._node_listeners.append(listener)

    def listen_to_pods(self, listener: PodListener) -> None:
        """Tell this one of every change of a pod, after those that listen already."""
        self._pod_listeners.append(listener)

    @property
    def synced(self) -> bool:
        """Both kinds have been listed once: from now on absence means something."""
        return self.nodes_synced and self.pods_synced

    @property
    def node_count(self) -> int:
        """How many nodes."""
        return len(self._nodes)

    @property
    def pod_count(self) -> int:
        """How many pods."""
        return len(self._pods)

    def node(self, name: str) -> Node | None:
        """One node."""
        return self._nodes.get(name)

    def is_unreadable(self, node: str) -> bool:
        """The node is there, and what it says cannot be decoded."""
        return node in self._unreadable_nodes

    def pod(self, key: PodKey) -> Pod | None:
        """One pod."""
        return self._pods.get(key)

    def pods_on(self, node: str) -> ValuesView[Pod]:
        """The pods bound to a node; copy them before others have their turn."""
        return self._by_node.get(node, {}).values()

    def pods_in(self, namespace: str) -> int:
        """How many pods of a namespace have not finished; terminating ones have not."""
        return self._unfinished.get(namespace, 0)

    def nodes(self) -> ValuesView[Node]:
        """All nodes."""
        return self._nodes.values()

    def node_names(self) -> Iterator[str]:
        """The nodes that there are, and those that pods say they run on."""
        yield from self._nodes
        yield from (name for name in self._by_node if name not in self._nodes)

    async def apply_node(self, event: WatchEvent[Node]) -> None:
        """Take in what the watch of nodes told; one call after the other."""
        match event:
            case Replaced():
                self._replace_nodes(event)
            case Changed(object=node):
                self._put_node(node)
            case Deleted(object=node):
                self._drop_node(node.metadata.name)
            case Unreadable(metadata=metadata, deleted=deleted):
                self._drop_node(metadata.name, unreadable=not deleted)

    async def apply_pod(self, event: WatchEvent[Pod]) -> None:
        """Take in what the watch of pods told; one call after the other."""
        match event:
            case Replaced(items=items):
                await self._replace_pods(items)
            case Changed(object=pod):
                self._put_pod(pod)
            case Deleted(object=pod):
                self._drop_pod(pod_key(pod))
            case Unreadable(metadata=metadata):
                self._drop_pod((metadata.namespace, metadata.name))

    def _replace_nodes(self, whole: Replaced[Node]) -> None:
        # In one go: breakers that judge half of the nodes would judge wrongly, and 5,000 nodes
        # take some milliseconds.
        for listener in self._node_listeners:
            listener.nodes_relisted()
        present = {node.metadata.name for node in whole.items}
        unreadable = {one.metadata.name for one in whole.unreadable}
        for name in (self._nodes.keys() | self._unreadable_nodes | unreadable) - present:
            self._drop_node(name, unreadable=name in unreadable)
        for node in whole.items:
            self._put_node(node)
        self.nodes_synced = True
        self._note_listed()

    def _put_node(self, node: Node) -> None:
        name, old = node.metadata.name, self._nodes.get(node.metadata.name)
        if old is not None and old.metadata.uid != node.metadata.uid:
            # Its name alone has come back; nobody may go by what was known of the one that went.
            self._drop_node(name)
        self._unreadable_nodes.discard(name)
        self._nodes[name] = node
        self._tell_of_node(name, node)

    def _drop_node(self, name: str, *, unreadable: bool = False) -> None:
        self._nodes.pop(name, None)
        self._unreadable_nodes.discard(name)
        if unreadable:
            self._unreadable_nodes.add(name)
        self._tell_of_node(name, None)

    def _tell_of_node(self, name: str, node: Node | None) -> None:
        for listener in self._node_listeners:
            listener.node_changed(name, node)

    def _note_listed(self) -> None:
        if self.synced:
            self.listed.set()

    async def _replace_pods(self, items: tuple[Pod, ...]) -> None:
        present: set[PodKey] = set()
        async for pods in in_slices(items):
            present.update(map(pod_key, pods))
        async for keys in in_slices(list(self._pods)):
            for key in keys:
                if key not in present:
                    self._drop_pod(key)
        async for pods in in_slices(items):
            for pod in pods:
                self._put_pod(pod)
        self.pods_synced = True
        self._note_listed()

    def _put_pod(self, pod: Pod) -> None:
        key = pod_key(pod)
        old = self._pods.get(key)
        if old is not None and (
            old.metadata.uid != pod.metadata.uid or old.spec.node_name != pod.spec.node_name
        ):
            self._drop_pod(key)
            old = None
        if old is None or old.status.phase != pod.status.phase:
            self._count(pod, 1)
            if old is not None:
                self._count(old, -1)
        self._pods[key] = pod
        if pod.spec.node_name:
            self._by_node.setdefault(pod.spec.node_name, {})[key] = pod
        for listener in self._pod_listeners:
            listener.pod_changed(key, pod)

    def _drop_pod(self, key: PodKey) -> None:
        pod = self._pods.pop(key, None)
        if pod is None:
            return
        self._count(pod, -1)
        on_node = self._by_node.get(pod.spec.node_name)
        if on_node is not None:
            on_node.pop(key, None)
            if not on_node:
                del self._by_node[pod.spec.node_name]
        for listener in self._pod_listeners:
            listener.pod_gone(pod)

    def _count(self, pod: Pod, step: int) -> None:
        if pod.is_finished:
            return
        namespace = pod.metadata.namespace
        count = self._unfinished.get(namespace, 0) + step
        if count:
            self._unfinished[namespace] = count
        else:
            del self._unfinished[namespace]
