"""Pauses and resumes evictions: the ConfigMap that workers watch, written by a person's command.

A write holds only for the version of the ConfigMap that was looked at, and is tried again when
somebody else was faster; so nobody's notice is overwritten unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.cluster import (
    CONFIG_MAPS,
    NAMESPACES,
    Cluster,
    ClusterError,
    ConflictError,
    NotFoundError,
    PatchType,
)
from bailiff.decisions.policies import PauseNotice, read_pause, write_pause
from bailiff.decisions.policies.pause import KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.clock import Clock
    from bailiff.kinds import ConfigMap

# Two people are no crowd; who loses so often meets something else that writes all the time.
_TRIES = 5
_FIELD_MANAGER = "bailiff"


class PausedAlreadyError(Exception):
    """Somebody has paused already; the message tells who and why."""


class PauseSwitch:
    """One ConfigMap. Every method raises ClusterError."""

    def __init__(self, cluster: Cluster, clock: Clock, namespace: str, name: str) -> None:
        self._cluster = cluster
        self._clock = clock
        self._namespace = namespace
        self._name = name

    async def read(self) -> PauseNotice | None:
        """The notice that is in force; None: not paused."""
        return self._notice_of(await self._get())

    async def where(self) -> str:
        """Which ConfigMap that is, and whether it and its namespace exist."""
        name = f"ConfigMap {self._namespace}/{self._name}"
        if await self._get() is not None:
            return name
        try:
            await self._cluster.get(NAMESPACES, self._namespace)
        except NotFoundError:
            return f"{name} does not exist, nor does its namespace"
        except ClusterError:
            # Whoever may read the ConfigMap need not be allowed to read namespaces.
            pass
        return f"{name} does not exist"

    async def pause(self, notice: PauseNotice, *, replace: bool = False) -> None:
        """Put up a notice; `replace` takes the place of one that is in force.

        Raises:
            PausedAlreadyError: there is one, and it is not to be replaced.
        """

        def allow(standing: PauseNotice | None) -> None:
            if standing is not None and not replace:
                raise PausedAlreadyError(standing.describe())

        await self._write(write_pause(notice), allow)

    async def resume(self) -> PauseNotice | None:
        """Take the notice down; returns the one that was in force."""
        return await self._write(None)

    async def _write(
        self, text: str | None, allow: Callable[[PauseNotice | None], None] = lambda _: None
    ) -> PauseNotice | None:
        for _ in range(_TRIES - 1):
            try:
                return await self._write_once(text, allow)
            except ConflictError:
                continue
        return await self._write_once(text, allow)

    async def _write_once(
        self, text: str | None, allow: Callable[[PauseNotice | None], None]
    ) -> PauseNotice | None:
        found = await self._get()
        standing = self._notice_of(found)
        allow(standing)
        if found is not None:
            await self._change(found, text)
        elif text is not None:
            await self._create({KEY: text})
        return standing

    async def _get(self) -> ConfigMap | None:
        try:
            return await self._cluster.get(CONFIG_MAPS, self._name, self._namespace)
        except NotFoundError as error:
            if not error.reason:
                # No API server, which would have said why: whether it is paused is not known.
                raise
            return None

    async def _change(self, found: ConfigMap, text: str | None) -> None:
        if found.data.get(KEY) == text:
            return
        seen = {"uid": found.metadata.uid, "resourceVersion": found.metadata.resource_version}
        # null takes a key away (RFC 7396).
        body = {"metadata": seen, "data": {KEY: text}}
        try:
            await self._cluster.patch(
                CONFIG_MAPS,
                self._name,
                self._namespace,
                body,
                patch_type=PatchType.MERGE,
                field_manager=_FIELD_MANAGER,
            )
        except NotFoundError as error:
            # It was there a moment ago.
            raise ConflictError(error.message, status=error.status) from error

    async def _create(self, data: dict[str, str]) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": self._name, "namespace": self._namespace},
            "data": data,
        }
        await self._cluster.create(CONFIG_MAPS, body, self._namespace, field_manager=_FIELD_MANAGER)

    def _notice_of(self, found: ConfigMap | None) -> PauseNotice | None:
        notice = None if found is None else read_pause(found.data)
        return None if notice is None or notice.is_over(self._clock.now()) else notice
