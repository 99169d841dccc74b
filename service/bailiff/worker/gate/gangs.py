"""Pods by their PodGroup, and which of these are known to go whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bailiff.decisions.policies import group_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.kinds import Pod
    from bailiff.worker.mirror.mirror import Mirror, PodKey


class GangListener(Protocol):
    """Who wants to know of gangs."""

    def gang_changed(self, group: str) -> None:
        """Another answer may hold for a gang: it goes whole or does not, or its pods have changed.

        Of changes of pods those count that the rules look at: kubelets write statuses all the time.
        """


class Gangs:
    """The pods of the mirror that are of a PodGroup, in all shards."""

    def __init__(self, mirror: Mirror, listener: GangListener) -> None:
        """Listen to the mirror from now on.

        Args:
            mirror: pods.
            listener: told of changes of gangs.
        """
        self._listener = listener
        self._pods: dict[str, dict[PodKey, Pod]] = {}
        # By PodGroup, as it was read last; of those alone that have pods.
        self._whole: dict[str, bool] = {}
        mirror.listen_to_pods(self)

    def learn(self, group: str, *, whole: bool) -> None:
        """Whether the pods of a PodGroup can only be disrupted together."""
        if group in self._pods and self._whole.get(group, False) is not whole:
            self._whole[group] = whole
            self._listener.gang_changed(group)

    def goes_whole(self, group: str) -> bool:
        """Whether it is known that its pods go together, and there are any."""
        return self._whole.get(group, False)

    def others(self, pod: Pod) -> Sequence[Pod] | None:
        """The other pods of its gang that are still there.

        None: it goes alone, or nobody has read its PodGroup yet, which is done before it goes.
        """
        group = group_of(pod)
        if not self.goes_whole(group):
            return None
        uid = pod.metadata.uid
        found = self._pods.get(group, {}).values()
        return [one for one in found if one.metadata.uid != uid and not one.has_ended]

    def pod_changed(self, key: PodKey, pod: Pod) -> None:
        """See PodListener."""
        if pod.spec.scheduling_group is None:
            return
        group = group_of(pod)
        if group:
            pods = self._pods.setdefault(group, {})
            old, pods[key] = pods.get(key), pod
            if old is None or _judged(old) != _judged(pod):
                self._tell(group)

    def pod_gone(self, pod: Pod) -> None:
        """See PodListener."""
        group = group_of(pod)
        pods = self._pods.get(group)
        if pods is None:
            return
        pods.pop((pod.metadata.namespace, pod.metadata.name), None)
        self._tell(group)
        if not pods:
            del self._pods[group]
            self._whole.pop(group, None)

    def _tell(self, group: str) -> None:
        if self.goes_whole(group):
            self._listener.gang_changed(group)


def _judged(pod: Pod) -> tuple[object, ...]:
    """All of a pod that rules look at for its gang."""
    metadata = pod.metadata
    protection = metadata.annotations.do_not_evict
    return metadata.uid, pod.spec.node_name, pod.has_ended, protection, metadata.labels
