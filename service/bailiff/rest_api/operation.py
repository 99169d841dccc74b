"""What an operation is: all that routes and the OpenAPI document are made from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from bailiff.rest_api.problems import ProblemCode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bailiff.rest_api.examples import Example
    from bailiff.rest_api.questions import Questions

_ASKING = (
    ProblemCode.MALFORMED_BODY,
    ProblemCode.SLOW_BODY,
    ProblemCode.BODY_TOO_LARGE,
    ProblemCode.UNSUPPORTED_MEDIA_TYPE,
    ProblemCode.INVALID_FIELD,
    ProblemCode.OVERLOADED,
)
_READING = (
    ProblemCode.NOT_FOUND,
    ProblemCode.INVALID_FIELD,
    ProblemCode.CLUSTER_FORBIDDEN,
    ProblemCode.CLUSTER_FAILED,
    ProblemCode.NO_CLUSTER,
    ProblemCode.CLUSTER_UNAVAILABLE,
    ProblemCode.OVERLOADED,
)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What all operations have.

    Attributes:
        id: stable name for generated clients.
        path: the route template.
        summary: one line.
        description: Markdown.
        answer: the type of a 200.
        codes: the problems it may answer with, beyond `internal`.
    """

    id: str
    path: str
    summary: str
    description: str
    answer: type
    codes: tuple[ProblemCode, ...]


class BodySize(Enum):
    """What a body holds: one pod, a node and its pods, or the devices of a cluster."""

    ONE = auto()
    BATCH = auto()
    DEVICES = auto()


@dataclass(frozen=True, kw_only=True)
class Question(Operation):
    """A POST that brings its facts.

    Attributes:
        facts: the type of the body.
        ask: who answers.
        size: how long the body may be.
        examples: bodies by name.
    """

    facts: type
    ask: Callable[[Questions, Any], Any]
    size: BodySize = BodySize.ONE
    examples: Mapping[str, Example]
    codes: tuple[ProblemCode, ...] = _ASKING


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A part of the path.

    Attributes:
        name: as in the template.
        description: for people.
        pattern: what it must match.
        max_length: in characters.
        example: a value.
    """

    name: str
    description: str
    pattern: str
    max_length: int
    example: str


@dataclass(frozen=True, kw_only=True)
class Reading(Operation):
    """A GET that is answered from the cluster.

    Attributes:
        parameters: of the path, in the order in which `read` takes them.
        read: who answers.
        explains: whether the trace is given where the query does not say.
        example_of: the question that answers alike.
        example: one of that question's; its answer shows what comes.
    """

    parameters: tuple[Parameter, ...]
    read: Callable[..., Awaitable[Any]]
    explains: bool
    example_of: Question
    example: Example
    codes: tuple[ProblemCode, ...] = _READING
