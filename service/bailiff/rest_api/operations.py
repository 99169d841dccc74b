"""The questions that REST answers: one table, from which the operations are declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from bailiff.rest_api.bodies import BodySize
from bailiff.rest_api.examples import device_taints, node_taints
from bailiff.rest_api.questions import DecisionList, Questions, TaintChangePreview

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bailiff.rest_api.examples.node_taints import Example


@dataclass(frozen=True, kw_only=True)
class Question:
    """A POST that brings its facts.

    Attributes:
        id: stable name for generated clients.
        path: where it is asked.
        summary: one line.
        description: Markdown.
        facts: the type of the body.
        answer: the type of a 200.
        ask: who answers.
        size: how long the body may be.
        examples: bodies by name.
    """

    id: str
    path: str
    summary: str
    description: str
    facts: type
    answer: type
    ask: Callable[[Questions, Any], Any]
    size: BodySize = BodySize.ONE
    examples: Mapping[str, Example]


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
    examples={**node_taints.ONE_POD, **device_taints.POD_WITH_DEVICES},
)
DECIDE_NODE_TAINTS = Question(
    id="decideNodeTaints",
    path="/v1/decisions/node-taints",
    summary="Should this pod be evicted by its node's taints, and when?",
    description="As `/v1/decisions`, but asks the node's NoExecute taints alone.",
    facts=NodeTaintFacts,
    answer=Decision,
    ask=Questions.decide_node_taints,
    examples=node_taints.ONE_POD,
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
    examples=node_taints.NODE,
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
    examples=node_taints.NODE,
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
    examples=node_taints.TAINT_CHANGE,
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
    examples=device_taints.DEVICES,
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
    examples=device_taints.DEVICE_TAINT_RULE,
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
