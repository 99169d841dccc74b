"""Answers about the objects of a cluster, read at the moment of the question."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import AfterValidator, BeforeValidator

from bailiff.decisions import (  # noqa: TC001 - as Cluster
    LiveQuestion,
    PodAnswer,
    PodsAnswer,
    Systems,
)
from bailiff.kinds.names import (
    LABEL_PATTERN,
    LABEL_RULE,
    MAX_LABEL,
    MAX_SUBDOMAIN,
    SUBDOMAIN_PATTERN,
    SUBDOMAIN_RULE,
    is_dns_label,
    is_dns_subdomain,
)
from bailiff.rest_api.dependencies import Cluster  # noqa: TC001 - FastAPI reads them
from bailiff.rest_api.problems import ProblemCode, problem_responses
from bailiff.rest_api.routers.decisions import example_answer
from bailiff.rest_api.wire import Wire

_PROBLEMS = problem_responses(
    ProblemCode.NOT_FOUND,
    ProblemCode.INVALID_FIELD,
    ProblemCode.TOO_MANY_OBJECTS,
    ProblemCode.CLUSTER_FORBIDDEN,
    ProblemCode.CLUSTER_FAILED,
    ProblemCode.NO_CLUSTER,
    ProblemCode.CLUSTER_UNAVAILABLE,
    ProblemCode.OVERLOADED,
)
_BOOLEANS = {"true": True, "false": False}


def _label(name: str) -> str:
    if not is_dns_label(name):
        raise ValueError(LABEL_RULE)
    return name


def _subdomain(name: str) -> str:
    if not is_dns_subdomain(name):
        raise ValueError(SUBDOMAIN_RULE)
    return name


def _boolean(text: object) -> object:
    """JSON's words only, of all that pydantic takes for a boolean."""
    if isinstance(text, str) and text not in _BOOLEANS:
        raise ValueError("must be true or false")
    return text


_Namespace = Annotated[
    str,
    Path(
        description="The pod's namespace.",
        json_schema_extra={"pattern": LABEL_PATTERN, "maxLength": MAX_LABEL},
        openapi_examples={"default": {"value": "default"}},
    ),
    AfterValidator(_label),
]


def _name(description: str, example: str) -> Any:  # noqa: ANN401 - FastAPI's Path
    schema = {"pattern": SUBDOMAIN_PATTERN, "maxLength": MAX_SUBDOMAIN}
    shown: Any = {example: {"value": example}}
    return Path(description=description, json_schema_extra=schema, openapi_examples=shown)


_PodName = Annotated[str, _name("The pod's name.", "web-0"), AfterValidator(_subdomain)]
_NodeName = Annotated[str, _name("The node's name.", "node-1"), AfterValidator(_subdomain)]
_Explain = Annotated[
    bool | None,
    Query(description="Give the trace: every rule that was looked at."),
    BeforeValidator(_boolean),
]


def cluster_router(systems: Systems) -> APIRouter:
    """The table's questions about a cluster, which answer as those that bring their facts."""
    router = APIRouter(tags=["Cluster"])
    of_pod = systems.live_questions["decidePodOfCluster"]
    of_node = systems.live_questions["decideNodeOfCluster"]

    @router.get(f"/v1/{of_pod.path}", **_told(systems, of_pod, "timed"))
    async def decide_pod(
        namespace: _Namespace, name: _PodName, cluster: Cluster, explain: _Explain = None
    ) -> PodAnswer:
        return await cluster.pod(namespace, name, explain=explain)

    @router.get(f"/v1/{of_node.path}", **_told(systems, of_node, "drain"))
    async def decide_node(
        name: _NodeName, cluster: Cluster, explain: _Explain = None
    ) -> PodsAnswer:
        return await cluster.node(name, explain=explain)

    return router


def _told(systems: Systems, question: LiveQuestion[Any], example: str) -> dict[str, Any]:
    """What the document says of a question, with an answer to one that brings its facts."""
    asked = question.asks
    shown = {"application/json": {"example": example_answer(systems, asked.name, example)}}
    return {
        "operation_id": question.name,
        "summary": question.summary,
        "description": question.description,
        "response_model": Annotated[asked.answer, Wire(asked.answer)],
        "response_description": "The answer.",
        "responses": {200: {"content": shown}, **_PROBLEMS},
    }
