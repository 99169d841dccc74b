"""The operations: one table, from which both the routes and the OpenAPI document are made."""

from __future__ import annotations

from bailiff.decisions import (
    Decision,
    DeviceDecisions,
    DeviceFacts,
    DeviceTaintRuleFacts,
    DeviceTaintRulePreview,
    Facts,
    NodeFacts,
    NodeTaintBatchFacts,
    NodeTaintFacts,
    TaintChangeFacts,
)
from bailiff.kinds.names import LABEL_PATTERN, MAX_LABEL, MAX_SUBDOMAIN, SUBDOMAIN_PATTERN
from bailiff.rest import device_examples, examples
from bailiff.rest.live import LiveQuestions
from bailiff.rest.operation import BodySize, Parameter, Question, Reading
from bailiff.rest.questions import DecisionList, Questions, TaintChangePreview

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
        "Asks every system that the facts reach (the node's taints where the node is given, those "
        "of the pod's devices where claims, slices or rules are) and answers with the earliest "
        "eviction; each system's own answer, with its trace, is in `findings`."
    ),
    facts=Facts,
    answer=Decision,
    ask=Questions.decide,
    examples={**examples.ONE_POD, **device_examples.POD_WITH_DEVICES},
)
DECIDE_NODE_TAINTS = Question(
    id="decideNodeTaints",
    path="/v1/decisions/node-taints",
    summary="Should this pod be evicted by its node's taints, and when?",
    description="As `/v1/decisions`, but asks the node's NoExecute taints alone.",
    facts=NodeTaintFacts,
    answer=Decision,
    ask=Questions.decide_node_taints,
    examples=examples.ONE_POD,
)
DECIDE_BATCH = Question(
    id="decideBatch",
    path="/v1/decisions/batch",
    summary="Which pods of this node should be evicted, and when?",
    description=(
        "A node and up to 1,000 pods; each is answered as if asked alone, in their order. Devices "
        "count where claims, slices or rules are given. "
        "The trace comes only where `options.explain` is true."
    ),
    facts=NodeFacts,
    answer=DecisionList,
    ask=Questions.decide_node,
    size=BodySize.BATCH,
    examples=examples.NODE,
)
DECIDE_NODE_TAINTS_BATCH = Question(
    id="decideNodeTaintsBatch",
    path="/v1/decisions/node-taints/batch",
    summary="Which pods of this node should be evicted by its taints, and when?",
    description="As `/v1/decisions/batch`, but asks the node's NoExecute taints alone.",
    facts=NodeTaintBatchFacts,
    answer=DecisionList,
    ask=Questions.decide_node_taints_batch,
    size=BodySize.BATCH,
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
    size=BodySize.BATCH,
    examples=examples.TAINT_CHANGE,
)
DECIDE_DEVICE_TAINTS = Question(
    id="decideDeviceTaints",
    path="/v1/decisions/device-taints",
    summary="Which pods should be evicted by the taints of their devices, and when?",
    description=(
        "Pods with their ResourceClaims, the ResourceSlices that publish the devices and the "
        "DeviceTaintRules; answers for each pod, and for each claim when and why the pods that use "
        "it go. Of objects of one name the last counts. The trace comes only where "
        "`options.explain` is true."
    ),
    facts=DeviceFacts,
    answer=DeviceDecisions,
    ask=Questions.decide_devices,
    size=BodySize.DEVICES,
    examples=device_examples.DEVICES,
)
PREVIEW_RULE = Question(
    id="previewDeviceTaintRule",
    path="/v1/decisions/device-taints/preview",
    summary="What does this DeviceTaintRule do, or would it?",
    description=(
        "A rule that is in the cluster or not yet, looked at as if its effect were NoExecute: the "
        "devices that it selects, the pods that it evicts and when, and the condition that the "
        "controller would write. Changes nothing."
    ),
    facts=DeviceTaintRuleFacts,
    answer=DeviceTaintRulePreview,
    ask=Questions.preview_rule,
    size=BodySize.DEVICES,
    examples=device_examples.DEVICE_TAINT_RULE,
)
QUESTIONS = (
    DECIDE,
    DECIDE_NODE_TAINTS,
    DECIDE_BATCH,
    DECIDE_NODE_TAINTS_BATCH,
    PREVIEW,
    DECIDE_DEVICE_TAINTS,
    PREVIEW_RULE,
)

READINGS: tuple[Reading, ...] = (
    Reading(
        id="getPodDecision",
        path="/v1/namespaces/{namespace}/pods/{name}/decision",
        summary="Should this pod of the cluster be evicted, and when?",
        description=(
            "Fetches the pod, its node and its devices, and answers as `/v1/decisions`. A pod that "
            "is bound to no node stays, with the reason `PodNotBound`; one whose node is gone with "
            "`NodeGone`; one whose devices Bailiff may not read with `DevicesNotRead`, unless its "
            "node evicts it."
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
            "Fetches the node, its pods and their devices, and answers as `/v1/decisions/batch`. "
            "A node's taint without `timeAdded` counts from when the worker wrote on the node that "
            "it saw it, else from now."
        ),
        answer=DecisionList,
        parameters=(_NODE,),
        read=LiveQuestions.node,
        explains=False,
        example_of=DECIDE_BATCH,
        example=examples.NODE["drain"],
    ),
)
