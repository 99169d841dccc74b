"""What an answer of the cluster comes to, and how long is waited after it."""

from __future__ import annotations

from random import Random

import pytest

from bailiff.cluster import (
    NODES,
    PODS,
    AdmissionDeniedError,
    BadRequestError,
    ClusterError,
    ConflictError,
    DisruptionBudgetError,
    FencedError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    ResponseError,
    ServerError,
    StatusError,
    TooManyRequestsError,
    UidMismatchError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.decisions.policies import EvictionApi
from bailiff.worker.execute.outcomes import RETRIES, Outcome, Retry, classify, deadline_of


def not_found(kind: str, name: str, reason: str = "NotFound") -> NotFoundError:
    details = {"kind": kind, "name": name}
    return NotFoundError("not found", status=404, reason=reason, details=details)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (not_found("pods", "web"), Outcome.GONE),
        (not_found("pods", "other"), Outcome.UNREACHABLE),
        (not_found("nodes", "web"), Outcome.UNREACHABLE),
        (not_found("pods", "web", reason=""), Outcome.UNREACHABLE),
        (AdmissionDeniedError("no", status=404, reason="NotFound"), Outcome.DENIED),
        (AdmissionDeniedError("no", status=500), Outcome.DENIED),
        (FencedError("another leads"), Outcome.FENCED),
        (UidMismatchError("another", status=409), Outcome.REPLACED),
        (ConflictError("changed", status=409), Outcome.CONFLICT),
        (DisruptionBudgetError("no", status=429), Outcome.BLOCKED),
        (TooManyRequestsError("wait", status=429), Outcome.OVERLOADED),
        (ForbiddenError("no right", status=403), Outcome.DENIED),
        (UnauthorizedError("who?", status=401), Outcome.DENIED),
        (InvalidError("no", status=422), Outcome.DENIED),
        (BadRequestError("what?", status=400), Outcome.DENIED),
        (StatusError("teapot", status=418), Outcome.DENIED),
        (StatusError("closed", status=499), Outcome.DENIED),
        (ServerError("broken", status=500), Outcome.UNREACHABLE),
        (StatusError("elsewhere", status=302), Outcome.UNREACHABLE),
        (ResponseError("junk"), Outcome.UNREACHABLE),
        (UnreachableError("refused"), Outcome.UNREACHABLE),
    ],
    ids=repr,
)
def test_what_an_error_stands_for(error: ClusterError, outcome: Outcome) -> None:
    assert classify(error, PODS, "web") is outcome


def test_that_there_is_no_such_pod_says_nothing_of_a_node() -> None:
    assert classify(not_found("pods", "web"), NODES, "web") is Outcome.UNREACHABLE


class Dice(Random):
    """Jitter that is known: the factor is the upper or the lower bound."""

    def __init__(self, *, high: bool) -> None:
        super().__init__()
        self._high = high

    def uniform(self, a: float, b: float) -> float:
        return b if self._high else a


@pytest.mark.parametrize(
    ("failures", "asked", "lowest", "highest"),
    [
        (0, None, 4.0, 6.0),
        (1, None, 4.0, 6.0),
        (2, None, 8.0, 12.0),
        (3, None, 16.0, 24.0),
        (4, None, 32.0, 48.0),
        (5, None, 48.0, 72.0),
        (10_000, None, 48.0, 72.0),
        (1, 0.0, 4.0, 6.0),
        (1, 5.0, 5.0, 6.0),
        (1, 300.0, 300.0, 300.0),
    ],
)
def test_waits_double_up_to_a_bound_and_are_never_less_than_asked_for(
    failures: int, asked: float | None, lowest: float, highest: float
) -> None:
    retry = Retry(first=5, most=60)
    assert retry.delay(failures, asked, Dice(high=False)) == pytest.approx(lowest)
    assert retry.delay(failures, asked, Dice(high=True)) == pytest.approx(highest)


def test_no_number_of_failures_is_too_many_to_wait_for() -> None:
    for retry in RETRIES.values():
        assert retry.delay(10**9, None, Dice(high=True)) == pytest.approx(1.2 * retry.most)


def test_a_short_wait_is_as_short_as_it_says() -> None:
    """What the server did not ask for adds nothing."""
    conflict = RETRIES[Outcome.CONFLICT]
    assert conflict.delay(1, None, Dice(high=True)) == pytest.approx(0.06)


@pytest.mark.parametrize(
    ("deadline", "now", "past"),
    [
        (60, 159.9, False),
        (60, 160.0, True),
        (60, 161.0, True),
        (0, 100.0, True),
        (None, 1e9, False),
    ],
)
def test_a_hard_deadline_counts_from_when_the_pod_fell_due(
    deadline: int | None, now: float, past: bool
) -> None:
    assert (now >= deadline_of(100.0, EvictionApi(deadline_seconds=deadline))) is past
