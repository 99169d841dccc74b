"""Which kubelets are read, and each with the configuration that counts there."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

import structlog

from bailiff.cluster.kubelets import KubeletError, SummaryReader, decode_configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bailiff.clock import Clock
    from bailiff.cluster.kubelets import SummaryListener, SummaryRead
    from bailiff.kinds import Node
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration
    from bailiff.worker.systems.pressure.settings import PressureMode
    from bailiff.worker.systems.system import Parts

# Seconds: a kubelet reads its configuration when it starts, and nothing tells when that was. One
# more request for each dozen of summaries.
_CONFIGURATION_HOLDS = 120.0
# Seconds for which what was read last counts while it cannot be read: a kubelet that is started
# anew answers within that, and by then it may go by another one.
_CONFIGURATION_LASTS = 600.0
# Seconds between two looks at whether nodes are ours still.
_LOOK_EVERY = 1.0


log = structlog.get_logger(__name__)


class KubeletSource(Protocol):
    """Whoever asks kubelets: Kubelets, or a test; both raise KubeletError."""

    @property
    def is_busy(self) -> bool:
        """As Kubelets.is_busy."""
        ...

    async def summary(self, node: Node) -> SummaryRead:
        """As Kubelets.summary."""
        ...

    async def configuration(self, node: Node) -> bytes:
        """As Kubelets.configuration."""
        ...


class _Known(NamedTuple):
    configuration: KubeletConfiguration
    uid: str
    kubelet_version: str
    read_at: float


class Configured:
    """Summaries, each read after the configuration of the same node is known."""

    def __init__(
        self, kubelets: KubeletSource, clock: Clock, all_nodes: KubeletConfiguration | None
    ) -> None:
        """Know none yet.

        Args:
            kubelets: are asked.
            clock: says when a configuration is to be read anew.
            all_nodes: that of all nodes, so that none is asked for it; None: each has its own.
        """
        self._kubelets = kubelets
        self._clock = clock
        self._all_nodes = all_nodes
        self._known: dict[str, _Known] = {}

    @property
    def is_busy(self) -> bool:
        """As Kubelets.is_busy."""
        return self._kubelets.is_busy

    def of(self, node: str) -> KubeletConfiguration | None:
        """The configuration that counts there; None: it has not been read."""
        known = self._known.get(node)
        return self._all_nodes or (None if known is None else known.configuration)

    def forget(self, node: str) -> None:
        """The node is read no more."""
        self._known.pop(node, None)

    async def summary(self, node: Node) -> SummaryRead:
        """Raises KubeletError, for the configuration too."""
        if self._all_nodes is None:
            await self._know(node)
        return await self._kubelets.summary(node)

    async def _know(self, node: Node) -> None:
        name, uid = node.metadata.name, node.metadata.uid
        version, now = node.status.node_info.kubelet_version, self._clock.elapsed()
        known = self._known.get(name)
        same = known is not None and (known.uid, known.kubelet_version) == (uid, version)
        age = now - known.read_at if known is not None and same else math.inf
        if age < _CONFIGURATION_HOLDS:
            return
        try:
            body = await self._kubelets.configuration(node)
        except KubeletError as error:
            if age >= _CONFIGURATION_LASTS:
                raise
            log.info("a configuration could not be read again", node=name, error=error.message)
            return
        self._known[name] = _Known(decode_configuration(body, name), uid, version, now)


class Following:
    """Has the summaries read of all nodes that are ours and selected, while we act."""

    def __init__(
        self,
        parts: Parts,
        mode: PressureMode,
        source: Configured,
        listener: SummaryListener,
        dropped: Callable[[str], None],
    ) -> None:
        """Follow no node yet.

        Args:
            parts: of the worker; its mirror tells which nodes there are.
            mode: selects them.
            source: reads a summary, and the configuration before it.
            listener: is told of each node that was read.
            dropped: is told of each that is read no more, though it is still there.
        """
        self._dropped = dropped
        self._parts = parts
        self._mode = mode
        self._source = source
        self._reader = SummaryReader(source, listener, parts.clock, mode.reader)
        self._followed: dict[str, Node] = {}

    @property
    def followed(self) -> Mapping[str, Node]:
        """By name."""
        return self._followed

    async def run(self) -> None:
        """Read until cancelled."""
        await self._parts.mirror.listed.wait()
        self._say_if_none()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._reader.run())
            while True:
                self.look()
                await asyncio.sleep(_LOOK_EVERY)

    def look(self) -> None:
        """Follow those that are ours by now, and no others."""
        parts = self._parts
        wanted = {}
        if parts.election.may_act():
            wanted = {one.metadata.name: one for one in parts.mirror.nodes() if self._is_ours(one)}
        for name in [name for name in self._followed if name not in wanted]:
            self.drop(name)
            self._dropped(name)
        for name, node in wanted.items():
            if self._followed.get(name) is not node:
                self._reader.follow(node)
        self._followed = wanted

    def drop(self, name: str) -> None:
        """Read this node no more."""
        self._followed.pop(name, None)
        self._reader.unfollow(name)
        self._source.forget(name)

    def _say_if_none(self) -> None:
        """A selector that no node matches is more often misspelt than ahead of its nodes."""
        selector = self._mode.selector
        if selector and not any(self._mode.selects(one) for one in self._parts.mirror.nodes()):
            labels = ",".join(f"{key}={value}" for key, value in selector.items())
            log.warning("no node has the labels of those that are to be watched", labels=labels)

    def _is_ours(self, node: Node) -> bool:
        return self._parts.marks.owns(node.metadata.name) and self._mode.selects(node)
