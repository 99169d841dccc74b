"""The questions that all systems answer together; a system's own stand in its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from bailiff.decisions.cost import MAX_PODS
from bailiff.decisions.decision import Decision
from bailiff.decisions.question import Asked, LiveQuestion, Question, Size
from bailiff.kinds import Node, Pod
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.decisions.question import Plan, QuestionTerms

Pods = Annotated[tuple[Pod, ...], Meta(max_length=MAX_PODS)]


class Neighbours(Value, frozen=True, forbid_unknown_fields=True):
    """The other pods of a node; a message of its own, so that none at all can be told, too.

    Attributes:
        pods: those of the node, at most 1,000; nodes have far fewer. Pods of other nodes, and the
            pod that is asked about, are passed over.
    """

    pods: Annotated[tuple[Pod, ...], Meta(max_length=1000)] = ()


class PodFacts(Asked, frozen=True, kw_only=True):
    """One pod and what is known around it; what only one system needs stands in its section.

    Attributes:
        pod: the pod. Without `spec.nodeName` the question is "what if it ran there from now on".
        node: its node.
        neighbours: the other pods of its node, for systems that weigh it against them. Without any
            pods in it: it is alone there. Absent: they are not known, and it is not weighed.
        systems: ask only these; absent: all that the facts reach.
    """

    pod: Pod
    node: Node | None = None
    neighbours: Neighbours | None = None
    systems: tuple[str, ...] = ()


class PodsFacts(Asked, frozen=True, kw_only=True):
    """Pods to decide for: each as if asked alone, but for systems that weigh them together.

    Attributes:
        pods: the pods, at most 20,000, and of one node where it is given.
        node: the node that all of them are on, or would be.
        systems: ask only these; absent: all that the facts reach.
    """

    pods: Pods = ()
    node: Node | None = None
    systems: tuple[str, ...] = ()


class Reports(Value, frozen=True):
    """What systems say of anything but pods, by the system's name."""


class PodAnswer(Value, frozen=True, kw_only=True):
    """The answer for one pod.

    Attributes:
        decision: the earliest of all systems asked.
        reports: what systems say of anything but the pod, by the system's name.
    """

    decision: Decision
    reports: Reports | None = None

    def counted(self) -> tuple[Decision, ...]:
        """The decision."""
        return (self.decision,)


class PodsAnswer(Value, frozen=True, kw_only=True):
    """The answers for many pods.

    Attributes:
        decisions: one for each pod, in the order of the pods asked about.
        reports: what systems say of anything but pods, by the system's name.
    """

    decisions: tuple[Decision, ...]
    reports: Reports | None = None

    def counted(self) -> tuple[Decision, ...]:
        """All decisions."""
        return self.decisions


def decide_question(
    facts: type[PodFacts],
    answer: type[PodAnswer],
    weigh: Callable[[Any, QuestionTerms], Plan[PodAnswer]],
    size: Size,
) -> Question[PodAnswer]:
    """Should this pod be evicted, and when?"""
    return Question(
        name="decide",
        path="decisions",
        summary="Should this pod be evicted, and when?",
        description=(
            "Asks every system that the facts reach, or those that `systems` names, and answers "
            "with the earliest eviction; each system's own answer, with its trace, is in "
            "`findings`. A system that weighs the pod against others sees those in `neighbours`."
        ),
        facts=facts,
        answer=answer,
        weigh=weigh,
        explains=True,
        size=size,
    )


def decide_batch_question(
    facts: type[PodsFacts],
    answer: type[PodsAnswer],
    weigh: Callable[[Any, QuestionTerms], Plan[PodsAnswer]],
) -> Question[PodsAnswer]:
    """Which of these pods should be evicted, and when?"""
    return Question(
        name="decideBatch",
        path="decisions/batch",
        summary="Which of these pods should be evicted, and when?",
        description=(
            "Up to 20,000 pods, those of one node where `node` is given, answered in their order. "
            "Each is answered as if asked alone, but a system that weighs pods against each other "
            "sees all of them. What the systems say of anything else, such as the "
            "claims of devices, is in `reports`. The trace comes only where `options.explain` is "
            "true."
        ),
        facts=facts,
        answer=answer,
        weigh=weigh,
        explains=False,
        size=Size.MANY,
    )


def live_questions(
    decide: Question[PodAnswer], decide_batch: Question[PodsAnswer]
) -> dict[str, LiveQuestion[Any]]:
    """What can be asked about objects of a cluster, by name."""
    asked = (_of_pod(decide), _of_node(decide_batch))
    return {question.name: question for question in asked}


def _of_pod(decide: Question[PodAnswer]) -> LiveQuestion[PodAnswer]:
    return LiveQuestion(
        name="decidePodOfCluster",
        path="namespaces/{namespace}/pods/{name}/decision",
        summary="Should this pod of the cluster be evicted, and when?",
        description=(
            "Fetches the pod, its node and what else decides, the other pods of the node included "
            "where a system weighs it against them, and answers as `decide`.\n\n"
            "A pod that is bound to no node stays, with the reason `PodNotBound`; one whose node "
            "is gone with `NodeGone`; one whose devices Bailiff may not read with "
            "`DevicesNotRead`, unless its node evicts it. A taint without `timeAdded` counts from "
            "when the worker wrote on the node that it saw it, else from now."
        ),
        asks=decide,
    )


def _of_node(decide_batch: Question[PodsAnswer]) -> LiveQuestion[PodsAnswer]:
    return LiveQuestion(
        name="decideNodeOfCluster",
        path="nodes/{name}/decisions",
        summary="Which pods of this node of the cluster should be evicted, and when?",
        description=(
            "Fetches the node, its pods and what else decides, and answers as `decideBatch`.\n\n"
            "A node's taint without `timeAdded` counts from when the worker wrote on the node that "
            "it saw it, else from now."
        ),
        asks=decide_batch,
    )
