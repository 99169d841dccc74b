"""What a system is: a source of evictions, such as the taints of nodes.

A system is one folder beside this file and one line in `registry`. Everybody else asks all systems
that there are, and knows none of them by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from msgspec import Struct

from bailiff.decisions.cost import FactsError
from bailiff.decisions.seen import NotAdmitted, OfKubelet, Seen, Wanted
from bailiff.kinds import Node, Pod
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.decisions.changes import ChangeLookUp, ObjectChange
    from bailiff.decisions.cost import Cost
    from bailiff.decisions.decision import Finding, Subject
    from bailiff.decisions.options import Options
    from bailiff.decisions.question import Question


class NoFacts(Value, frozen=True):
    """The facts of a system that needs none of its own."""


# Unlike the others a system may keep its facts between rounds, so it is bound to its own type.
F = TypeVar("F", bound=Value)


class Scene(Struct, frozen=True, gc=False):
    """What every system may see.

    Attributes:
        pods: all that are asked about.
        now: the instant to decide for, in UTC.
        node: the node, where the question is about one.
        without_node: its cluster was asked, and there is no node for the pod: it is bound to none
            yet, or to one that does not exist. Which of the two, `spec.nodeName` tells.
        neighbours: the other pods of the node, nobody asks about them. Empty: there are none, as
            where `pods` are all of the node. None: they are not known.
    """

    pods: tuple[Pod, ...]
    now: datetime
    node: Node | None = None
    without_node: bool = False
    neighbours: tuple[Pod, ...] | None = None

    @property
    def node_name(self) -> str:
        """The node's name; empty where there is no node, or it has none."""
        return "" if self.node is None else self.node.metadata.name

    @property
    def on_node(self) -> tuple[Pod, ...]:
        """All pods that are on the node, or asked about as if they were; the asked first.

        Those that have ended are among them. Pods that are bound to another node are not.
        """
        name = self.node_name
        return tuple(
            pod
            for pod in (*self.pods, *(self.neighbours or ()))
            if not name or pod.spec.node_name in ("", name)
        )


