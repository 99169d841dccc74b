"""The operations: one table, from which both the routes and the OpenAPI document are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bailiff.decisions import Decision, Facts, NodeFacts, TaintChangeFacts
from bailiff.rest import examples
from bailiff.rest.live import (
    LABEL_PATTERN,
    MAX_LABEL,
    MAX_SUBDOMAIN,
    SUBDOMAIN_PATTERN,
    LiveQuestions,
)
from bailiff.rest.problems import ProblemCode
from bailiff.rest.questions import DecisionList, Questions, TaintChangePreview

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bailiff.rest.examples import Example

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


@dataclass(frozen=True, kw_only=True)
class Question(Operation):
    """A POST that brings its facts.

    Attributes:
        facts: the type of the body.
        ask: who answers.
        batch: the body may be as long as a batch may.
        examples: bodies by name.
    """

    facts: type
    ask: Callable[[Questions, Any], Any]
    batch: bool = False
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


_NAMESPACE = Parameter(
    name="namespace",
    description="The pod's namespace.",
    pattern=LABEL_PATTERN,
    max_length=MAX_LABEL,
    example="default",
)
_POD = Parameter(
    name="name",
    description="The pod's name.",
    pattern=SUBDOMAIN_PATTERN,
    max_length=MAX_SUBDOMAIN,
    example="web-0",
)
_NODE = Parameter(
    name="name",
    description="The node's name.",
    pattern=SUBDOMAIN_PATTERN,
    max_length=MAX_SUBDOMAIN,
    example="node-1",
)

DECIDE = Question(
    id="decide",
    path="/v1/decisions",
    summary="Should this pod be evicted, and when?",
    description=(
        "Asks every system that the facts reach and answers with the earliest eviction; each "
        "system's own answer, with its trace, is in `findings`."
    ),
    facts=Facts,
    answer=Decision,
    ask=Questions.decide,
    examples=examples.ONE_POD,
)
DECIDE_NODE_TAINTS = Question(
    id="decideNodeTaints",
    path="/v1/decisions/node-taints",
    summary="Should this pod be evicted by its node's taints, and when?",
    description="As `/v1/decisions`, but asks the node's NoExecute taints alone.",
    facts=Facts,
    answer=Decision,
    ask=Questions.decide,
    examples=examples.ONE_POD,
)
DECIDE_BATCH = Question(
    id="decideBatch",
    path="/v1/decisions/batch",
    summary="Which pods of this node should be evicted, and when?",
    description=(
        "A node and up to 1,000 pods; each is answered as if asked alone, in their order. "
        "The trace comes only where `options.explain` is true."
    ),
    facts=NodeFacts,
    answer=DecisionList,
    ask=Questions.decide_node,
    batch=True,
    examples=examples.NODE,
)
DECIDE_NODE_TAINTS_BATCH = Question(
    id="decideNodeTaintsBatch",
    path="/v1/decisions/node-taints/batch",
    summary="Which pods of this node should be evicted by its taints, and when?",
    description="As `/v1/decisions/batch`, but asks the node's NoExecute taints alone.",
    facts=NodeFacts,
    answer=DecisionList,
    ask=Questions.decide_node,
    batch=True,
    examples=examples.NODE,
)
PREVIEW = Question(
    id="previewTaintChange",
    path="/v1/decisions/node-taints/preview",
    summary="What would adding or removing these taints do?",
    description=(
        "Answers with the pods whose verdict or deadline would change, before and after, and "
        "with how many would go now, go later and stay. Changes nothing."
    ),
    facts=TaintChangeFacts,
    answer=TaintChangePreview,
    ask=Questions.preview,
    batch=True,
    examples=examples.TAINT_CHANGE,
)
QUESTIONS = (DECIDE, DECIDE_NODE_TAINTS, DECIDE_BATCH, DECIDE_NODE_TAINTS_BATCH, PREVIEW)

READINGS: tuple[Reading, ...] = (
    Reading(
        id="getPodDecision",
        path="/v1/namespaces/{namespace}/pods/{name}/decision",
        summary="Should this pod of the cluster be evicted, and when?",
        description=(
            "Fetches the pod and its node and answers as `/v1/decisions`. A pod that is bound to "
            "no node stays, with the reason `PodNotBound`; one whose node is gone with `NodeGone`."
            " A taint without `timeAdded` counts from when the worker wrote on the node that it "
            "saw it, else from now."
        ),
        answer=Decision,
        parameters=(_NAMESPACE, _POD),
        read=LiveQuestions.pod,
        explains=True,
        example_of=DECIDE,
        example=examples.ONE_POD["timed"],
    ),
    Reading(
        id="getNodeDecisions",
        path="/v1/nodes/{name}/decisions",
        summary="Which pods of this node of the cluster should be evicted, and when?",
        description=(
            "Fetches the node and its pods and answers as `/v1/decisions/batch`. A taint without "
            "`timeAdded` counts from when the worker wrote on the node that it saw it, else from "
            "now."
        ),
        answer=DecisionList,
        parameters=(_NODE,),
        read=LiveQuestions.node,
        explains=False,
        example_of=DECIDE_BATCH,
        example=examples.NODE["drain"],
    ),
)
