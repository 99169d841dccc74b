"""Which containers are dead and no longer needed, and which sandboxes.

Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go (evictContainers, evictSandboxes), as it is asked
by DeleteAllUnusedContainers in pkg/kubelet/container/container_gc.go.

First the containers are removed, then the sandboxes, by what the runtime tells after that. Two
things are left to the kubelet itself, which sees to them every minute: the total of dead containers
on a node (its flag --maximum-dead-containers, unlimited unless set), and folders of logs of pods
that are gone.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from bailiff.decisions.pressure.garbage import ContainerState, nanoseconds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from bailiff.decisions.pressure.garbage import RuntimeContainer, RuntimeSandbox
    from bailiff.kinds import Pod

_FROM_API = frozenset({"", "api"})


class ContainerPolicy(NamedTuple):
    """Which dead containers stay; the defaults are those of the kubelet's flags.

    Attributes:
        minimum_age: since a container was made (--minimum-container-ttl-duration). 0 or more.
        most_dead: of each container of a pod that is not over, so many of the youngest, as somebody
            may want their logs (--maximum-dead-containers-per-container); negative: all.
    """

    minimum_age: timedelta = timedelta(0)
    most_dead: int = 1


AS_FLAGS_SAY_NOTHING = ContainerPolicy()


class LocalPods(NamedTuple):
    """The pods of the node, by the UIDs that their containers carry.

    Attributes:
        alive: those that have not finished. One that is being deleted is among them until it has:
            its kubelet has yet to read how its containers ended.
        finished: those whose phase is Succeeded or Failed.
    """

    alive: frozenset[str]
    finished: frozenset[str]

    @staticmethod
    def of(pods: Iterable[Pod]) -> LocalPods:
        """By what the API server or the kubelet tells; all pods of the node have to be there.

        Containers of a static pod carry another UID than the pod that shows it in the API.
        """
        alive: set[str] = set()
        finished: set[str] = set()
        for one in pods:
            uids = {one.metadata.uid, one.metadata.uid_on_node}
            (finished if one.is_finished else alive).update(uids)
        return LocalPods(frozenset(alive), frozenset(finished - alive))


class _Made(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def created_at(self) -> int: ...


_T = TypeVar("_T", bound=_Made)


def dead_containers(
    containers: Iterable[RuntimeContainer],
    sandboxes: Iterable[RuntimeSandbox],
    pods: LocalPods,
    now: datetime,
    policy: ContainerPolicy = AS_FLAGS_SAY_NOTHING,
) -> tuple[RuntimeContainer, ...]:
    """The containers to remove, the oldest first; none that runs.

    Of a pod that is over all go, of others those that are too many. One whose state is UNKNOWN may
    run: the kubelet stops it before it removes it, and leaves it where that fails. One that was
    made and never started is dead as well. One whose sandbox is not listed stays: something is
    going on with it.

    Args:
        containers: all that are on the node.
        sandboxes: all that are on the node, listed after the containers.
        pods: of the node.
        now: in UTC.
        policy: which stay.
    """
    containers, sandboxes = tuple(containers), tuple(sandboxes)
    not_over = _not_over(containers, sandboxes, pods)
    listed = {one.id for one in sandboxes}
    units: defaultdict[tuple[str, str], list[RuntimeContainer]] = defaultdict(list)
    for one in containers:
        dead = one.state is not ContainerState.RUNNING and one.sandbox_id in listed
        if dead and _age(one, now) >= policy.minimum_age:
            units[one.pod_uid, one.name].append(one)
    found = (
        one
        for (uid, _), unit in units.items()
        for one in (_beyond(unit, policy.most_dead) if uid in not_over else unit)
    )
    return tuple(sorted(found, key=_by_creation))


def unused_sandboxes(
    sandboxes: Iterable[RuntimeSandbox],
    containers: Iterable[RuntimeContainer],
    pods: LocalPods,
) -> tuple[RuntimeSandbox, ...]:
    """The sandboxes to stop and to remove, the oldest first; none that is ready or has containers.

    Of a pod that is over all such go, of others all but the youngest sandbox.

    Args:
        sandboxes: all that are on the node, listed after the containers.
        containers: all that are on the node, after dead ones were removed.
        pods: of the node.
    """
    sandboxes, containers = tuple(sandboxes), tuple(containers)
    not_over = _not_over(containers, sandboxes, pods)
    active = {one.sandbox_id for one in containers} | {one.id for one in sandboxes if one.ready}
    by_pod: defaultdict[str, list[RuntimeSandbox]] = defaultdict(list)
    for one in sandboxes:
        by_pod[one.pod_uid].append(one)
    found = (
        one
        for uid, of_pod in by_pod.items()
        for one in (_beyond(of_pod, 1) if uid in not_over else of_pod)
        if one.id not in active
    )
    return tuple(sorted(found, key=_by_creation))


def _not_over(
    containers: Collection[RuntimeContainer],
    sandboxes: Collection[RuntimeSandbox],
    pods: LocalPods,
) -> frozenset[str]:
    """The UIDs of pods whose containers may be needed yet.

    Any other pod has finished or is none of the node's any more, and the kubelet has stopped its
    containers and then its sandbox. The kubelet remembers that it did (ShouldPodRuntimeBeRemoved in
    pkg/kubelet/pod_workers.go); we see it by what is left. So a pod that has just been made, and of
    which no news has come yet, is not over: its sandbox is ready, or was not there to be listed.

    A static pod of which nothing is known is not over either: it is none of the API's.
    """
    listed = {one.id for one in sandboxes}
    running = ContainerState.RUNNING
    return pods.alive.union(
        (one.pod_uid for one in containers if one.state is running or one.sandbox_id not in listed),
        (one.pod_uid for one in sandboxes if one.ready),
        {one.pod_uid for one in sandboxes if one.source not in _FROM_API} - pods.finished,
    )


def _beyond(made: Sequence[_T], kept: int) -> Sequence[_T]:
    """What is left when the youngest are kept; of a negative number all are."""
    return [] if kept < 0 else sorted(made, key=_by_creation, reverse=True)[kept:]


def _by_creation(one: _Made) -> tuple[int, str]:
    return one.created_at, one.id


def _age(one: _Made, now: datetime) -> timedelta:
    """Never negative: what was made in the future was made now."""
    return timedelta(microseconds=max(0, nanoseconds(now) - one.created_at) // 1000)
