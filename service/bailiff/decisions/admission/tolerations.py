"""The tolerations that pods are given without asking for them, rule by rule as upstream gives them.

Each rule takes the tolerations of a pod and gives back those it is to have. Those that were there
keep their places, so that what has changed is told by comparing place by place.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from bailiff.kinds import names
from bailiff.kinds.taint import NO_EXECUTE, NOT_READY, UNREACHABLE, Toleration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bailiff.decisions.admission.pods import AdmittedSpec

Tolerations: TypeAlias = tuple[Toleration, ...]
_Identity: TypeAlias = tuple[str, str, str, str]

_PREFIX = "node.kubernetes.io/"
_NO_SCHEDULE = "NoSchedule"
# What no pod of a DaemonSet is kept from, beside NOT_READY and UNREACHABLE.
_OF_DAEMONS = ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
# "requests." is the convention of quotas, by which a resource of an API is told from another.
_QUOTA, _NATIVE = "requests.", "kubernetes.io/"


def with_default_seconds(
    given: Tolerations, not_ready_seconds: int, unreachable_seconds: int
) -> Tolerations:
    """With a while for which a node may be not ready, and unreachable.

    DefaultTolerationSeconds (plugin/pkg/admission/defaulttolerationseconds/admission.go): each is
    added where no toleration has that key, or none, with the effect NoExecute, or none. Its
    operator and its value are not looked at.

    Args:
        given: of the pod.
        not_ready_seconds: of node.kubernetes.io/not-ready, an int64.
        unreachable_seconds: of node.kubernetes.io/unreachable, an int64.
    """
    seconds = {NOT_READY: not_ready_seconds, UNREACHABLE: unreachable_seconds}
    return (
        *given,
        *(
            _exists(key, NO_EXECUTE, of_key)
            for key, of_key in seconds.items()
            if not any(_speaks_of(key, one) for one in given)
        ),
    )


def with_extended_resources(given: Tolerations, spec: AdmittedSpec) -> Tolerations:
    """With a toleration for each extended resource that is requested.

    ExtendedResourceToleration (plugin/pkg/admission/extendedresourcetoleration/admission.go): of
    containers and init containers, however much they request, in alphabetical order. The API server
    has set the requests to the limits by then, where only these were given.

    Args:
        given: those that the pod is to have by the other rules.
        spec: of the pod.
    """
    found = {name for name in _requested(spec) if is_extended_resource(name)}
    # Go sorts by bytes; for UTF-8 that is the order of Python, by characters.
    return _with_all(given, (_exists(name, _NO_SCHEDULE) for name in sorted(found)))


def with_daemon_tolerations(given: Tolerations, *, host_network: bool) -> Tolerations:
    """With what a pod of a DaemonSet puts up with.

    AddOrUpdateDaemonPodTolerations (pkg/controller/daemon/util/daemonset_util.go), which the
    DaemonSet controller does to its own pods.

    Args:
        given: of the pod.
        host_network: it uses its node's network.
    """
    others = (*_OF_DAEMONS, "network-unavailable") if host_network else _OF_DAEMONS
    always = (_exists(NOT_READY, NO_EXECUTE), _exists(UNREACHABLE, NO_EXECUTE))
    return _with_all(given, (*always, *(_exists(_PREFIX + one, _NO_SCHEDULE) for one in others)))


def is_extended_resource(name: str) -> bool:
    """Whether a resource is neither Kubernetes' own nor malformed.

    IsExtendedResourceName (pkg/apis/core/helper/helpers.go): a device, as `example.com/gpu`.
    """
    if "/" not in name or _NATIVE in name or name.startswith(_QUOTA):
        return False
    return names.is_label_key(_QUOTA + name)


def _exists(key: str, effect: str, seconds: int | None = None) -> Toleration:
    return Toleration(key=key, operator="Exists", effect=effect, toleration_seconds=seconds)


def _speaks_of(key: str, one: Toleration) -> bool:
    return one.key in (key, "") and one.effect in (NO_EXECUTE, "")


def _requested(spec: AdmittedSpec) -> Iterator[str]:
    for container in (*spec.containers, *spec.init_containers):
        yield from container.resources.requests


def _with_all(given: Tolerations, added: Iterable[Toleration]) -> Tolerations:
    """With each: in place of those that differ in seconds alone, or else at the end.

    AddOrUpdateTolerationInPod (pkg/apis/core/helper/helpers.go).
    """
    # By a look-up: a pod may have very many of both.
    found, places = [*given], defaultdict[_Identity, list[int]](list)
    for place, one in enumerate(found):
        places[_identity(one)].append(place)
    for new in added:
        known = places[_identity(new)]
        if not known:
            known.append(len(found))
            found.append(new)
        for place in known:
            found[place] = new
    return tuple(found)


def _identity(one: Toleration) -> _Identity:
    """All but its seconds (MatchToleration, pkg/apis/core/toleration.go)."""
    return one.key, one.operator, one.effect, one.value
