"""Answers about the objects of a cluster, read at the moment of the question."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import AfterValidator, BeforeValidator

from bailiff.decisions import Decision, OptionOverrides
from bailiff.kinds.names import (
    DNS_LABEL,
    DNS_SUBDOMAIN,
    LABEL_RULE,
    MAX_LABEL,
    MAX_SUBDOMAIN,
    SUBDOMAIN_RULE,
    is_dns_label,
    is_dns_subdomain,
)
from bailiff.rest_api.dependencies import Cluster  # noqa: TC001 - FastAPI reads the annotations
from bailiff.rest_api.operations import DECIDE, DECIDE_BATCH
from bailiff.rest_api.problems import ProblemCode, problem_responses
from bailiff.rest_api.questions import DecisionList
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

router = APIRouter(tags=["Cluster"])


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
        json_schema_extra={"pattern": f"^{DNS_LABEL}$", "maxLength": MAX_LABEL},
        openapi_examples={"default": {"value": "default"}},
    ),
    AfterValidator(_label),
]


def _name(description: str, example: str) -> Any:  # noqa: ANN401 - FastAPI's Path
    schema = {"pattern": f"^{DNS_SUBDOMAIN}$", "maxLength": MAX_SUBDOMAIN}
    shown: Any = {example: {"value": example}}
    return Path(description=description, json_schema_extra=schema, openapi_examples=shown)


_PodName = Annotated[str, _name("The pod's name.", "web-0"), AfterValidator(_subdomain)]
_NodeName = Annotated[str, _name("The node's name.", "node-1"), AfterValidator(_subdomain)]
_Explain = Annotated[
    bool | None,
    Query(description="Give the trace: every rule that was looked at."),
    BeforeValidator(_boolean),
]


def _shown(example: object) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {"application/json": {"example": example}}}, **_PROBLEMS}


@router.get(
    "/v1/namespaces/{namespace}/pods/{name}/decision",
    operation_id="decidePodOfCluster",
    summary="Should this pod of the cluster be evicted, and when?",
    response_description="The answer.",
    responses=_shown(example_answer(DECIDE, "timed")),
)
async def decide_pod(
    namespace: _Namespace, name: _PodName, cluster: Cluster, explain: _Explain = None
) -> Annotated[Decision, Wire(Decision)]:
    """Fetches the pod, its node and its devices, and answers as `/v1/decisions`.

    A pod that is bound to no node stays, with the reason `PodNotBound`; one whose node is gone
    with `NodeGone`; one whose devices Bailiff may not read with `DevicesNotRead`, unless its node
    evicts it. A taint without `timeAdded` counts from when the worker wrote on the node that it
    saw it, else from now.
    """
    return await cluster.pod(namespace, name, OptionOverrides(explain=explain))


@router.get(
    "/v1/nodes/{name}/decisions",
    operation_id="decideNodeOfCluster",
    summary="Which pods of this node of the cluster should be evicted, and when?",
    response_description="The answer.",
    responses=_shown(example_answer(DECIDE_BATCH, "drain")),
)
async def decide_node(
    name: _NodeName, cluster: Cluster, explain: _Explain = None
) -> Annotated[DecisionList, Wire(DecisionList)]:
    """Fetches the node, its pods and their devices, and answers as `/v1/decisions/batch`.

    A node's taint without `timeAdded` counts from when the worker wrote on the node that it saw
    it, else from now.
    """
    return await cluster.node(name, OptionOverrides(explain=explain))
