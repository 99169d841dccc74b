"""As many addresses as places, each with one connection: who has been quiet longest makes room."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import TYPE_CHECKING

import pytest

from bailiff.serving import Bounds, Reason
from bailiff.serving.places import QUIET_SECONDS, Place, Places
from tests.harness.http_edge import ASK, ASK_LONG, serving, streams
from tests.harness.kube.tls import make_tls
from tests.harness.secured import serving_tls

if TYPE_CHECKING:
    from pathlib import Path

MANY = 100
CROWDED = Bounds(max_connections=4)
HOSTS = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")


class Crowd:
    """Connections of an address each, on a port that is full with them."""

    def __init__(self, number: int = MANY) -> None:
        self.now, self.asked = 0.0, 0
        self.busy: set[int] = set()
        self.gone: list[int] = []
        self.places = Places(Bounds(max_connections=number), now=lambda: self.now)
        self.acts = [0] * number
        for one in range(number):
            self._come(one)
            self.now += 0.001

    def _come(self, number: int) -> None:
        place = self.places.take(f"10.0.0.{number}")
        assert isinstance(place, Place)
        place.acts = lambda: self.acts[number]
        place.holder = Guest(self, number, place)

    def does_anybody_make_room(self) -> bool:
        """For an address that has nothing, and leaves at once."""
        taken = self.places.take("10.1.0.1")
        if isinstance(taken, Place):
            taken.leave()
            return True
        assert taken is Reason.CONNECTIONS
        return False


class Guest:
    """One of a crowd."""

    def __init__(self, crowd: Crowd, number: int, place: Place) -> None:
        self._crowd, self._number, self._place = crowd, number, place

    def make_room(self) -> bool:
        self._crowd.asked += 1
        if self._number in self._crowd.busy:
            return False
        self._place.leave()
        self._crowd.gone.append(self._number)
        return True


def test_who_has_been_quiet_longest_goes_for_one_who_has_nothing() -> None:
    crowd = Crowd(4)
    assert not crowd.does_anybody_make_room(), "all have just come"
    crowd.now = QUIET_SECONDS + 0.0005
    assert crowd.does_anybody_make_room()
    assert crowd.gone == [0]


def test_who_has_one_already_drives_nobody_out() -> None:
    crowd = Crowd(4)
    crowd.now = 2 * QUIET_SECONDS
    assert crowd.places.take("10.0.0.3") is Reason.CONNECTIONS
    assert crowd.gone == []


def test_who_has_come_has_time_to_ask() -> None:
    crowd = Crowd(4)
    crowd.now = 2 * QUIET_SECONDS
    taken = [crowd.places.take(f"10.1.0.{number}") for number in range(5)]
    assert [isinstance(one, Place) for one in taken] == [True] * 4 + [False]
    assert crowd.gone == [0, 1, 2, 3]


def test_who_has_done_something_is_spared_until_it_has_been_quiet_since() -> None:
    crowd = Crowd(4)
    crowd.acts[0] = crowd.acts[1] = 1
    crowd.now = 2 * QUIET_SECONDS
    assert crowd.does_anybody_make_room()
    assert crowd.gone == [2]
    crowd.acts[0] = 2
    crowd.now += QUIET_SECONDS + 1
    for _ in range(2):
        crowd.places.take(f"10.1.0.{crowd.now}")
        assert crowd.does_anybody_make_room()
    assert crowd.gone == [2, 3, 1]


def test_each_newcomer_looks_at_few_and_together_they_find_the_quiet_one() -> None:
    crowd = Crowd()
    crowd.busy = set(range(MANY - 1))
    crowd.now = 2 * QUIET_SECONDS
    most = 0
    for _ in range(MANY):
        before = crowd.asked
        made = crowd.does_anybody_make_room()
        most = max(most, crowd.asked - before)
        if made:
            break
    assert crowd.gone == [MANY - 1]
    assert most <= 10


def test_all_who_are_busy_are_asked_once_in_a_while() -> None:
    crowd = Crowd()
    crowd.busy = set(range(MANY))
    crowd.now = 2 * QUIET_SECONDS
    for _ in range(10 * MANY):
        assert not crowd.does_anybody_make_room()
    assert crowd.asked == MANY


async def test_silent_connections_of_as_many_addresses_keep_nobody_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bailiff.serving.places.QUIET_SECONDS", 0.2)
    async with serving(CROWDED) as port:
        with streams(port) as held:
            silent = [await held.open(local_addr=(host, 0)) for host in HOSTS]
            await asyncio.sleep(0.3)
            assert (await held.ask()).startswith(b"HTTP/1.1 200 ")
            with contextlib.suppress(ConnectionError):
                assert await silent[0].read() == b""
            assert (port.refused("room"), port.refused("connections")) == (1, 0)


async def test_who_asks_now_and_then_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bailiff.serving.places.QUIET_SECONDS", 0.2)
    async with serving(CROWDED) as port:
        with streams(port) as held:
            asks = await held.open(ASK, local_addr=(HOSTS[0], 0))
            await asks.readuntil(b"ok")
            silent = [await held.open(local_addr=(host, 0)) for host in HOSTS[1:]]
            await asyncio.sleep(0.3)
            await held.ask()
            with contextlib.suppress(ConnectionError):
                assert await silent[0].read() == b""
            held.write(ASK, 0)
            assert (await asks.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")


async def test_who_is_being_answered_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bailiff.serving.places.QUIET_SECONDS", 0.0)
    async with serving(CROWDED) as port:
        with streams(port) as held:
            for host in HOSTS:
                await held.ask(ASK_LONG, local_addr=(host, 0))
            told = [await (await held.open()).read() for _ in range(3)]
            assert {one[:12] for one in told} == {b"HTTP/1.1 503"}


async def test_silent_handshakes_of_as_many_addresses_keep_nobody_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("bailiff.serving.places.QUIET_SECONDS", 0.2)
    files = make_tls(tmp_path)
    client = ssl.create_default_context(cafile=files.ca)
    async with serving(CROWDED, tls=serving_tls(files)) as port:
        with streams(port) as held:
            for host in HOSTS:
                await held.open(local_addr=(host, 0))
            await asyncio.sleep(0.3)
            assert (await held.ask(ssl=client)).startswith(b"HTTP/1.1 200 ")
