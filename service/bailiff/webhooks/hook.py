"""What a hook is: it looks at one request to the API server, and says what may come of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from bailiff.decisions.admission import PatchOperation
from bailiff.kinds import DecodeError, decode
from bailiff.kinds.admission_review import is_absent
from bailiff.kinds.meta import Value
from bailiff.kinds.turns import decode_in_turns
from bailiff.turns import is_long_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from msgspec import Raw

    from bailiff.kinds.admission_review import AdmissionRequest
    from bailiff.serving import Threads

# The target of an eviction: `validate/evictions` alone lets it go, and no other hook unseen.
EVICTION = "pods/eviction"

# Seconds, at most, after which whoever is refused for now is to try again, however far the end is:
# a pause may be ended, a node come back. Go's client (client-go, rest/with_retry.go) waits as long
# as it is told up to ten times before it says anything: so does `kubectl drain`, whose --timeout
# does not count meanwhile.
RETRY_SECONDS = 2

T = TypeVar("T")
R = TypeVar("R")


class Refusal(Value, frozen=True):
    """Why a request may not go on; it is handed on to whoever made it.

    Attributes:
        code: of HTTP, 400 and more, as 403 or 429.
        reason: for programs, as Kubernetes' StatusReason: `Forbidden`, `TooManyRequests`.
        message: for people: which rule, and what to do about it.
        retry_after_seconds: after which it is worth trying again, 1 or more; None: nobody knows.
    """

    code: int
    reason: str
    message: str
    retry_after_seconds: int | None = None


class Outcome(Value, frozen=True):
    """What a hook says of a request.

    Attributes:
        allowed: whether it may go on.
        refusal: why not; None where it may.
        patch: what is to be changed of the object; of `mutate` hooks alone, since the API server
            takes a patch from no other.
        warnings: for whoever asked; of any length, the face cuts them.
    """

    allowed: bool = True
    refusal: Refusal | None = None
    patch: tuple[PatchOperation, ...] = ()
    warnings: tuple[str, ...] = ()


ALLOWED = Outcome()


def refused(
    code: int, reason: str, message: str, retry_after_seconds: int | None = None
) -> Outcome:
    """An outcome that refuses; arguments as of Refusal."""
    return Outcome(
        allowed=False,
        refusal=Refusal(
            code=code, reason=reason, message=message, retry_after_seconds=retry_after_seconds
        ),
    )


class HookError(Exception):
    """The object in the request cannot be read; the message says where, and what is wrong.

    Whoever made the request is refused with 400: the API server would refuse it, too.
    """


# The part of a call's time that a hook has: the rest is for the way there and back.
_SHARE = 0.9
# Seconds before its deadline, at which a hook that is late is cut. Each step ends before the next,
# so that it can still be said what is missing: evictions have been counted, the gate knows all that
# decides, and what is looked at has been seen.
COUNTED, DECIDED, SEEN = 0.1, 0.05, 0.02


class Hook(Protocol):
    """One operation under `/admission/v1/`. To be subclassed: it has defaults.

    Attributes:
        path: below that, as `validate/nodes`; its first word is `mutate` or `validate`.
        summary: what it does, as a title.
        description: the same at length, for the API's document, in Markdown.
        targets: which requests it looks at, see `AdmissionRequest.target`; whatever else it is
            asked about, by a webhook that is registered for too much, is allowed with a warning,
            but for evictions.
        exempts: requests of Bailiff's own accounts and namespaces are allowed unseen.
        patience: seconds within which it answers, where the API server waits for so long.
        allows_unanswered: what becomes of a request on which the hook is late, or fails: it is
            allowed with a warning; else it is refused with 503 and may be tried again.
    """

    path: str
    summary: str
    description: str
    targets: frozenset[str]
    exempts: bool = True
    patience: float = 1.0
    allows_unanswered: bool = True

    def deadline(self, since: float, timeout: float) -> float:
        """The instant of `Clock.monotonic` by which it answers a call.

        Args:
            since: when that came.
            timeout: seconds for which the API server waits.
        """
        return since + _SHARE * min(self.patience, timeout)

    async def review(self, request: AdmissionRequest, deadline: float) -> Outcome:
        """What becomes of a request.

        Args:
            request: about one of `targets`.
            deadline: the instant of `Clock.monotonic` by which there is to be an answer. A hook
                that reads from the cluster ends its reads before that; one that is late is cut.

        Raises:
            HookError: see there.
        """
        ...


class ObjectReader:
    """Reads the objects of requests; long ones in a thread, so that nobody waits behind them."""

    def __init__(self, threads: Threads) -> None:
        """Read in these threads."""
        self._threads = threads

    async def read(self, given: Raw, kind: type[T], field: str = "object") -> T:
        """An object of a request.

        Args:
            given: as it came.
            kind: what to make of it.
            field: of the request that holds it, as `oldObject`.

        Raises:
            HookError: it is absent, or no such object.
            OverloadedError: it is long, and no thread took it in time.
        """
        return await self.make(given, kind, _as_it_is, field)

    async def make(
        self, given: Raw, kind: type[T], work: Callable[[T], R], field: str = "object"
    ) -> R:
        """What some work makes of an object; of a long one in the same thread.

        Args:
            given: as it came.
            kind: what `work` takes.
            work: takes longer the longer the object is, and waits for nothing.
            field: as of `read`, which also says what is raised.
        """
        if is_absent(given):
            raise HookError(f"request.{field}: required, and missing or null")
        try:
            return await self._make(bytes(given), kind, work)
        except DecodeError as error:
            where = error.path.replace("$", f"request.{field}", 1)
            raise HookError(f"{where}: {error.reason}") from error

    async def _make(self, data: bytes, kind: type[T], work: Callable[[T], R]) -> R:
        if is_long_json(len(data)):
            return await self._threads.run(_make_long, data, kind, work, read=len(data))
        return work(decode(data, kind))


def _make_long(data: bytes, kind: type[T], work: Callable[[T], R]) -> R:
    return work(decode_in_turns(data, kind))


def _as_it_is(found: T) -> T:
    return found
