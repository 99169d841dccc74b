"""A question about nodes, made ready to be answered: for every face the same way."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from bailiff.decisions.cost import QUICK_STEPS, Cost, check_cost
from bailiff.decisions.question import Answer, Plan
from bailiff.decisions.scheduling.question import respond, without_trace
from bailiff.decisions.scheduling.weighing import weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from bailiff.decisions.options import Options
    from bailiff.decisions.scheduling.judging import Judging
    from bailiff.decisions.scheduling.pool import NodePool
    from bailiff.decisions.scheduling.question import JudgeNodesResponse
    from bailiff.kinds import Pod

A = TypeVar("A", bound=Answer)


class PoolTerms(NamedTuple):
    """Under which a question about nodes is answered.

    Attributes:
        now: the instant, in UTC.
        options: see there; whether they ask for a trace plays no part.
        path: the field that is told where it would be too much.
        only: the nodes that count; none: all.
    """

    now: datetime
    options: Options
    path: str
    only: Sequence[str] = ()


def is_quickly_planned(pool: NodePool, now: datetime) -> bool:
    """Whether `plan` may be called where others wait behind it: it looks at all kinds of nodes."""
    return pool.steps_at(now) <= QUICK_STEPS


def plan(
    pool: NodePool, pods: Sequence[Pod], terms: PoolTerms, answer: Callable[[Judging], A]
) -> Plan[A]:
    """Count what it costs to judge nodes for some pods; carried out before they change.

    Args:
        pool: the nodes.
        pods: whom to judge for.
        terms: see there.
        answer: what is made of it.

    Raises:
        FactsError: it would be too much, or one of `terms.only` is not known.
    """
    check_cost((Cost(pool.steps_at(terms.now), 0, terms.path),))
    judging = pool.at(terms.now, without_trace(terms.options), terms.only)
    cost = weigh(pool, judging, pods, terms.path)
    return Plan(cost.steps, cost.told, partial(answer, judging))


def plan_one(pool: NodePool, pod: Pod, terms: PoolTerms) -> Plan[JudgeNodesResponse]:
    """The same for one pod."""
    return plan(pool, (pod,), terms, lambda judging: respond(judging, pod, pool.systems))
