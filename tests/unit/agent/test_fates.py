"""What an answer of the API server makes of an eviction."""

from __future__ import annotations

import pytest

from bailiff.agent.fates import Answer, Fate, Unclear, answer_in
from bailiff.cluster import (
    AdmissionDeniedError,
    BadRequestError,
    ClusterError,
    ConfigError,
    ConflictError,
    FencedError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    RequestTimeoutError,
    ResponseError,
    ServerError,
    StatusError,
    TooManyRequestsError,
    UidMismatchError,
    UnauthorizedError,
    UnreachableError,
)
from tests.harness.clocks import LoopClock
from tests.harness.made_up_api import gone


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (gone(), Answer.GONE),
        # A proxy that knows no such path.
        (NotFoundError("x", status=404), Answer.UNCLEAR),
        (UidMismatchError("x", status=409), Answer.GONE),
        (UnreachableError("x"), Answer.AWAY),
        (RequestTimeoutError("x"), Answer.AWAY),
        (ServerError("x", status=502), Answer.AWAY),
        (ServerError("x", status=503), Answer.AWAY),
        (ServerError("x", status=504), Answer.AWAY),
        (UnauthorizedError("x", status=401), Answer.BUSY),
        (TooManyRequestsError("x", status=429), Answer.BUSY),
        (ConfigError("x"), Answer.BUSY),
        (FencedError("x"), Answer.BUSY),
        (ConflictError("x", status=409), Answer.UNCLEAR),
        (ServerError("x", status=500), Answer.UNCLEAR),
        (ResponseError("x"), Answer.UNCLEAR),
        (BadRequestError("x", status=400), Answer.NO),
        (ForbiddenError("x", status=403), Answer.NO),
        (InvalidError("x", status=422), Answer.NO),
        # Of somebody between.
        (StatusError("x", status=408), Answer.UNCLEAR),
        (StatusError("x", status=302), Answer.UNCLEAR),
        # A webhook says no with any code.
        (AdmissionDeniedError("x", status=429), Answer.NO),
        (AdmissionDeniedError("x", status=404), Answer.NO),
    ],
    ids=repr,
)
def test_what_an_error_says(error: ClusterError, answer: Answer) -> None:
    assert answer_in(error, "hog") is answer


class SetClock(LoopClock):
    at = 0.0

    def elapsed(self) -> float:
        return self.at


def test_what_does_not_pass_within_six_tries_is_a_no():
    """However much time others took between, who were busy: nothing is decided by that."""
    clock = SetClock()
    unclear = Unclear(clock)
    found = []
    for clock.at in (0.0, 17.0, 19.0, 21.0, 23.0, 25.0, 27.0):
        found.append(unclear.failed("a"))
    assert found == [Fate.FAILED] * 5 + [Fate.REFUSED, Fate.FAILED]
    assert unclear.failed("b") is Fate.FAILED


def test_what_failed_long_ago_is_another_matter():
    clock = SetClock()
    unclear = Unclear(clock)
    for clock.at in (0.0, 30.1, 3600.0):
        assert unclear.failed("a") is Fate.FAILED


def test_what_has_passed_begins_anew():
    clock = SetClock()
    unclear = Unclear(clock)
    unclear.failed("a")
    unclear.ended("a")
    clock.at = 11.0
    assert unclear.failed("a") is Fate.FAILED


def test_no_more_is_kept_than_a_node_has_pods():
    unclear = Unclear(SetClock())
    for number in range(2000):
        unclear.failed(f"uid-{number}")
    assert len(unclear._failed) <= 256
