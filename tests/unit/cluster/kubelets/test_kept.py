"""Which connections are kept, and for how long."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, cast

import pytest

from bailiff.cluster.kubelets import kept as module
from bailiff.cluster.kubelets.connection import Connection
from bailiff.cluster.kubelets.endpoints import Endpoint
from bailiff.cluster.kubelets.kept import Kept
from bailiff.cluster.kubelets.turns import Turns
from tests.harness.clocks import ManualClock

if TYPE_CHECKING:
    from collections.abc import Callable


class Idle:
    """A connection that is closed or not."""

    def __init__(self, *, quiet: bool = True) -> None:
        self.quiet = quiet
        self.closed = False

    def is_quiet(self) -> bool:
        return self.quiet

    def close(self) -> None:
        self.closed = True


def put(kept: Kept, number: int, *, quiet: bool = True) -> Idle:
    made = Idle(quiet=quiet)
    kept.put(at(number), cast("Connection", made))
    return made


def at(number: int) -> Endpoint:
    return Endpoint(f"n{number}", 10250, None)


def test_one_that_was_put_is_taken_once() -> None:
    kept = Kept(ManualClock(), 10)
    one = put(kept, 1)
    assert kept.take(at(2)) is None
    assert kept.take(at(1)) is cast("Connection", one)
    assert kept.take(at(1)) is None
    assert not one.closed


def test_one_that_has_ended_meanwhile_is_not_handed_out() -> None:
    kept = Kept(ManualClock(), 10)
    one = put(kept, 1, quiet=False)
    assert kept.take(at(1)) is None
    assert one.closed


def test_of_too_many_those_go_that_were_used_longest_ago() -> None:
    kept = Kept(ManualClock(), 2)
    all_of_them = [put(kept, number) for number in (1, 2, 3)]
    assert [one.closed for one in all_of_them] == [True, False, False]
    assert len(kept) == 2


def test_one_in_place_of_another_closes_that() -> None:
    kept = Kept(ManualClock(), 2)
    first, second = put(kept, 1), put(kept, 1)
    assert (first.closed, second.closed, len(kept)) == (True, False, 1)


def test_those_that_nobody_asked_for_long_go() -> None:
    clock = ManualClock()
    kept = Kept(clock, 10)
    first = put(kept, 1)
    clock.advance(74.0)
    put(kept, 2)
    assert not first.closed
    clock.advance(1.0)
    put(kept, 3)
    assert (first.closed, len(kept)) == (True, 2)


def test_half_of_the_file_descriptors_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_descriptors", lambda: 4)
    kept = Kept(ManualClock(), 10)
    for number in range(5):
        put(kept, number)
    assert len(kept) == 2


def test_all_are_closed_in_the_end() -> None:
    kept = Kept(ManualClock(), 10)
    all_of_them = [put(kept, number) for number in range(3)]
    kept.clear()
    assert all(one.closed for one in all_of_them)
    assert len(kept) == 0


def _raising(error: Exception) -> Callable[[int], bytes]:
    def recv(_size: int) -> bytes:
        raise error

    return recv


@pytest.mark.parametrize(
    ("recv", "quiet"),
    [
        (_raising(ssl.SSLWantReadError()), True),
        (_raising(ConnectionResetError()), False),
        (lambda _: b"", False),
        (lambda _: b"H", False),
    ],
    ids=["nothing has come", "reset", "its end", "what nobody asked for"],
)
def test_whether_a_connection_seems_alive(recv: Callable[[int], bytes], quiet: bool) -> None:
    class Socket:
        pass

    made = Socket()
    made.recv = recv  # type: ignore[attr-defined]  # all that is asked of it
    assert Connection(cast("ssl.SSLSocket", made), Turns()).is_quiet() is quiet
