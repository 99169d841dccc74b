"""What a change of an object evicts, by objects that a test has at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.decisions import SYSTEMS, NotRead, Options, Why
from bailiff.decisions.changes import Consequences, ObjectChange
from bailiff.kinds import Pod, ResourceSlice
from tests.harness.device_kinds import NOW

if TYPE_CHECKING:
    from bailiff.decisions import Wanted
    from bailiff.decisions.seen import Seen
    from bailiff.kinds.meta import Value


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
    ) -> Consequences | None:
        """None: no system has anything to look at."""
        change = ObjectChange(old, new, NOW, everywhere)
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
