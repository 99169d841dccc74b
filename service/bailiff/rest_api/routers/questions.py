"""The questions of the core's table: of facts in the body, and of objects of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from bailiff.decisions import Plan, PodAnswer, PodsAnswer
from bailiff.kinds import names
from bailiff.rest_api.examples import answers_to, bodies_of
from bailiff.rest_api.problems import ProblemCode, problem_responses
from bailiff.rest_api.question_route import question_route
from bailiff.rest_api.services import Cluster, Given  # noqa: TC001 - FastAPI reads them
from bailiff.rest_api.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import Enum

    from bailiff.decisions import Asked, LiveQuestion, Question, Systems
    from bailiff.rest_api.services import Services

_OF_FACTS = problem_responses(
    ProblemCode.MALFORMED_BODY,
    ProblemCode.SLOW_BODY,
    ProblemCode.BODY_TOO_LARGE,
    ProblemCode.UNSUPPORTED_MEDIA_TYPE,
    ProblemCode.MISDIRECTED_REQUEST,
    ProblemCode.INVALID_FIELD,
    ProblemCode.OVERLOADED,
)
_OF_CLUSTER = problem_responses(
    ProblemCode.NOT_FOUND,
    ProblemCode.MISDIRECTED_REQUEST,
    ProblemCode.INVALID_FIELD,
    ProblemCode.TOO_MANY_OBJECTS,
    ProblemCode.CLUSTER_FORBIDDEN,
    ProblemCode.CLUSTER_FAILED,
    ProblemCode.NO_CLUSTER,
    ProblemCode.CLUSTER_UNAVAILABLE,
    ProblemCode.OVERLOADED,
)
# Under which heading the document has a question, by the gRPC service that asks it, too.
_TAGS = {"EvictionDecisionService": "Decisions", "SchedulingService": "Scheduling"}


def decisions_router(services: Services) -> APIRouter:
    """An operation for every question that can be asked of the systems."""
    router = APIRouter(route_class=question_route(services))
    for question in services.systems.questions.values():
        told = _told(question, {"examples": answers_to(question)}, _OF_FACTS)
        tags: list[str | Enum] = [_TAGS[question.service]]
        router.post(f"/v1/{question.path}", tags=tags, **told)(_operation(question, services))
    return router


def _operation(question: Question[Any], services: Services) -> Callable[[Asked], Plan[Any]]:
    def operation(facts: Asked) -> Plan[Any]:
        return question.plan(facts, services.clock.now(), services.options)

    body = Body(openapi_examples=bodies_of(question))
    operation.__annotations__ = {
        "facts": Annotated[question.facts, Wire(question.facts, question.size), body],
        "return": Annotated[Plan, Wire(question.answer)],
    }
    return operation


def _checked(is_valid: Callable[[str], bool], rule: str) -> AfterValidator:
    def check(name: str) -> str:
        if not is_valid(name):
            raise ValueError(rule)
        return name

    return AfterValidator(check)


def _boolean(text: object) -> object:
    """JSON's words only, of all that pydantic takes for a boolean."""
    if text in ("true", "false", None):
        return text
    raise ValueError("must be true or false")


def _named(description: str, example: str, pattern: str, longest: int) -> Any:  # noqa: ANN401 - FastAPI's Path
    return Path(
        description=description,
        json_schema_extra={"pattern": pattern, "maxLength": longest},
        openapi_examples={example: {"value": example}},
    )


_Subdomain = Annotated[str, _checked(names.is_dns_subdomain, names.SUBDOMAIN_RULE)]
_PodName = Annotated[
    _Subdomain, _named("The pod's name.", "web-0", names.SUBDOMAIN_PATTERN, names.MAX_SUBDOMAIN)
]
_NodeName = Annotated[
    _Subdomain, _named("The node's name.", "node-1", names.SUBDOMAIN_PATTERN, names.MAX_SUBDOMAIN)
]
_Namespace = Annotated[
    str,
    _named("The pod's namespace.", "default", names.LABEL_PATTERN, names.MAX_LABEL),
    _checked(names.is_dns_label, names.LABEL_RULE),
]


class _Parameters(BaseModel):
    """Of a look-up's query; one that is misspelt is refused, as a question's field is."""

    model_config = ConfigDict(extra="forbid")

    explain: Annotated[bool | None, BeforeValidator(_boolean)] = Field(
        default=None, description="Give the trace: every rule that was looked at."
    )


_Query = Annotated[_Parameters, Query()]


def cluster_router(systems: Systems) -> APIRouter:
    """The table's questions about a cluster, which answer as those that bring their facts."""
    router = APIRouter(tags=["Cluster"])
    of_pod = systems.live_questions["decidePodOfCluster"]
    of_node = systems.live_questions["decideNodeOfCluster"]

    @router.get(f"/v1/{of_pod.path}", **_told_live(of_pod, "timed"))
    async def decide_pod(
        namespace: _Namespace, name: _PodName, services: Given, cluster: Cluster, query: _Query
    ) -> PodAnswer:
        planned = cluster.pod(namespace, name, services.options, query.explain)
        return await services.answer(planned, of_pod.name)

    @router.get(f"/v1/{of_node.path}", **_told_live(of_node, "drain"))
    async def decide_node(
        name: _NodeName, services: Given, cluster: Cluster, query: _Query
    ) -> PodsAnswer:
        planned = cluster.node(name, services.options, query.explain)
        return await services.answer(planned, of_node.name)

    return router


def _told_live(question: LiveQuestion[Any], example: str) -> dict[str, Any]:
    """With an answer to the question that it comes to."""
    asked = question.asks
    told = _told(question, {"example": answers_to(asked)[example]["value"]}, _OF_CLUSTER)
    return {**told, "response_model": Annotated[asked.answer, Wire(asked.answer)]}


def _told(
    question: Question[Any] | LiveQuestion[Any],
    shown: dict[str, Any],
    problems: dict[int | str, dict[str, Any]],
) -> dict[str, Any]:
    """What the document says of an operation, in the words of the table of questions."""
    return {
        "operation_id": question.name,
        "name": question.name,
        "summary": question.summary,
        "description": question.description,
        "response_description": "The answer.",
        "responses": {200: {"content": {"application/json": shown}}, **problems},
    }
