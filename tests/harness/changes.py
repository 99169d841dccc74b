"""What a change of an object evicts, by objects that a test has at hand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bailiff.decisions import SYSTEMS, NotRead, Options, Wanted, Why
from bailiff.decisions.changes import Consequences, ObjectChange
from bailiff.kinds import Pod, ResourceSlice
from bailiff.lookup import LookUpError, MissingError
from tests.harness.device_kinds import NOW

if TYPE_CHECKING:
    from bailiff.decisions.seen import Seen
    from bailiff.kinds import Node
    from bailiff.kinds.meta import Value

K = TypeVar("K", bound="Value")


class Shown:
    """Shows systems the objects that they want to see.

    Attributes:
        objects: all that there are.
        forbidden: kinds that may not be read.
        wanted: what was wanted, in order.
    """

    def __init__(self, *objects: Value, forbidden: tuple[type[Value], ...] = ()) -> None:
        self.objects = list(objects)
        self.forbidden = forbidden
        self.wanted: list[Wanted] = []

    def see(self, wanted: Wanted) -> Seen:
        self.wanted.append(wanted)
        if wanted.kind in self.forbidden:
            return NotRead(Why.FORBIDDEN, f"no {wanted.kind.__name__}")
        found: list[Any] = [one for one in self.objects if _is_wanted(one, wanted)]
        return tuple(found[: wanted.most])

    def what_comes_of(
        self,
        old: Value | None,
        new: Value,
        options: Options = Options(),  # noqa: B008 - frozen
        *,
        everywhere: bool = False,
        by_kubernetes: bool = False,
    ) -> Consequences | None:
        """None: no system has anything to look at."""
        change = ObjectChange(old, new, NOW, everywhere, by_kubernetes)
        found = [
            plan for one in SYSTEMS.look_at_change(change, options) if (plan := self._drive(one))
        ]
        assert len(found) < 2
        return found[0].answer() if found else None

    def _drive(self, looking: Any) -> Any:
        try:
            wanted = next(looking)
            while True:
                wanted = looking.send(tuple(map(self.see, wanted)))
        except StopIteration as done:
            return done.value


def _is_wanted(one: Any, wanted: Wanted) -> bool:
    meta = one.metadata
    return (
        type(one) is wanted.kind
        and (not wanted.namespace or meta.namespace == wanted.namespace)
        and (wanted.names is None or meta.name in wanted.names)
        and all(_field(one, path) == value for path, value in wanted.fields)
        and not any(_field(one, path) == value for path, value in wanted.unlike)
    )


def _field(one: Any, path: str) -> str:
    found: dict[str, str] = {}
    if isinstance(one, Pod):
        found = {"spec.nodeName": one.spec.node_name, "status.phase": one.status.phase}
    if isinstance(one, ResourceSlice):
        found = {"spec.driver": one.spec.driver}
    return found[path]


class ShownSource:
    """The same objects for hooks.

    Attributes:
        shown: see there.
        seconds: that each look takes.
        errors: by kind, what reading it fails with.
    """

    asks_kubelets = False

    def __init__(self, *objects: Value, seconds: float = 0.0) -> None:
        self.shown = Shown(*objects)
        self.seconds = seconds
        self.errors: dict[type[Value], LookUpError] = {}

    async def see(self, wanted: Wanted) -> tuple[Value, ...]:
        await asyncio.sleep(self.seconds)
        if wanted.kind in self.errors:
            raise self.errors[wanted.kind]
        found = self.shown.see(wanted)
        assert not isinstance(found, NotRead)
        return found

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        found = await self.see(Wanted(kind, namespace, (name,)))
        if not found:
            raise MissingError(name)
        return cast("K", found[0])

    async def ask_kubelet(self, node: Node) -> Seen:
        raise AssertionError(f"nobody asks the kubelet of {node.metadata.name}")

    @property
    def kinds(self) -> list[str]:
        """What was looked at, in order."""
        return [one.kind.__name__ for one in self.shown.wanted]
