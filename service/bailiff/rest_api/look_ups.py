"""Answers about the objects of a real cluster, read at the moment of the question."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from bailiff.decisions import FactsError
from bailiff.lookup import (
    FailedError,
    ForbiddenError,
    LookUpError,
    MissingError,
    NotServedError,
    UnavailableError,
)
from bailiff.rest_api.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from bailiff.decisions import Plan, PodAnswer, PodsAnswer
    from bailiff.decisions.question import Answer
    from bailiff.lookup import LookUps
    from bailiff.rest_api.asking import Asking

A = TypeVar("A", bound="Answer")

_CODES: dict[type[LookUpError], ProblemCode] = {
    MissingError: ProblemCode.NOT_FOUND,
    ForbiddenError: ProblemCode.CLUSTER_FORBIDDEN,
    NotServedError: ProblemCode.CLUSTER_FAILED,
    FailedError: ProblemCode.CLUSTER_FAILED,
    UnavailableError: ProblemCode.CLUSTER_UNAVAILABLE,
}
_RETRY_SECONDS = 5


class LiveAnswers:
    """Has the look-ups' plans carried out, and says what went wrong as problems."""

    def __init__(self, look_ups: LookUps, asking: Asking) -> None:
        """Prepare.

        Args:
            look_ups: of the cluster.
            asking: who answers, with which options.
        """
        self._look_ups = look_ups
        self._asking = asking

    async def pod(self, namespace: str, name: str, *, explain: bool | None) -> PodAnswer:
        """The answer to `decidePodOfCluster`; with a trace as `explain` says, or the question.

        Raises:
            Refusal: not_found, cluster_forbidden, cluster_failed, cluster_unavailable,
                too_many_objects.
        """
        options = self._asking.options
        return await self._answer(self._look_ups.pod(namespace, name, options, explain))

    async def node(self, name: str, *, explain: bool | None) -> PodsAnswer:
        """The answer to `decideNodeOfCluster`; arguments and errors as `pod`."""
        return await self._answer(self._look_ups.node(name, self._asking.options, explain))

    async def _answer(self, planned: Awaitable[Plan[A]]) -> A:
        try:
            plan = await planned
        except FactsError as error:
            # The caller sent none of it, so nothing in the request is at fault.
            detail = f"the cluster has more than one answer may hold: {error}"
            raise Refusal(ProblemCode.TOO_MANY_OBJECTS, detail) from error
        except LookUpError as error:
            raise _refusal(error) from error
        if plan.is_quick:
            return self._asking.carry_out(plan)
        return await asyncio.to_thread(self._asking.carry_out, plan)


def _refusal(error: LookUpError) -> Refusal:
    code = _CODES[type(error)]
    may_help = code is ProblemCode.CLUSTER_UNAVAILABLE
    headers = {"Retry-After": str(_RETRY_SECONDS)} if may_help else {}
    return Refusal(code, str(error), headers=headers)
