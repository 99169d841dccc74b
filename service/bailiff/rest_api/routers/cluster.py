"""Answers about the objects of a cluster, read at the moment of the question."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import AfterValidator, BeforeValidator

from bailiff.decisions import PodAnswer, PodsAnswer, Systems  # noqa: TC001 - as Cluster
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
    """The look-ups, which answer as the systems' own questions do."""
    router = APIRouter(tags=["Cluster"])

    @router.get(
        "/v1/namespaces/{namespace}/pods/{name}/decision",
        operation_id="decidePodOfCluster",
        summary="Should this pod of the cluster be evicted, and when?",
        **_as(systems, "decide", "timed"),
    )
    async def decide_pod(
        namespace: _Namespace, name: _PodName, look_ups: Cluster, explain: _Explain = None
    ) -> PodAnswer:
        """Fetches the pod, its node and what else decides, and answers as `decide`.

        A pod that is bound to no node stays, with the reason `PodNotBound`; one whose node is gone
        with `NodeGone`; one whose devices Bailiff may not read with `DevicesNotRead`, unless its
        node evicts it. A taint without `timeAdded` counts from when the worker wrote on the node
        that it saw it, else from now.
        """
        return await look_ups.pod(namespace, name, explain=explain)

    @router.get(
        "/v1/nodes/{name}/decisions",
        operation_id="decideNodeOfCluster",
        summary="Which pods of this node of the cluster should be evicted, and when?",
        **_as(systems, "decideBatch", "drain"),
    )
    async def decide_node(
        name: _NodeName, look_ups: Cluster, explain: _Explain = None
    ) -> PodsAnswer:
        """Fetches the node, its pods and what else decides, and answers as `decideBatch`.

        A node's taint without `timeAdded` counts from when the worker wrote on the node that it
        saw it, else from now.
        """
        return await look_ups.node(name, explain=explain)

    return router


def _as(systems: Systems, question: str, example: str) -> dict[str, Any]:
    """What an operation says of an answer that is that of a question."""
    shown = {"application/json": {"example": example_answer(systems, question, example)}}
    answer = systems.questions[question].answer
    return {
        "response_model": Annotated[answer, Wire(answer)],
        "response_description": "The answer.",
        "responses": {200: {"content": shown}, **_PROBLEMS},
    }
