"""Which PodDisruptionBudgets would not allow what is about to happen, as they stand now.

A count, no forecast: how many pods of a budget would go at once, against how many disruptions it
allows now. An eviction by taint asks no budget, unless the policy `evictionApi` is on.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.cost import MAX_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from bailiff.kinds import LabelSelector, Pod, PodDisruptionBudget


class Violation(NamedTuple):
    """A budget that allows less than would happen.

    Attributes:
        namespace: of the budget.
        name: of the budget.
        going: how many of its pods would go at once.
        allowed: how many disruptions it allows now.
    """

    namespace: str
    name: str
    going: int
    allowed: int

    def __str__(self) -> str:
        return f"{self.name} ({self.going} of {self.allowed} allowed)"


class Violations:
    """The violated budgets, and of which pods.

    Attributes:
        all: each budget once, in the order of the budgets.
    """

    def __init__(self, going: Iterable[Pod], budgets: Sequence[PodDisruptionBudget]) -> None:
        """Count.

        Args:
            going: the pods that would go at once and do not go anyway.
            budgets: of their namespaces, and maybe others.
        """
        self.all: list[Violation] = []
        self._of_pod: defaultdict[tuple[str, str], list[Violation]] = defaultdict(list)
        by_namespace = _by_namespace(going)
        for budget in budgets:
            there = by_namespace.get(budget.metadata.namespace, ())
            pods = [pod for pod in there if budget.protects(pod)]
            if len(pods) > budget.allowed:
                self._add(budget, pods)

    def of(self, namespace: str, name: str) -> str:
        """The violated budgets of a pod, in words; empty where there is none."""
        return ", ".join(str(one) for one in self._of_pod.get((namespace, name), ()))

    def _add(self, budget: PodDisruptionBudget, pods: Sequence[Pod]) -> None:
        meta = budget.metadata
        found = Violation(meta.namespace, meta.name, len(pods), budget.allowed)
        self.all.append(found)
        for pod in pods:
            self._of_pod[pod.metadata.namespace, pod.metadata.name].append(found)


class Guarded(NamedTuple):
    """A budget that the Eviction API asks, and the pods that it has to let go at once."""

    budget: PodDisruptionBudget
    pods: list[Pod]


class BudgetsError(ValueError):
    """Nobody is evicted so; the message names the budgets, and says why."""


class SeveralBudgetsError(BudgetsError):
    """A pod has more than one budget: the Eviction API refuses it until they are others.

    Attributes:
        pod: that one.
    """

    def __init__(self, pod: Pod, guards: Iterable[PodDisruptionBudget]) -> None:
        """Of the budgets that it has."""
        names = " and ".join(one.metadata.name for one in guards)
        super().__init__(
            f"PodDisruptionBudget {names}: pod {pod.metadata.name} has more than one, and is never "
            "evicted so"
        )
        self.pod = pod


class TooManyBudgetsError(BudgetsError):
    """Pods and budgets are too many to go through."""


def guarded_by(
    pod: Pod, budgets: Sequence[PodDisruptionBudget], others: Sequence[Pod] = ()
) -> list[Guarded]:
    """Which budgets the Eviction API asks before a pod goes, and the others of its gang.

    It asks none where a pod is pending, or is not ready and its budget lets such pods go; and it
    evicts no pod that several protect (pkg/registry/core/pod/storage/eviction.go, Create).

    Of the others those count that are ready. What a budget allows is how many are ready, less those
    that have to be. So it lets all of a gang that are ready go at once where the pods that are of
    no gang, or of another, are enough for it: that stays so while the gang goes, one after the
    other, whoever of it ceases to be ready by that, and whoever comes in the place of those that
    have gone. Would it count those that are not ready, a gang of which one has gone would wait for
    the pod in its place, which cannot become ready without the others.

    Args:
        pod: that is to be evicted now.
        budgets: of its namespace.
        others: of its gang.

    Raises:
        SeveralBudgetsError: one of them has several.
        TooManyBudgetsError: it would take more than MAX_STEPS.
    """
    going = (*others, pod)
    if steps_of(going, budgets) > MAX_STEPS:
        raise TooManyBudgetsError(
            f"{len(going)} pods and {len(budgets)} PodDisruptionBudgets are too many to go through"
        )
    found = {one.metadata.name: Guarded(one, []) for one in budgets}
    for one in going:
        budget = _guard_of(one, budgets)
        if budget is not None:
            pods = found[budget.metadata.name].pods
            # The last is the pod itself.
            goes_alone = one is pod and not pods and not budget.lets_unready_go()
            if one.is_ready or goes_alone:
                pods.append(one)
    return [one for one in found.values() if one.pods]


def refusal(
    guarded: Iterable[Guarded],
    lately: Callable[[PodDisruptionBudget], Mapping[str, str]] = lambda _: {},
) -> str:
    """Which budgets would not let their pods go at once, in words; empty: none.

    Args:
        guarded: as of `guarded_by`.
        lately: names of other pods of a budget, by UID, that somebody was let evict moments ago.
            Those that its status does not tell of yet are about to use it up.
    """
    found = [_violation(one, lately(one.budget)) for one in guarded]
    told = ", ".join(str(one) for one in found if one is not None)
    return f"PodDisruptionBudget {told}" if told else ""


def _guard_of(pod: Pod, budgets: Sequence[PodDisruptionBudget]) -> PodDisruptionBudget | None:
    """The one that the Eviction API asks, if any."""
    guards = () if pod.is_pending else [one for one in budgets if one.protects(pod)]
    if len(guards) > 1:
        raise SeveralBudgetsError(pod, guards)
    return guards[0] if guards else None


def _violation(guarded: Guarded, lately: Mapping[str, str]) -> Violation | None:
    budget, noted = guarded.budget, guarded.budget.status.disrupted_pods
    going = {pod.metadata.uid for pod in guarded.pods}
    going.update(uid for uid, name in lately.items() if name not in noted)
    if len(going) <= budget.allowed:
        return None
    meta = budget.metadata
    return Violation(meta.namespace, meta.name, len(going), budget.allowed)


def steps_of(going: Iterable[Pod], budgets: Iterable[PodDisruptionBudget]) -> int:
    """What it costs at most to find the violated budgets, as a Cost counts it."""
    pods = {namespace: len(there) for namespace, there in _by_namespace(going).items()}
    return sum(
        pods.get(budget.metadata.namespace, 0) * _length(budget.spec.selector) for budget in budgets
    )


def _by_namespace(pods: Iterable[Pod]) -> Mapping[str, Sequence[Pod]]:
    found: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        found[pod.metadata.namespace].append(pod)
    return found


def _length(selector: LabelSelector | None) -> int:
    if selector is None:
        return 1
    values = sum(1 + len(one.values) for one in selector.match_expressions)
    return 1 + len(selector.match_labels) + values
