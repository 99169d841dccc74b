"""Hooks that see a cluster which a test has made up, asked through the REST face."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from bailiff.decisions.policies import NO_POLICIES, BlastRadius, Policies
from bailiff.webhooks import hooks_of
from tests.harness.admission import app_of, ask, parts_of
from tests.harness.changes import ShownSource
from tests.harness.clocks import ManualClock

if TYPE_CHECKING:
    from fastapi import FastAPI

    from bailiff.clock import Clock
    from bailiff.kinds.meta import Value

_GROUPS = {"devicetaintrules": "resource.k8s.io", "resourceslices": "resource.k8s.io"}


class Hooked:
    """All hooks of a process over a cluster.

    Attributes:
        source: of the cluster.
    """

    def __init__(
        self,
        *objects: Value,
        radius: BlastRadius | None = None,
        source: ShownSource | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.source = source or ShownSource(*objects)
        self._clock = clock or ManualClock()
        self.set_radius(radius)
        self._app = self._made()

    def set_radius(self, radius: BlastRadius | None) -> None:
        """From now on."""
        self._policies = NO_POLICIES if radius is None else Policies(blast_radius=radius)

    def _made(self) -> FastAPI:
        parts = parts_of(self.source, clock=self._clock)
        hooks = hooks_of(replace(parts, policies=lambda: self._policies))
        return app_of(*hooks, clock=self._clock)

    async def change(self, plural: str, old: Value | None, new: Value, **fields: Any) -> Any:
        """What comes of changing an object, as kube-apiserver would ask."""
        resource = {"group": _GROUPS.get(plural, ""), "version": "v1", "resource": plural}
        given = {
            "resource": resource,
            "operation": "CREATE" if old is None else "UPDATE",
            "name": new.metadata.name,  # type: ignore[attr-defined]
            "namespace": "",
            "object": as_json(new),
            "oldObject": None if old is None else as_json(old),
        }
        return await ask(self._app, f"validate/{plural}", **given | fields)


def as_json(value: Value) -> Any:
    """As kube-apiserver sends it."""
    return msgspec.to_builtins(value)
