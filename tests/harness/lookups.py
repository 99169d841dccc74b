"""A cluster to look things up in, as a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bailiff.kinds import Pod
from bailiff.lookup import LookUpError, MissingError

if TYPE_CHECKING:
    from bailiff.decisions import Wanted
    from bailiff.kinds.meta import Value

K = TypeVar("K", bound="Value")


@dataclass
class DictSource:
    """Objects by kind, or the error that reading them gives; it notes what systems want to see.

    Attributes:
        objects: by kind.
        errors: by kind.
        seen: what was wanted, in order.
    """

    objects: dict[type[Value], list[Any]] = field(default_factory=dict)
    errors: dict[type[Value], LookUpError] = field(default_factory=dict)
    seen: list[Wanted] = field(default_factory=list)

    def add(self, *objects: Value) -> None:
        for one in objects:
            self.objects.setdefault(type(one), []).append(one)

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        for one in self._of(kind):
            if (one.metadata.namespace, one.metadata.name) == (namespace, name):
                return cast("K", one)
        raise MissingError(f"{kind.__name__} {name} does not exist")

    async def see(self, wanted: Wanted) -> tuple[Value, ...]:
        self.seen.append(wanted)
        found = self._of(wanted.kind)
        if wanted.kind is Pod:
            ((path, node),) = wanted.fields
            assert path == "spec.nodeName"
            found = [pod for pod in found if pod.spec.node_name == node]
        return tuple(found)

    def _of(self, kind: type[Value]) -> list[Any]:
        if kind in self.errors:
            raise self.errors[kind]
        return self.objects.get(kind, [])
