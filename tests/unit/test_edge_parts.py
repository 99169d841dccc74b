"""The parts of every HTTP port's edge: hosts, places, refusals, what may be set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from bailiff.face_settings import SettingsError
from bailiff.serving import (
    Bounds,
    ByteBudget,
    Edge,
    EdgeSettings,
    OverloadedError,
    Reason,
    Refusals,
)
from bailiff.serving.hosts import Hosts, authority_of
from bailiff.serving.places import Place, Places


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        (b"localhost", True),
        (b"LocalHost:8080", True),
        (b"localhost.", True),
        (b"127.0.0.1:8080", True),
        (b"10.1.2.3", True),
        (b"[::1]:8080", True),
        (b"[fd00::7]", True),
        (b"bailiff.kube-system.svc", True),
        (b"BAILIFF.kube-system.svc.:80", True),
        (b"a.example.com", True),
        (b"a.b.example.com:1", True),
        (b"mine", True),
        (b"", False),
        (b"example.com", False),
        (b"evil-example.com", False),
        (b"example.com.evil.org", False),
        (b"localhost.evil.org", False),
        (b"127.0.0.1.evil.org", False),
        (b"evil\xff", False),
        (b"[::1].evil.org", False),
        (b"[localhost", False),
        (b"[localhost]", False),
        (b"localhost:", True),
        (b"localhost:80:evil.com", False),
        (b"localhost:evil.com", False),
        (b"127.0.0.1:80:evil.com", False),
        (b"[::1]:80:evil.com", False),
        (b"[::1]:evil.com", False),
        (b"localhost@evil.com", False),
        (b"evil.com@localhost", False),
        (b"evil.com/.example.com", False),
        (b"evil.com#.example.com", False),
        (b"evil.com:80@a.example.com", False),
        (b"localhost evil.com", False),
        (b"a" * 300 + b".example.com", False),
    ],
)
def test_hosts(host: bytes, allowed: bool) -> None:
    hosts = Hosts(["bailiff.kube-system.svc", "*.example.com"], "mine")
    assert [hosts.allow(host) for _ in range(2)] == [allowed, allowed]


@pytest.mark.parametrize(
    ("target", "authority"),
    [
        (b"/version", b""),
        (b"//evil.com/version", b""),
        (b"/version?at=http://evil.com/", b""),
        (b"*", b""),
        (b"http://evil.com/version", b"evil.com"),
        (b"HTTP://evil.com:80", b"evil.com:80"),
        (b"http://evil.com?localhost", b"evil.com"),
        (b"http://localhost@evil.com/", b"localhost@evil.com"),
        (b"http://[::1]:80/a://b", b"[::1]:80"),
    ],
)
def test_the_host_that_a_target_names(target: bytes, authority: bytes) -> None:
    assert authority_of(target) == authority


def test_a_star_is_any_host() -> None:
    assert Hosts(["*"]).allow(b"evil.org")


BOUNDS = Bounds(max_connections=5, max_connections_per_peer=2)
PROXIES = EdgeSettings(trusted_proxies="10.9.0.0/16, 10.8.0.1")


@pytest.mark.parametrize(
    ("addresses", "refused"),
    [
        (["10.0.0.1"] * 3, [Reason.PEER_CONNECTIONS]),
        (
            ["10.0.0.1"] * 2 + [f"10.0.0.{n}" for n in (2, 3, 4)] + ["10.0.0.1"],
            [Reason.PEER_CONNECTIONS],
        ),
        (["10.0.0.1", "10.0.0.2"] * 2, []),
        ([f"10.0.0.{n}" for n in range(6)], [Reason.CONNECTIONS]),
        (["2001:db8::1", "2001:db8::2", "2001:db8::3%eth0"], [Reason.PEER_CONNECTIONS]),
        (["2001:db8::1", "2001:db8:0:1::1", "2001:db8:0:2::1"], []),
        (["::ffff:10.0.0.1", "10.0.0.1", "::ffff:10.0.0.1"], [Reason.PEER_CONNECTIONS]),
        (["10.9.0.1"] * 5, []),
        (["10.9.0.1"] * 6, [Reason.CONNECTIONS]),
    ],
)
def test_places(addresses: list[str], refused: list[Reason]) -> None:
    places = Places(BOUNDS, Edge(settings=PROXIES).is_proxy)
    taken = [places.take(address) for address in addresses]
    assert [one for one in taken if isinstance(one, Reason)] == refused
    for one in taken:
        if isinstance(one, Place):
            one.leave()
            one.leave()  # more than once is once
    assert [isinstance(places.take(one), Place) for one in addresses[:2]] == [True, True]


class Guest:
    """Holds a place, and leaves it where it is asked to unless it is busy."""

    def __init__(self, place: Place, *, is_busy: bool = False) -> None:
        self.place, self.is_busy = place, is_busy
        self.has_gone = False
        place.holder = self

    def make_room(self) -> bool:
        if self.is_busy:
            return False
        self.place.leave()
        self.has_gone = True
        return True


def guests(places: Places, *addresses: str) -> list[Guest]:
    taken = [places.take(address) for address in addresses]
    return [Guest(place) for place in taken if isinstance(place, Place)]


CROWD = Bounds(max_connections=6, max_connections_per_peer=4)


def test_the_peer_with_most_places_makes_room_for_one_with_fewer() -> None:
    places = Places(CROWD)
    crowd = guests(places, *["10.0.0.1"] * 4, *["10.0.0.2"] * 2)
    crowd[0].is_busy = True
    assert isinstance(places.take("10.0.0.3"), Place)
    assert [one.has_gone for one in crowd] == [False, True, False, False, False, False]
    assert isinstance(places.take("10.0.0.4"), Place)
    assert [one.has_gone for one in crowd[:4]] == [False, True, True, False]


def test_nobody_makes_room_for_one_who_would_have_as_many() -> None:
    places = Places(CROWD)
    crowd = guests(places, *["10.0.0.1", "10.0.0.2", "10.0.0.3"] * 2)
    assert places.take("10.0.0.1") is Reason.CONNECTIONS
    assert not any(one.has_gone for one in crowd)
    assert isinstance(places.take("10.0.0.4"), Place)
    assert places.take("10.0.0.4") is Reason.CONNECTIONS


def test_who_is_at_work_for_all_of_its_places_keeps_them_and_another_is_looked_at() -> None:
    places = Places(CROWD)
    crowd = guests(places, *["10.0.0.1"] * 3, *["10.0.0.2"] * 3)
    for one in crowd[:3]:
        one.is_busy = True
    answers = [places.take("10.0.0.3") for _ in range(2)]
    assert Reason.CONNECTIONS in answers
    assert any(isinstance(one, Place) for one in answers)
    assert [one.has_gone for one in crowd] == [False] * 3 + [True, False, False]


def test_a_crowd_at_work_for_all_that_it_has_leaves_places_to_whoever_comes_new() -> None:
    places = Places(Bounds(max_connections=64, max_connections_per_peer=16))
    for _ in range(40):
        for number in range(5):
            places.take(f"10.0.0.{number}")  # nobody makes room: all of them are at work
    assert isinstance(places.take("10.0.1.1"), Place)
    assert places.take("10.0.0.1") in {Reason.CONNECTIONS, Reason.PEER_CONNECTIONS}


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=60))
def test_places_are_counted_whoever_comes_and_goes(steps: list[tuple[int, bool]]) -> None:
    places = Places(CROWD)
    there: list[Guest] = []
    for number, comes in steps:
        if comes:
            there += guests(places, f"10.0.0.{number}")
        elif there:
            there.pop(number % len(there)).place.leave()
        there = [one for one in there if not one.has_gone]
        assert len(there) <= CROWD.max_connections
    for one in there:
        one.place.leave()
    assert len(guests(places, *(f"10.0.0.{n}" for n in range(20)))) == CROWD.max_connections


def test_a_reason_is_told_once_in_a_while_and_counted_each_time() -> None:
    registry, now = CollectorRegistry(), [100.0]
    refusals = Refusals(registry, every=10, clock=lambda: now[0])
    with capture_logs() as logs:
        for _ in range(39_000):
            refusals.count(Reason.MALFORMED, "10.0.0.1", "no HTTP")
        refusals.count(Reason.HOST, "10.0.0.2")
        now[0] += 10
        refusals.count(Reason.MALFORMED, "10.0.0.3")
    assert [(one["reason"], one["client"], one["left_out"]) for one in logs] == [
        ("malformed", "10.0.0.1", 0),
        ("host", "10.0.0.2", 0),
        ("malformed", "10.0.0.3", 38_999),
    ]
    counted = {"reason": "malformed"}
    assert registry.get_sample_value("bailiff_http_refused_total", counted) == 39_001
    assert registry.get_sample_value("bailiff_http_refused_total", {"reason": "bytes"}) == 0


class Holder:
    """Owes us something, and holds bytes until it is cut off."""

    def __init__(self, budget: ByteBudget, count: int) -> None:
        self._budget, self.count = budget, count
        assert budget.take(count)
        budget.owes(self)

    def cut(self) -> None:
        self._budget.give_back(self.count)
        self.count = 0


def test_who_owes_for_longest_is_cut_off_first_and_no_more_than_needed() -> None:
    now = [0.0]
    budget = ByteBudget(100, spared_seconds=1, clock=lambda: now[0])
    holders = []
    for _ in range(4):
        holders.append(Holder(budget, 20))
        now[0] += 1
    budget.settled(holders[1])
    assert budget.take(50)
    assert [one.count for one in holders] == [0, 20, 0, 20]
    assert budget.taken == 90
    now[0] -= 0.5
    assert not budget.take(20), "the last has owed us something for too short a time"
    assert budget.taken == 90


def test_nobody_is_cut_off_for_what_fits_never() -> None:
    now = [0.0]
    budget = ByteBudget(100, clock=lambda: now[0])
    holder = Holder(budget, 50)
    now[0] = 9
    assert not budget.take(101)
    assert not budget.take(76, long=True)
    assert holder.count == 50


def test_who_has_owed_for_no_longer_than_anybody_is_spared_has_not_owed_for_long() -> None:
    now = [0.0]
    budget = ByteBudget(100, spared_seconds=1, clock=lambda: now[0])
    holder = Holder(budget, 20)
    now[0] = 1
    assert not budget.has_owed_for_long(holder)
    now[0] = 1.1
    assert budget.has_owed_for_long(holder)
    budget.settled(holder)
    assert not budget.has_owed_for_long(holder)


def test_long_messages_leave_room_for_others() -> None:
    budget = ByteBudget(100)
    assert not budget.take(76, long=True)
    assert budget.take(75, long=True)
    assert not budget.take(1, long=True)
    assert budget.take(25)
    with pytest.raises(OverloadedError):
        budget.check_room(1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BAILIFF_MAX_BYTES_UNDER_WAY", "0"),
        ("BAILIFF_MAX_BYTES_UNDER_WAY", "much"),
        ("BAILIFF_TRUSTED_PROXIES", "my-proxy"),
        ("BAILIFF_TRUSTED_PROXIES", "10.0.0.1/8"),
    ],
)
def test_a_setting_that_cannot_be_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name):
        EdgeSettings.read()
