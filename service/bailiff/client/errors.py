"""What can go wrong with a question, as exceptions of one family.

Codes are those of docs/reference/errors.md, in REST's spelling over both transports. What has no
answer of Bailiff's has a code of this module's own.
"""

from __future__ import annotations

from dataclasses import dataclass

# No answer came, in words of our own: nobody could be reached, time was up, the answer made no
# sense, or somebody on the way, such as a proxy, said no in Bailiff's stead.
UNREACHABLE = "unreachable"
DEADLINE = "deadline"
UNREADABLE = "unreadable_answer"
UNAVAILABLE = "unavailable"
CLOSED = "closed"


@dataclass(frozen=True)
class FieldError:
    """A field of the question that is at fault.

    Attributes:
        path: where it is, in JSON's names, as `$.pod.spec.tolerations[0].tolerationSeconds`.
        reason: what is wrong with it, for people.
    """

    path: str
    reason: str


@dataclass(frozen=True)
class Failure:
    """What is known of one attempt that failed.

    Attributes:
        code: stable, such as `invalid_field`; those that Bailiff does not know yet are possible.
        message: for people; may change.
        fields: what of the question is at fault; empty where it is not the question.
        request_id: under which the server's log has more; None where no answer came, and over gRPC.
        retry_after: seconds that the server asks to be left alone; None where it does not say.
    """

    code: str
    message: str
    fields: tuple[FieldError, ...] = ()
    request_id: str | None = None
    retry_after: float | None = None


class BailiffError(Exception):
    """A question that has no answer. Each subclass says what to do about it.

    Attributes:
        failure: all that is known of it.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.code}: {failure.message}")
        self.failure = failure

    @property
    def code(self) -> str:
        """Stable, as `invalid_field`."""
        return self.failure.code

    @property
    def fields(self) -> tuple[FieldError, ...]:
        """What of the question is at fault."""
        return self.failure.fields

    @property
    def request_id(self) -> str | None:
        """Under which the server's log has more; None over gRPC and where no answer came."""
        return self.failure.request_id

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to be left alone."""
        return self.failure.retry_after


class InvalidQuestionError(BailiffError):
    """The question cannot be read: mend the field that `fields` names."""


class TooLongError(BailiffError):
    """The question or its answer is too long: ask for less at a time."""


class UnauthenticatedError(BailiffError):
    """The server does not know who asks: bring a token that is meant for it."""


class ForbiddenError(BailiffError):
    """Who asks may not: the message names the right that is missing."""


class NotFoundError(BailiffError):
    """There is no such object in the cluster, or the server has no such question."""


class OverloadedError(BailiffError):
    """The server, or the quota of who asks, has no room: come again later."""


class UnavailableError(BailiffError):
    """Nobody answers, or the server lacks what it needs: come again later."""


class DeadlineError(BailiffError, TimeoutError):
    """The time that the caller has given was up."""


class ServerError(BailiffError):
    """The server's fault, or its cluster's: report it with the request id."""


@dataclass(frozen=True)
class _Kind:
    error: type[BailiffError]
    repeated: bool = False


# Which exception a code is, and whether the same question may have an answer soon.
_KINDS = {
    "malformed_request": _Kind(InvalidQuestionError),
    "malformed_body": _Kind(InvalidQuestionError),
    "unauthenticated": _Kind(UnauthenticatedError),
    "forbidden": _Kind(ForbiddenError),
    "not_found": _Kind(NotFoundError),
    "method_not_allowed": _Kind(NotFoundError),
    # The body went too slowly; the next one would, too.
    "slow_body": _Kind(DeadlineError),
    "body_too_large": _Kind(TooLongError),
    "answer_too_large": _Kind(TooLongError),
    # Of an extender's questions, which are kube-scheduler's to ask.
    "wrong_shape": _Kind(InvalidQuestionError),
    "unsupported_media_type": _Kind(InvalidQuestionError),
    "misdirected_request": _Kind(InvalidQuestionError),
    "invalid_field": _Kind(InvalidQuestionError),
    "too_many_objects": _Kind(TooLongError),
    "too_many_requests": _Kind(OverloadedError, repeated=True),
    "head_too_large": _Kind(TooLongError),
    "internal": _Kind(ServerError),
    "cluster_forbidden": _Kind(ServerError),
    "cluster_failed": _Kind(ServerError),
    "authentication_unavailable": _Kind(UnavailableError, repeated=True),
    "no_cluster": _Kind(UnavailableError),
    "cluster_unavailable": _Kind(UnavailableError, repeated=True),
    "idle": _Kind(UnavailableError, repeated=True),
    "overloaded": _Kind(OverloadedError, repeated=True),
    "stopping": _Kind(UnavailableError, repeated=True),
    UNREACHABLE: _Kind(UnavailableError, repeated=True),
    UNAVAILABLE: _Kind(UnavailableError, repeated=True),
    DEADLINE: _Kind(DeadlineError, repeated=True),
    UNREADABLE: _Kind(ServerError),
    CLOSED: _Kind(UnavailableError),
}


def error_of(failure: Failure, otherwise: type[BailiffError] = ServerError) -> BailiffError:
    """The exception for a failure.

    Args:
        failure: what is known.
        otherwise: what it is where the code is none that we know.
    """
    kind = _KINDS.get(failure.code)
    return (kind.error if kind else otherwise)(failure)


def late(told: str = "no answer in time") -> BailiffError:
    """That the time is up."""
    return error_of(Failure(DEADLINE, told))


def is_repeated(code: str) -> bool:
    """Whether the same question may have an answer soon. All questions change nothing."""
    kind = _KINDS.get(code)
    return kind is not None and kind.repeated
