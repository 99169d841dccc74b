"""What others say of the node: its pods, the Node object, and its kubelet's configuration."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Protocol

from bailiff.agent.reading import ReadingError
from bailiff.cluster.keeping import Keep
from bailiff.cluster.list_watch import ListWatch
from bailiff.cluster.request import Selection
from bailiff.cluster.resource import NODES, PODS
from bailiff.cluster.unreadable import Unreadable
from bailiff.cluster.watch_events import Changed, Deleted, Replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bailiff.agent.log import Log
    from bailiff.agent.standing import Standing
    from bailiff.clock import Clock
    from bailiff.cluster.client import Cluster
    from bailiff.cluster.errors import ClusterError
    from bailiff.cluster.watch_events import WatchEvent
    from bailiff.kinds import Node, Pod
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration

# Seconds between two questions to the kubelet, for thresholds as the worker, for pods as often as
# they may change, and after an answer that did not come.
_CONFIGURATION_EVERY = 120.0
_ASK_AGAIN = 10.0
_PODS_EVERY = 5.0
KEEP = Keep(pod_resources=True, node_status=True)

# Whom `/readyz` names where it does not answer.
_API_SERVER = "the API server, about "


class KubeletAnswers(Protocol):
    """The kubelet, as far as it says something else than what it measures; raises ReadingError."""

    async def pods(self) -> Sequence[Pod]:
        """The pods that it runs."""
        ...

    async def configuration(self) -> KubeletConfiguration:
        """Its own configuration."""
        ...


class NodeFacts:
    """Follows them. `run` belongs to one task; the others may be asked at any time.

    Attributes:
        node: as the API has it; None: it has not told yet, or there is no API.
    """

    def __init__(
        self,
        name: str,
        cluster: Cluster | None,
        kubelet: KubeletAnswers | None,
        configured: KubeletConfiguration | None,
        clock: Clock,
        log: Log,
        standing: Standing,
        *,
        pods_from_kubelet: bool,
    ) -> None:
        """Nothing is known yet.

        Args:
            name: of the node.
            cluster: the API server; None: there is none.
            kubelet: of the node; None: there is none.
            configured: what the operator says of thresholds; None: the kubelet says it.
            clock: when the configuration is looked at again.
            log: hears of what cannot be had.
            standing: is told who does not answer.
            pods_from_kubelet: which pods there are is asked of the kubelet.
        """
        self._name = name
        self._cluster = cluster
        self._kubelet = kubelet
        self._configured = configured
        self._clock = clock
        self._log = log
        self._standing = standing
        self._pods_from_kubelet = pods_from_kubelet or cluster is None
        self._pods: dict[str, Pod] = {}
        self._listed = False
        self.node: Node | None = None
        self._told: KubeletConfiguration | None = None
        self._listeners: list[Callable[[Pod], None]] = []
        self._when_listed: list[Callable[[], None]] = []
        self._watches: dict[str, ListWatch[Any]] = {}

    def listen(self, listener: Callable[[Pod], None]) -> None:
        """Tell this one of every pod that appears or changes."""
        self._listeners.append(listener)

    def when_listed(self, told: Callable[[], None]) -> None:
        """Tell this one as soon as it is known which pods there are."""
        self._when_listed.append(told)

    @property
    def pods(self) -> tuple[Pod, ...]:
        """Those of the node, finished ones included."""
        return tuple(self._pods.values())

    @property
    def age(self) -> float:
        """Seconds by which they may lie behind the API server; 0 while its watches are well."""
        now = self._clock.monotonic()
        return max((one.health.age(now) for one in self._watches.values()), default=0.0)

    @property
    def configuration(self) -> KubeletConfiguration | None:
        """Whose thresholds count; None: the kubelet's defaults, where there is no kubelet."""
        return self._configured or self._told

    def check(self) -> None:
        """See that there is what a round needs.

        Raises:
            ReadingError: which pods there are, or which thresholds count, has never been known.
        """
        for plural, watch in self._watches.items():
            # A watch that is open again, and has nothing to tell yet.
            if watch.health.last_error is None:
                self._silent(_API_SERVER + plural, "")
        if not self._listed:
            raise ReadingError("pods", "the pods of the node are not known yet")
        if self._asks_thresholds and self._told is None:
            raise ReadingError("configuration", "the kubelet's thresholds are not known yet")

    def forget(self, uid: str) -> None:
        """This pod is gone, which its watch has not told yet."""
        self._pods.pop(uid, None)

    async def run(self) -> None:
        """Follow the API server and the kubelet until cancelled."""
        async with asyncio.TaskGroup() as group:
            if self._cluster is not None:
                group.create_task(self._follow_node(self._cluster), name="node")
            if self._cluster is not None and not self._pods_from_kubelet:
                group.create_task(self._follow_pods(self._cluster), name="pods")
            if self._kubelet is not None and self._pods_from_kubelet:
                group.create_task(self._ask_for_pods(self._kubelet), name="pods of the kubelet")
            if self._kubelet is not None and self._asks_thresholds:
                group.create_task(self._ask_for_thresholds(self._kubelet), name="thresholds")

    @property
    def _asks_thresholds(self) -> bool:
        return self._configured is None and self._kubelet is not None

    async def _ask_for_pods(self, kubelet: KubeletAnswers) -> None:
        """Those that were known last count while it does not answer."""
        while True:
            try:
                self._replace(await kubelet.pods())
                self._silent("the kubelet, about pods", "")
            except ReadingError as error:
                self._silent("the kubelet, about pods", error.message)
            await asyncio.sleep(_PODS_EVERY)

    async def _ask_for_thresholds(self, kubelet: KubeletAnswers) -> None:
        """Those that were known last count while it does not answer."""
        while True:
            pause = _CONFIGURATION_EVERY
            try:
                self._told = await kubelet.configuration()
                self._silent("the kubelet, about thresholds", "")
            except ReadingError as error:
                self._silent("the kubelet, about thresholds", error.message)
                pause = _ASK_AGAIN
            await asyncio.sleep(pause)

    async def _follow_node(self, cluster: Cluster) -> None:
        selection = Selection(field_selector=f"metadata.name={self._name}")
        watch = self._watch(cluster, NODES, selection)
        async with aclosing(watch.events()) as events:
            async for event in events:
                self._take_node(event)

    def _silent(self, who: str, why: str) -> None:
        if self._standing.complain(who, why):
            self._log.warning("no answer", of=who, why=why)

    def _take_node(self, event: WatchEvent[Node]) -> None:
        match event:
            case Replaced(items=items):
                self.node = items[0] if items else None
            case Changed(object=node):
                self.node = node
            case Deleted() | Unreadable():
                self.node = None
        why = f"there is none called {self._name}"
        if isinstance(event, Unreadable):
            why = f"it cannot be read: {event.reason}"
        self._silent("the node", "" if self.node else why)

    async def _follow_pods(self, cluster: Cluster) -> None:
        selection = Selection(field_selector=f"spec.nodeName={self._name}")
        watch = self._watch(cluster, PODS, selection)
        async with aclosing(watch.events()) as events:
            async for event in events:
                self._take_pod(event)

    def _watch(self, cluster: Cluster, resource: Any, selection: Selection) -> ListWatch[Any]:  # noqa: ANN401 - of either kind
        def told(_cause: object, error: ClusterError | None) -> None:
            if error is not None:
                self._silent(_API_SERVER + resource.plural, error.message)

        watch = ListWatch(
            cluster, resource, self._clock, selection=selection, keep=KEEP, on_restart=told
        )
        self._watches[resource.plural] = watch
        return watch

    def _take_pod(self, event: WatchEvent[Pod]) -> None:
        match event:
            case Replaced(items=items):
                self._replace(items)
            case Changed(object=pod):
                self._put(pod)
            case Deleted(object=pod):
                self._pods.pop(pod.metadata.uid, None)
            case Unreadable(metadata=metadata):
                self._pods.pop(metadata.uid, None)

    def _replace(self, pods: Sequence[Pod]) -> None:
        there = {one.metadata.uid for one in pods}
        for uid in self._pods.keys() - there:
            del self._pods[uid]
        if not self._listed:
            # What was there before is no news, as one that was evicted yesterday.
            self._pods = {one.metadata.uid: one for one in pods}
        for pod in pods:
            self._put(pod)
        if not self._listed:
            self._listed = True
            for told in self._when_listed:
                told()

    def _put(self, pod: Pod) -> None:
        uid = pod.metadata.uid
        is_news = self._pods.get(uid) != pod
        self._pods[uid] = pod
        if is_news:
            for listener in self._listeners:
                listener(pod)
