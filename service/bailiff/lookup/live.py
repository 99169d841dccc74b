"""Questions about live objects: what the systems want to see is looked up, then they are asked."""

from __future__ import annotations

import asyncio
import math
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec.structs import replace

from bailiff.decisions import (
    FactsError,
    NotRead,
    OfKubelet,
    OptionOverrides,
    Scene,
    Wanted,
    Why,
)
from bailiff.decisions.system import others_of
from bailiff.kinds import Node, Pod, as_served
from bailiff.lookup.errors import (
    BusyError,
    ForbiddenError,
    MissingError,
    NotServedError,
    TooManyError,
    UnavailableError,
)
from bailiff.turns import Turns, WaitedTooLongError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from bailiff.clock import Clock
    from bailiff.decisions import Options, Plan, PodAnswer, PodsAnswer, Round, System, Systems
    from bailiff.decisions.seen import Seen
    from bailiff.decisions.system import LookUp
    from bailiff.kinds.meta import Value

T = TypeVar("T")
K = TypeVar("K", bound="Value")


@asynccontextmanager
async def in_time(seconds: float) -> AsyncIterator[None]:
    """Give up after so many seconds, with UnavailableError."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise UnavailableError(f"the cluster did not answer within {seconds:g} s") from error


class Source(Protocol):
    """Where objects come from. Every method raises LookUpError.

    Attributes:
        asks_kubelets: kubelets may be asked, too.
    """

    @property
    def asks_kubelets(self) -> bool:
        """See Attributes."""
        ...

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        """One object; MissingError if there is none of that name."""
        ...

    async def see(self, wanted: Wanted) -> tuple[Value, ...]:
        """All objects that are wanted, as far as there are any."""
        ...

    async def ask_kubelet(self, node: Node) -> Seen:
        """What its kubelet tells, or why not; see OfKubelet. Raises nothing."""
        ...


class LookUps:
    """What may be asked about the objects of a cluster. Reads, never writes, keeps nothing.

    Every method raises LookUpError: UnavailableError where it is not done in time, BusyError where
    its turn did not come in time, the first two TooManyError where there is too much to answer for.
    """

    def __init__(
        self,
        source: Source,
        systems: Systems,
        clock: Clock,
        timeout: float,
        max_at_a_time: int = 1,
        max_queue_age: float = math.inf,
    ) -> None:
        """Prepare.

        Args:
            source: of the objects.
            systems: who is asked.
            clock: the instant that is decided for, once all has been seen.
            timeout: seconds for all that one question needs, waiting for its turn included.
            max_at_a_time: questions that may be looked up at a time; others wait.
            max_queue_age: seconds that one waits for its turn.
        """
        self._source = source
        self._systems = systems
        self._clock = clock
        self._timeout = timeout
        self._turns = Turns(max_at_a_time, max_queue_age)

    async def pod(
        self, namespace: str, name: str, defaults: Options, explain: bool | None = None
    ) -> Plan[PodAnswer]:
        """What `decidePodOfCluster` asks for.

        Args:
            namespace: of the pod.
            name: of the pod.
            defaults: how it is decided, but for the trace.
            explain: give the trace; None: as the question has it.
        """
        options = self._options("decidePodOfCluster", defaults, explain)

        async def look() -> Plan[PodAnswer]:
            pod = await self._source.get(Pod, name, namespace)
            scene, parts = await self._looked(await self._around(pod), options)
            return self._systems.weigh_seen_pod(scene, parts, options)

        return await self._in_time(look)

    async def node(
        self, name: str, defaults: Options, explain: bool | None = None
    ) -> Plan[PodsAnswer]:
        """What `decideNodeOfCluster` asks for; arguments as of `pod`."""
        options = self._options("decideNodeOfCluster", defaults, explain)

        async def look() -> Plan[PodsAnswer]:
            node, pods = await self._node_and_pods(name)
            scene = Scene(pods, self._clock.now(), node, neighbours=())
            scene, parts = await self._looked(scene, options)
            return self._systems.weigh_seen_pods(scene, parts, options)

        return await self._in_time(look)

    async def node_and_pods(self, name: str) -> tuple[Node, tuple[Pod, ...]]:
        """A node as its cluster has it, and all pods that are bound to it, ended ones too."""
        return await self._in_time(lambda: self._node_and_pods(name))

    async def all_of(self, *kinds: type[Value]) -> Mapping[type[Value], tuple[Value, ...]]:
        """All objects of some kinds, in all namespaces."""

        async def look() -> dict[type[Value], tuple[Value, ...]]:
            return {kind: await self._source.see(Wanted(kind)) for kind in kinds}

        return await self._in_time(look)

    def _options(self, question: str, defaults: Options, explain: bool | None) -> Options:
        asked = self._systems.live_questions[question].asks
        return asked.options(OptionOverrides(explain=explain), defaults)

    async def _around(self, pod: Pod) -> Scene:
        name = pod.spec.node_name
        if not name:
            return Scene((pod,), self._clock.now(), without_node=True)
        try:
            node = await self._get_node(name)
        except MissingError:
            return Scene((pod,), self._clock.now(), without_node=True)
        others = await self._neighbours_of(pod, node)
        return Scene((pod,), self._clock.now(), node, neighbours=others)

    async def _neighbours_of(self, pod: Pod, node: Node) -> tuple[Pod, ...] | None:
        """The other pods of its node; None where nobody minds them, or they may not be read."""
        # What a kubelet tells says something of a pod only beside all others.
        if not (self._source.asks_kubelets or self._systems.look_at_neighbours(node)):
            return None
        try:
            return others_of(pod, await self._pods_on(pod.spec.node_name))
        except ForbiddenError:
            # Systems that rank say what that means for them; others have their answer.
            return None

    async def _node_and_pods(self, name: str) -> tuple[Node, tuple[Pod, ...]]:
        return await self._get_node(name), await self._pods_on(name)

    async def _pods_on(self, node: str) -> tuple[Pod, ...]:
        seen = await self._source.see(Wanted(Pod, fields=(("spec.nodeName", node),)))
        return tuple(one for one in seen if isinstance(one, Pod))

    async def _get_node(self, name: str) -> Node:
        return as_served(await self._source.get(Node, name))

    async def _looked(
        self, scene: Scene, options: Options
    ) -> tuple[Scene, list[tuple[System[Any], Value | Round]]]:
        """The scene at the instant when all was seen, and what each system's look-up came to."""
        parts = [
            (system, await drive(looking, self._source))
            for system, looking in self._systems.look_ups(scene, options)
        ]
        return replace(scene, now=self._clock.now()), parts

    async def _in_time(self, look: Callable[[], Awaitable[T]]) -> T:
        try:
            async with in_time(self._timeout), self._turns.turn():
                return await look()
        except WaitedTooLongError as error:
            raise BusyError(f"many objects are being looked up: {error}") from error
        except FactsError as error:
            raise TooManyError(f"the cluster has more than one answer may hold: {error}") from error


class Shows(Protocol):
    """Who shows systems what they want to see: a source, or one that fails in its own way."""

    async def see(self, wanted: Wanted) -> Seen:
        """All objects that are wanted, or why they are not seen."""
        ...

    async def ask_kubelet(self, node: Node) -> Seen:
        """What its kubelet tells, or why not; see OfKubelet."""
        ...


async def drive(looking: LookUp[Any], source: Shows) -> Any:  # noqa: ANN401 - as the generator's
    """Show a system all that it wants to see, and give back what it makes of that.

    What may not be read, or is not served, it is told: it may still have an answer.

    Raises:
        LookUpError: for any other reason.
    """
    try:
        wanted = next(looking)
        while True:
            wanted = looking.send(await _seen(wanted, source))
    except StopIteration as done:
        return done.value


async def _seen(wanted: Wanted | OfKubelet, source: Shows) -> Seen:
    if isinstance(wanted, OfKubelet):
        return await source.ask_kubelet(wanted.node)
    try:
        return await source.see(wanted)
    except ForbiddenError as error:
        return NotRead(Why.FORBIDDEN, str(error))
    except NotServedError as error:
        return NotRead(Why.NOT_SERVED, str(error))
