"""Live objects of a cluster, for commands that answer a question about them and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from bailiff.bootstrap.choices import ClusterUnusable, StartError
from bailiff.bootstrap.once import use_cluster
from bailiff.clock import SystemClock
from bailiff.cluster import ConfigError, kubeconfig_namespace, service_account_namespace
from bailiff.lookup import ClusterSource, LookUpError, LookUps, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.cluster import Cluster
    from bailiff.decisions import Systems

T = TypeVar("T")

# Seconds; less than use_cluster gives for all together.
_TIMEOUT = 50.0


def look_up(
    choice: ClusterChoice,
    systems: Systems,
    ask: Callable[[LookUps], Awaitable[T]],
    now: datetime | None = None,
) -> T:
    """Ask something about the objects of a cluster.

    Args:
        choice: the cluster; one that names none is the usual kubeconfig's.
        systems: who decides.
        ask: what is asked.
        now: the instant to decide for; None: when all has been seen.

    Raises:
        ClusterUnusable: no usable configuration or login, or the cluster cannot be asked now.
        StartError: there is no such object, it may not be read, or cannot be used.
    """

    async def act(cluster: Cluster) -> T:
        source = ClusterSource(cluster, SystemClock())
        try:
            return await ask(LookUps(source, systems, _At(now), _TIMEOUT))
        except UnavailableError as error:
            raise ClusterUnusable(str(error)) from error
        except LookUpError as error:
            raise StartError(str(error)) from error

    return use_cluster(choice, act)


class _At(SystemClock):
    """A clock that shows the instant which the user names, if any."""

    def __init__(self, instant: datetime | None) -> None:
        self._instant = instant

    def now(self) -> datetime:
        """See Clock."""
        return self._instant or super().now()


def usual_namespace(choice: ClusterChoice) -> str:
    """The namespace of objects whose namespace is not said, as kubectl has it.

    Raises:
        ClusterUnusable: the configuration cannot be used.
    """
    try:
        if choice.in_cluster:
            return service_account_namespace()
        return kubeconfig_namespace(choice.kubeconfig, choice.context) or "default"
    except ConfigError as error:
        raise ClusterUnusable(str(error)) from error
