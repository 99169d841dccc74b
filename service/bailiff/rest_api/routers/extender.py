"""What kube-scheduler calls as its extender: filter, prioritize and preempt."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import APIRouter, Body

from bailiff.decisions import Size
from bailiff.kinds.extender import (
    FILTER,
    PREEMPT,
    PREFIX,
    PRIORITIZE,
    ExtenderArgs,
    ExtenderFilterResult,
    ExtenderPreemptionArgs,
    ExtenderPreemptionResult,
    HostPriority,
)
from bailiff.rest_api.examples import extender as examples
from bailiff.rest_api.extender import Extender
from bailiff.rest_api.extender_route import extender_route
from bailiff.rest_api.problems import ProblemCode, problem_responses
from bailiff.rest_api.wire import Wire
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.rest_api.services import Services

    # From a body to its answer, once its arguments are known.
    Answering = Callable[[bytes], Awaitable[bytes]]

# The types of its bodies and answers, for the document.
ASKED = (ExtenderArgs, ExtenderPreemptionArgs)
ANSWERED = (ExtenderFilterResult, HostPriority, ExtenderPreemptionResult)

_OF_BODY = (
    ProblemCode.MALFORMED_BODY,
    ProblemCode.WRONG_SHAPE,
    ProblemCode.SLOW_BODY,
    ProblemCode.BODY_TOO_LARGE,
    ProblemCode.UNSUPPORTED_MEDIA_TYPE,
    ProblemCode.MISDIRECTED_REQUEST,
)
_OF_CLUSTER = (
    ProblemCode.TOO_MANY_OBJECTS,
    ProblemCode.CLUSTER_FORBIDDEN,
    ProblemCode.CLUSTER_FAILED,
    ProblemCode.NO_CLUSTER,
    ProblemCode.CLUSTER_UNAVAILABLE,
)


class Verb(NamedTuple):
    """One of the operations.

    Attributes:
        name: in the path, and in a KubeSchedulerConfiguration.
        summary: one line.
        description: Markdown.
        asked: the type of the arguments.
        answered: the answer's annotation.
        problems: that it may answer, besides those of every body.
    """

    name: str
    summary: str
    description: str
    asked: type
    answered: Any
    problems: tuple[ProblemCode, ...] = ()


VERBS = (
    Verb(
        FILTER,
        "On which of these nodes may the pod be put?",
        "`filterVerb` of kube-scheduler's extenders. Nodes whose taints the pod does not tolerate, "
        "or that take no pods, are left out and named in `FailedAndUnresolvableNodes`. Where names "
        "are asked about (`nodeCacheCapable`), nodes are looked up in Bailiff's cluster, as they "
        "were about a second ago; a cluster that cannot be read is told in `Error`.",
        ExtenderArgs,
        Annotated[ExtenderFilterResult, Wire(ExtenderFilterResult)],
    ),
    Verb(
        PRIORITIZE,
        "How much is each of these nodes liked?",
        "`prioritizeVerb` of kube-scheduler's extenders: from 10 for the nodes that are named "
        "first by `judgeNodes` to 0 for the last, by PreferNoSchedule taints and then by how long "
        "the pod could stay.",
        ExtenderArgs,
        list[Annotated[HostPriority, Wire(HostPriority)]],
        _OF_CLUSTER,
    ),
    Verb(
        PREEMPT,
        "On which of these nodes would the pod stay, once others are gone?",
        "`preemptVerb` of kube-scheduler's extenders. Leaves out the nodes where the pod could not "
        "stay whoever else went, as their taints and what else `judgeNodes` goes by have it, so "
        "that nobody is evicted for nothing; says nothing of others, nor of nodes that it does not "
        "find. Nodes are looked up in Bailiff's cluster.",
        ExtenderPreemptionArgs,
        Annotated[ExtenderPreemptionResult, Wire(ExtenderPreemptionResult)],
        _OF_CLUSTER,
    ),
)


def extender_router(services: Services) -> APIRouter:
    """The three operations."""
    router = APIRouter(tags=["Scheduling"], route_class=extender_route(services))
    extender = Extender(services, services.nodes)
    for verb in VERBS:
        operation = _operation(verb, getattr(extender, verb.name))
        router.post(f"{PREFIX}/{verb.name}", **_told(verb, services))(operation)
    return router


def _operation(verb: Verb, answer: Callable[..., Awaitable[Any]]) -> Callable[[Any], Answering]:
    def operation(args: Any) -> Answering:  # noqa: ANN401 - of the verb's type
        return partial(answer, args)

    body = Body(openapi_examples=examples.bodies_of(verb.name))
    operation.__annotations__ = {
        "args": Annotated[verb.asked, Wire(verb.asked, Size.MANY), body],
        "return": verb.answered,
    }
    return operation


def _told(verb: Verb, services: Services) -> dict[str, Any]:
    name = f"extender{verb.name.capitalize()}"
    # An example is nobody's question, and so in no trace.
    untraced = replace(services, tracer=NO_TRACER)
    shown = Extender(untraced, examples.ExampleNodes(services.systems))
    answers = examples.answers_to(verb.name, getattr(shown, verb.name))
    return {
        "operation_id": name,
        "name": name,
        "summary": verb.summary,
        "description": verb.description,
        "response_description": "The answer, as kube-scheduler reads it.",
        "responses": {
            200: {"content": {"application/json": {"examples": answers}}},
            **problem_responses(*_OF_BODY, *verb.problems, ProblemCode.OVERLOADED),
        },
    }