def others_of(pod: Pod, pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Those of some pods that are not this one, by namespace and name: its neighbours."""
    meta = pod.metadata
    return tuple(
        one
        for one in pods
        if one.metadata.name != meta.name or one.metadata.namespace != meta.namespace
    )


class Round(ABC):
    """A system made ready for one scene.

    Attributes:
        report: what it says of anything but pods; None: nothing. The worker hands it to the
            system's half there.
        holds_until: what it says may differ from this instant on even if no object changes, for
            all pods alike; None: each finding says for itself. The worker looks at the node again
            then.
        hastens: where it says of a pod that is being deleted already that it goes now, the pod is
            to be given less time to end than it has.
        tells_of_ending: what it says of a pod that is being deleted already is told, even that the
            pod stays; else all that is told is that it is being deleted.
    """

    hastens: ClassVar[bool] = False
    tells_of_ending: ClassVar[bool] = False
    report: Value | None = None
    holds_until: datetime | None = None

    @abstractmethod
    def of(self, pod: Pod) -> Finding | None:
        """What it says of one pod; None: nothing.

        Of pods that have ended it is asked only with `evict_ended_pods`, of pods that are bound to
        another node only without `by_node`; see bailiff.decisions.asking. So it must have an answer
        for a pod that it has never seen, or has left out of its ranking: None, or that the pod
        stays. A round that keeps something of each pod keeps it by `reference_to`: a
        pod that has come later may have the name of one that is gone, and pods in a question may
        be without a UID.
        """


class Unread(Round):
    """What a look-up comes to that could not read the facts; stands first among the findings.

    So a pod of which a system might know more does not seem to stay for sure.
    """


# Yields what it wants to see, is sent what was seen, and returns its facts, or what it says
# without them.
LookUp: TypeAlias = Generator[Wanted | OfKubelet, Seen, F | Round]


class System(ABC, Generic[F]):
    """A source of evictions. Pure: what it needs from a cluster it is told, or asks for by data.

    Attributes:
        name: stable, lower-case with hyphens; with underscores its section of a question.
        needs: the field of a question that it decides from, as `node`; empty: only the pod.
        by_node: what it says of a pod rests on the scene's node: one that is bound to another node
            stays, and the worker makes sure that it knows the node before it evicts.
        ranks: what it says of a pod may depend on the other pods of the node, of some nodes at
            least (`ranks_on`). They are shown to it where they are known, and the worker looks at
            the whole node when one of them changes.
        judges_arrivals: it may say something of a pod that comes to a node now; else it has no part
            in whether one may be put there.
        wants: the kinds that `look_up` may want to see, pods and nodes aside.
        facts: the type of its section of a question.
        report: the type of what it says of anything but pods; None: nothing.
        subjects: the types of what its trace steps look at.
        questions: further questions that only this system answers.
    """

    name: ClassVar[str]
    needs: ClassVar[str] = ""
    by_node: ClassVar[bool] = True
    ranks: ClassVar[bool] = False
    judges_arrivals: ClassVar[bool] = True
    wants: ClassVar[tuple[type[Value], ...]] = ()
    facts: type[F]
    report: ClassVar[type[Value] | None] = None
    subjects: ClassVar[tuple[type[Subject], ...]] = ()
    questions: ClassVar[tuple[Question[Any], ...]] = ()

    def is_reached(self, scene: Scene, facts: F) -> bool:  # noqa: ARG002 - for those that need more
        """Whether a question brings what this system decides from; it is not asked otherwise."""
        return True

    def ranks_on(self, node: Node | None) -> bool:  # noqa: ARG002 - as above
        """Whether it ranks the pods of this node, None where it is not known.

        Asked of one that `ranks`, for each pod that changes, so it must be quick. On other nodes
        nobody has to know the neighbours, and a pod that changes is looked at alone.
        """
        return self.ranks

    def looks_at_neighbours(self, node: Node | None) -> bool:
        """Whether its look-up of live objects is to be shown the other pods of this node.

        Else they are not listed for its sake; by default where it ranks them.
        """
        return self.ranks_on(node)

    def check(self, scene: Scene, facts: F) -> None:
        """Refuse what this system cannot decide from, where it is to be asked.

        Raises:
            FactsError: names the field that is missing or wrong, by default as `lacks` does.
        """
        if self.is_reached(scene, facts):
            return
        field = self.lacks(scene) or ("" if self.needs == "node" else self.needs)
        if field:
            raise FactsError(f"$.{field}", "required")
        raise FactsError("$", f"there is nothing that {self.name} could decide from")

    def lacks(self, scene: Scene) -> str:
        """The field that a question has to have for this system, and has not; empty: none."""
        if self.needs == "node" and scene.node is None:
            return "node"
        lacks_neighbours = scene.neighbours is None and self.ranks_on(scene.node)
        return "neighbours" if lacks_neighbours else ""

    @abstractmethod
    def cost(self, scene: Scene, facts: F, options: Options) -> Cost:
        """What its part of the answer costs at most, counted before any of it is done."""

    @abstractmethod
    def prepare(self, scene: Scene, facts: F, options: Options) -> Round:
        """Make ready to be asked about the pods of a scene."""

    def rounds(self, facts: F) -> Callable[[Scene, Options], Round]:
        """As `prepare`, for many scenes by the same facts, which need be looked at only once."""
        return lambda scene, options: self.prepare(scene, facts, options)

    def sees_of_node(self, node: Node) -> Hashable:
        """What its answer rests on for a pod that comes there now, besides taints that evict.

        Nodes that it sees alike are asked about once for all of them; by default each is seen by
        itself, unless the node does not matter.
        """
        return node.metadata.name if self.by_node else None

    def sees_of_pod(self, pod: Pod) -> Hashable | None:  # noqa: ARG002 - as above
        """What of a pod its answer rests on where it comes to a node, besides the tolerations.

        Pods that all systems see alike are asked about once. None: each pod by itself.
        """
        return None

    def look_up(self, scene: Scene, options: Options) -> LookUp[F]:  # noqa: ARG002 - as above
        """What it wants to see of a live cluster to decide for the pods of a scene; see LookUp."""
        yield from ()
        return self.facts()

    def not_admitted(self, pod: Pod, node: Node, options: Options) -> NotAdmitted | None:  # noqa: ARG002 - as above
        """Why the kubelet of a node would not let a pod start there now; None: it would."""
        return None

    def look_at_change(self, change: ObjectChange, options: Options) -> ChangeLookUp:  # noqa: ARG002 - as above
        """What a change of an object evicts; of most objects nothing. See ChangeLookUp."""
        yield from ()
        return None

    @cached_property
    def section(self) -> str:
        """Its section's name in a question."""
        return self.name.replace("-", "_")
