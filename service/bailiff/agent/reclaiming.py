"""What the node frees before a pod goes: dead containers, and images that nobody uses.

The rules are the core's (decisions/pressure/garbage*.py); here is who asks the runtime, and does
what they say. CRI does not tell when an image was last used, so all images are looked at every five
minutes, as the kubelet does (pkg/kubelet/images/image_gc_manager.go), and what was seen is kept
over restarts, which the kubelet does not.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from bailiff.agent.reading import ReadingError
from bailiff.agent.runtime import RuntimeFailedError
from bailiff.clock import SteadyTime
from bailiff.decisions.pressure.garbage import ContainerState
from bailiff.decisions.pressure.garbage_containers import (
    LocalPods,
    dead_containers,
    unused_sandboxes,
)
from bailiff.decisions.pressure.garbage_images import (
    ImageMemory,
    forget_images,
    observe_images,
    unused_images,
)
from bailiff.decisions.pressure.layout import ReclaimStep
from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from bailiff.agent.log import Log
    from bailiff.agent.metrics import AgentMetrics
    from bailiff.agent.remembering import Remembering
    from bailiff.agent.runtime import Runtime
    from bailiff.agent.standing import Standing
    from bailiff.clock import Clock
    from bailiff.decisions.pressure.garbage import RuntimeContainer, RuntimeImage
    from bailiff.kinds import Pod

# Seconds, ImageGCPeriod of pkg/kubelet/kubelet.go.
_LOOK_EVERY = 300.0
# Seconds until a look that failed is tried again.
_AGAIN = 10.0
# Seconds for all that is removed in one round; what is left goes in the next.
_LONGEST = 120.0
# Seconds that the node's kubelet is given to free the node itself, where nothing is removed here.
_KUBELET_FREES = 10.0
# Seconds, minimumGracePeriodInSeconds of pkg/kubelet/kuberuntime/kuberuntime_manager.go.
_STOP_SECONDS = 2


class GarbageCollector:
    """See Reclaimer; one at a time."""

    def __init__(
        self,
        runtime: Runtime,
        pods: Callable[[], Sequence[Pod]],
        remembering: Remembering,
        standing: Standing,
        metrics: AgentMetrics,
        clock: Clock,
        log: Log,
        *,
        on_paper: bool,
    ) -> None:
        """Go on by what was seen of images before a restart.

        Args:
            runtime: of the node.
            pods: all that are on the node, as the API or the kubelet has them.
            remembering: keeps what is seen of images.
            standing: is told what was freed.
            metrics: count it.
            clock: of looks.
            log: hears of each thing that is removed.
            on_paper: nothing is removed.
        """
        self._runtime = runtime
        self._pods = pods
        self._remembering = remembering
        self._standing = standing
        self._metrics = metrics
        self._clock = clock
        # An image is no older because a clock was stepped.
        self._steady = SteadyTime(clock)
        self._log = log
        self._on_paper = on_paper
        self._memory = _memory_in(remembering.images)

    async def free(self, steps: Sequence[ReclaimStep]) -> None:
        """See Reclaimer.

        Raises:
            ReadingError: the runtime does not say what there is, or is slow.
        """
        try:
            async with asyncio.timeout(_LONGEST):
                for step in steps:
                    await self._do(step)
        except TimeoutError as error:
            why = f"not all could be freed within {_LONGEST:g} s, the next round goes on"
            self._log.warning("not freed in time", seconds=_LONGEST)
            raise ReadingError("runtime", why) from error
        except RuntimeFailedError as error:
            self._silent(error)
            why = f"what there is to free is not known: {error}"
            raise ReadingError("runtime", why) from error
        self._silent(None)
        if self._on_paper:
            await asyncio.sleep(_KUBELET_FREES)

    async def run(self) -> None:
        """Look at all images every five minutes, until cancelled."""
        while True:
            pause = await self.look()
            await asyncio.sleep(pause)

    async def look(self) -> float:
        """Look at all images; seconds until the next look."""
        try:
            self._observe(await self._runtime.images(), await self._runtime.containers())
        except RuntimeFailedError as error:
            self._silent(error)
            return _AGAIN
        self._silent(None)
        return _LOOK_EVERY

    def _silent(self, error: RuntimeFailedError | None) -> None:
        if self._standing.complain("the container runtime", "" if error is None else str(error)):
            self._log.warning("the container runtime does not answer", error=str(error))

    async def _do(self, step: ReclaimStep) -> None:
        match step:
            case ReclaimStep.UNUSED_CONTAINERS:
                await self._free_containers()
            case ReclaimStep.UNUSED_IMAGES:
                await self._free_images()

    async def _free_containers(self) -> None:
        runtime, pods = self._runtime, LocalPods.of(self._pods())
        containers = await runtime.containers()
        sandboxes = await runtime.sandboxes()
        for one in dead_containers(containers, sandboxes, pods, self._steady.now()):
            await self._try("container", one.id, self._remove(one))
        left = await runtime.containers()
        for sandbox in unused_sandboxes(await runtime.sandboxes(), left, pods):
            await self._try("sandbox", sandbox.id, runtime.remove_sandbox(sandbox.id))

    async def _remove(self, container: RuntimeContainer) -> None:
        """One of an unknown state may run, so it is stopped first, as the kubelet does."""
        if container.state is ContainerState.UNKNOWN:
            await self._runtime.stop_container(container.id, _STOP_SECONDS)
        await self._runtime.remove_container(container.id)

    async def _free_images(self) -> None:
        images, containers = await self._runtime.images(), await self._runtime.containers()
        self._observe(images, containers)
        for one in unused_images(self._memory, images, containers, self._steady.now()):
            if await self._try("image", one.id, self._runtime.remove_image(one.id), *one.tags):
                # At once: the freeing may be left, and it may be pulled again.
                self._remember(forget_images(self._memory, [one.id]))

    async def _try(
        self, what: str, which: str, removing: Coroutine[None, None, None], *names: str
    ) -> bool:
        """Remove one thing; whether it is gone. What fails is left to the next round."""
        fate = "freed"
        try:
            if self._on_paper:
                fate = "onPaper"
                removing.close()
            else:
                await removing
        except RuntimeFailedError as error:
            fate = "failed"
            self._log.info("not freed", what=what, which=which, error=str(error))
        else:
            event = "would be freed" if self._on_paper else "freed"
            self._log.info(event, what=what, which=which, names=names)
        self._metrics.freed(what, fate)
        at = describe_time(self._clock.now())
        self._standing.freed({"what": what, "id": which, "names": names, "at": at, "fate": fate})
        return fate == "freed"

    def _observe(
        self, images: Sequence[RuntimeImage], containers: Sequence[RuntimeContainer]
    ) -> None:
        self._remember(observe_images(self._memory, images, containers, self._steady.now()))

    def _remember(self, memory: ImageMemory) -> None:
        self._memory = memory
        self._remembering.note_images(msgspec.json.encode(memory))


def _memory_in(kept: bytes) -> ImageMemory:
    """What was kept; nothing where it is of no use."""
    try:
        return msgspec.json.decode(kept, type=ImageMemory)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return ImageMemory()
