"""Objects that pods name and the files lack: a cluster would have them, and answer by them.

Which objects those are, the systems' own look-ups of live objects tell: no rule stands here.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from bailiff.cli.errors import warn_all
from bailiff.cli.objects import KINDS
from bailiff.cli.output import listed
from bailiff.decisions import NotRead, OfKubelet, Scene, Why

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from bailiff.cli.asking import Asking
    from bailiff.decisions.system import LookUp
    from bailiff.kinds import Pod

# By kind, namespace and name.
_There: TypeAlias = "Mapping[tuple[type[Any], str, str], Any]"


def warn_of_lacking(
    asking: Asking, pods: Iterable[Pod], all_of: Callable[[type[Any]], tuple[Any, ...]]
) -> None:
    """Warn of what the systems would want to see for pods, by its name, and is not there.

    Args:
        asking: who is asked, and how; pods that have ended matter only where they are evicted.
        pods: those that the answer is about.
        all_of: the objects of one kind in the files.
    """
    there = {
        (kind, one.metadata.namespace, one.metadata.name): one
        for kind in KINDS.values()
        for one in all_of(kind)
    }
    ended_too = asking.options.evict_ended_pods
    counted = (pod for pod in pods if ended_too or not pod.has_ended)
    warn_all([said for pod in counted for said in _said_of(pod, asking, there)])


def _said_of(pod: Pod, asking: Asking, there: _There) -> Iterator[str]:
    """A warning for each system, and each kind of which a pod names objects in vain."""
    scene = Scene((pod,), asking.now or datetime.now(UTC))
    for system, looking in asking.systems.look_ups(scene, asking.options):
        for kind, names in _lacking(looking, there):
            yield (
                f"pod {pod.key} names {kind.__name__} {listed(names)}, which the files do not "
                f"have: what {system.name} would say of it is not counted"
            )


def _lacking(looking: LookUp[Any], there: _There) -> Iterator[tuple[type[Any], list[str]]]:
    """The names that a look-up asks for in vain; what it wants without a name it does not get."""
    with contextlib.suppress(StopIteration):
        wanted = next(looking)
        while True:
            if isinstance(wanted, OfKubelet):
                wanted = looking.send(NotRead(Why.NOT_ASKED, "files have no kubelet"))
                continue
            keys = [(wanted.kind, wanted.namespace, name) for name in wanted.names or ()]
            if lacking := [key[-1] for key in keys if key not in there]:
                yield wanted.kind, lacking
            wanted = looking.send(tuple(there[key] for key in keys if key in there))
