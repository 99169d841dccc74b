"""Keeps a worker's policies as their file says, and follows what the policies refer to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import structlog

from bailiff.cluster import CONFIG_MAPS, NAMESPACES, Selection
from bailiff.decisions.policies import (
    UNKNOWN,
    Unknown,
    fingerprint,
    read_pause,
    selects_pods,
    weakenings,
)
from bailiff.worker.policy.optional_watch import OptionalWatch

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.clock import Clock
    from bailiff.decisions.policies import Pause, PauseNotice, Policies
    from bailiff.kinds import ConfigMap, Namespace
    from bailiff.policy_file import PolicyFile
    from bailiff.worker.mirror.watching import PodWatch, Watches
    from bailiff.worker.policy.news import PolicyNews
    from bailiff.worker.worker import Worker

    NotKnown = Literal[Unknown.UNKNOWN]

# A ConfigMap holds 1 MiB of what somebody takes for a reason.
_MAX_TEXT = 500

log = structlog.get_logger(__name__)


class PolicyControl:
    """Tells a worker its policies, the pause and the labels of namespaces, as they change.

    The pause and the namespaces are watched only while a policy needs them.
    """

    def __init__(
        self,
        file: PolicyFile,
        worker: Worker,
        clock: Clock,
        watches: Watches,
        pods: PodWatch,
        news: PolicyNews,
    ) -> None:
        """Begin with the policies that the file has held.

        Args:
            file: where policies come from.
            worker: who obeys.
            clock: to tell whether a pause is over.
            watches: opens them.
            pods: told when a policy selects pods.
            news: told of what bounds the worker less than before.
        """
        self.file = file
        self.pause: PauseNotice | NotKnown | None = None
        self._worker = worker
        self._clock = clock
        self._pods = pods
        self._news = news
        self._policies: Policies | None = None
        # What was read last, though it is not known just now what the ConfigMap says.
        self._read: PauseNotice | None = None
        self._pauses: OptionalWatch[ConfigMap] = OptionalWatch(
            CONFIG_MAPS, watches, self._on_config_maps
        )
        self._namespaces: OptionalWatch[Namespace] = OptionalWatch(
            NAMESPACES, watches, self._on_namespaces
        )
        self._apply(file.in_force.policies)

    async def run(self) -> None:
        """Keep at it until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.file.run(self._apply), name="policies")
            group.create_task(self._pauses.run(), name="pause")
            group.create_task(self._namespaces.run(), name="namespaces")
            group.create_task(self._news.run(), name="policy news")

    def complaints(self) -> list[str]:
        """What holds evictions back because it has not been read yet; for people."""
        policies = self.file.in_force.policies
        found = []
        if policies.pause is not None and not self._pauses.known:
            where = f"{policies.pause.namespace}/{policies.pause.name}"
            found.append(f"ConfigMap {where}, which pauses evictions, has not been read yet")
        if not self._namespaces.known:
            found.append("the labels of namespaces, which exclude pods, have not been read yet")
        return found

    def describe(self) -> dict[str, Any]:
        """What is in force, as /v1/policies tells it."""
        told: dict[str, Any] = msgspec.to_builtins(self.file.in_force)
        told["hash"] = fingerprint(self.file.in_force.policies)
        pause = self.pause
        if pause is UNKNOWN:
            return told | {"pause": {"state": "unknown"}}
        if pause is None or pause.is_over(self._clock.now()):
            return told | {"pause": {"state": "off"}}
        said = msgspec.to_builtins(pause)
        return told | {"pause": {"state": "on"} | {key: said[key][:_MAX_TEXT] for key in said}}

    def _apply(self, policies: Policies) -> None:
        before, self._policies = self._policies, policies
        if before is not None and (texts := weakenings(before, policies)):
            self._news.weakened(texts, self.file.in_force.file)
        if before is not None and before.pause != policies.pause:
            self._read = None
        # First what is not known any more, then the policies that need to know it.
        self._pauses.ask(_config_map_of(policies.pause))
        selects_namespaces = policies.exclude.namespace_selector is not None
        self._namespaces.ask(Selection() if selects_namespaces else None)
        if selects_pods(policies):
            self._pods.need_labels()
        self._worker.set_policies(policies)

    def _on_config_maps(self, found: tuple[ConfigMap, ...] | NotKnown) -> None:
        if found is UNKNOWN:
            notice: PauseNotice | NotKnown | None = UNKNOWN
        else:
            # One that is over is kept: a clock that is ahead is put right, the ConfigMap stays.
            notice = read_pause(found[0].data) if found else None
            self._note_deletion(notice, is_there=bool(found))
        if notice != self.pause:
            log.info("pause", said=_words(notice, self._clock.now()))
        self.pause = notice
        self._worker.set_pause(notice)

    def _note_deletion(self, notice: PauseNotice | None, *, is_there: bool) -> None:
        """Of a pause in force whose ConfigMap is gone; `bailiff resume` leaves it there."""
        before, self._read = self._read, notice
        pause = None if self._policies is None else self._policies.pause
        if is_there or before is None or pause is None or before.is_over(self._clock.now()):
            return
        self._news.pause_deleted(before, f"{pause.namespace}/{pause.name}")

    def _on_namespaces(self, found: tuple[Namespace, ...] | NotKnown) -> None:
        if found is UNKNOWN:
            self._worker.set_namespaces(UNKNOWN)
        else:
            self._worker.set_namespaces({one.metadata.name: one.metadata.labels for one in found})


def _words(notice: PauseNotice | NotKnown | None, now: datetime) -> str:
    if notice is None:
        return "not paused"
    if notice is UNKNOWN:
        return "not known yet"
    return f"over: {notice.describe()}" if notice.is_over(now) else notice.describe()


def _config_map_of(pause: Pause | None) -> Selection | None:
    if pause is None:
        return None
    # Role-based access control knows the name of what is listed and watched by this selector.
    return Selection(namespace=pause.namespace, field_selector=f"metadata.name={pause.name}")
