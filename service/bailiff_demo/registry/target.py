"""Which object a request is about, and how it is to be deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff_demo.shapes import check_shape

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject
    from bailiff_demo.resources import Resource
    from bailiff_demo.storage import Key


@dataclass(frozen=True, slots=True)
class Target:
    """One object, or one part of it.

    Attributes:
        resource: of which kind.
        namespace: empty for what lives in none.
        name: of the object.
        subresource: empty for the object as a whole.
    """

    resource: Resource
    namespace: str
    name: str
    subresource: str = ""

    @property
    def key(self) -> Key:
        """Its place in the store."""
        return self.namespace, self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """metav1.DeleteOptions.

    Attributes:
        grace_seconds: of a pod; None for its own. Below zero counts as one.
        uid: the object must have this UID.
        resource_version: the object must be at this version.
        propagation: `Background`, `Foreground`, `Orphan`; empty for the default, Background.
        dry_run: check all, change nothing.
    """

    grace_seconds: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    propagation: str = ""
    dry_run: bool = False

    @classmethod
    def parse(cls, body: JsonObject) -> DeleteOptions:
        """From a request's body.

        Raises:
            ApiError: 400, wrong types.
        """
        check_shape(body, "DeleteOptions")
        conditions = body.get("preconditions") or {}
        return cls(
            grace_seconds=body.get("gracePeriodSeconds"),
            uid=conditions.get("uid"),
            resource_version=conditions.get("resourceVersion"),
            propagation=body.get("propagationPolicy") or "",
            dry_run=bool(body.get("dryRun")),
        )
