"""What the runtime says of the containers of pods, for readings and for who stops them."""

from __future__ import annotations

import asyncio
from types import MappingProxyType
from typing import TYPE_CHECKING

from bailiff.agent.runtime import RuntimeFailedError
from bailiff.decisions.pressure.garbage import ContainerState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.agent.log import Log
    from bailiff.agent.readings.pods import Layer
    from bailiff.agent.runtime import Runtime
    from bailiff.kinds import Pod

_NOTHING: Mapping[str, str] = MappingProxyType({})
# So often in a row the runtime has not answered, a minute between: what it said is too old by then.
_FORGOTTEN_AFTER = 2


class Containers:
    """See KnownContainers and Stopper."""

    def __init__(self, runtime: Runtime, log: Log) -> None:
        """Nothing is known yet."""
        self._runtime = runtime
        self._log = log
        self._by_pod: dict[str, dict[str, str]] = {}
        self.layers: Mapping[str, Layer] = {}
        # In a row.
        self._failures = 0

    def of(self, uid: str) -> Mapping[str, str]:
        """See KnownContainers."""
        return self._by_pod.get(uid, _NOTHING)

    async def refresh(self) -> None:
        """See KnownContainers."""
        try:
            found: dict[str, dict[str, str]] = {}
            for one in await self._runtime.listed():
                if one.state is ContainerState.RUNNING:
                    found.setdefault(one.pod_uid, {})[one.id] = one.name
            self._by_pod, self.layers = found, await self._runtime.layers()
            self._failures = 0
        except RuntimeFailedError as error:
            self._failures += 1
            if self._failures >= _FORGOTTEN_AFTER:
                self._by_pod, self.layers = {}, {}
            self._log.info("containers are not known", error=str(error))

    async def stop(self, pod: Pod, grace_period_seconds: int) -> bool | None:
        """See Stopper: all at once, as the kubelet does (killContainersWithSyncResult)."""
        try:
            running = [
                one.id
                for one in await self._runtime.listed()
                if one.pod_uid == pod.metadata.uid and one.state is ContainerState.RUNNING
            ]
        except RuntimeFailedError as error:
            self._log.warning("containers not stopped", pod=pod.key, error=str(error))
            return False
        if not running:
            return None
        stops = [self._stop(one, pod, grace_period_seconds) for one in running]
        return any(await asyncio.gather(*stops))

    async def _stop(self, container: str, pod: Pod, grace_period_seconds: int) -> bool:
        try:
            await self._runtime.stop_container(container, grace_period_seconds)
        except RuntimeFailedError as error:
            self._log.warning("container not stopped", pod=pod.key, error=str(error))
            return False
        return True
