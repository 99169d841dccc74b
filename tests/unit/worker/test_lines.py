"""Lines against a plain list: always the best that no limit holds back, and nobody forgotten."""

import math

from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import Finding, Verdict
from bailiff.decisions.policies import Limit, Limits
from bailiff.kinds import ObjectMeta, Pod
from bailiff.worker.gate import lines as lines_module
from bailiff.worker.gate.lines import Lines
from bailiff.worker.gate.meters import TOTAL, Key, Meters
from bailiff.worker.timers.eviction import Eviction
from tests.harness.clocks import START

FINDING = Finding(system="", verdict=Verdict.EVICT_NOW, reason="", message="")
LIMIT = st.none() | st.builds(
    Limit,
    per_second=st.none() | st.sampled_from([0.5, 1.0]),
    burst=st.integers(1, 2),
    concurrency=st.none() | st.integers(1, 2),
)
LIMITS = st.builds(Limits, total=LIMIT, per_node=LIMIT, per_namespace=LIMIT, per_zone=LIMIT)
PLACES = st.tuples(st.sampled_from(["n1", "n2"]), st.sampled_from("ab"), st.sampled_from("xy"))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), PLACES, st.integers(0, 3)),
        st.tuples(st.just("begin"), st.just(None), st.just(0)),
        st.tuples(st.just("end"), st.just(None), st.integers(0, 5)),
        st.tuples(st.just("leave"), st.just(None), st.integers(0, 5)),
        st.tuples(st.just("wait"), st.just(None), st.integers(1, 3)),
        st.tuples(st.just("renew"), st.just(None), st.just(0)),
    ),
    max_size=40,
)


def eviction(number: int) -> Eviction:
    pod = Pod(metadata=ObjectMeta(uid=f"uid-{number}"))
    return Eviction(pod=pod, finding=FINDING, deadline=START, due=0.0)


class Both:
    """Lines, and the list that they are compared with."""

    def __init__(self, limits: Limits) -> None:
        self.meters = Meters()
        self.meters.set_limits(limits, zones=False, now=0.0)
        self.lines = Lines(self.meters)
        self.now = 0.0
        self.standing: list[tuple[int, int, Eviction, tuple[Key, ...]]] = []
        self.running: list[tuple[Key, ...]] = []
        self.number = 0

    def put(self, place: tuple[str, str, str], rank: int) -> None:
        self.number += 1
        one, keys = eviction(self.number), self.meters.keys(*place)
        self.lines.put(one, keys, (rank, self.number))
        self.standing.append((rank, self.number, one, keys))

    def free_at(self, keys: tuple[Key, ...]) -> float:
        return max(self.meters.of(key).free_at(self.now) for key in (TOTAL, *keys))

    def begin(self) -> None:
        free = sorted(one for one in self.standing if self.free_at(one[3]) <= self.now)
        first = self.lines.first(self.now)
        assert first is (free[0][2] if free else None)
        if free:
            self.meters.start(free[0][3], self.now)
            self.running.append(free[0][3])
            self.leave(free[0])
        else:
            self.check_alarm()

    def check_alarm(self) -> None:
        # An alarm may be early, as another line may be first then; it is never late.
        at = min((self.free_at(one[3]) for one in self.standing), default=math.inf)
        alarm = self.lines.next_free(self.now)
        assert (math.inf if alarm is None else alarm) <= at

    def leave(self, entry: tuple[int, int, Eviction, tuple[Key, ...]]) -> None:
        self.standing.remove(entry)
        self.lines.remove(entry[2], self.now)

    def end(self, number: int) -> None:
        if self.running:
            keys = self.running.pop(number % len(self.running))
            self.meters.finish(keys)
            self.lines.let_out(keys, self.now)

    def renew(self) -> None:
        self.lines.renew()
        for rank, number, one, keys in self.standing:
            assert (one in self.lines, self.lines.keys_of(one)) == (True, None)
            self.lines.remove(one, self.now)
            self.lines.put(one, keys, (rank, number))

    def step(self, what: str, place: tuple[str, str, str] | None, number: int) -> None:
        if what == "put" and place is not None:
            self.put(place, number)
        elif what == "begin":
            self.begin()
        elif what == "end":
            self.end(number)
        elif what == "leave" and self.standing:
            self.leave(self.standing[number % len(self.standing)])
        elif what == "wait":
            self.now += number
        elif what == "renew":
            self.renew()


@given(LIMITS, STEPS)
def test_the_best_one_that_no_limit_holds_back_is_first(limits, steps):
    both = Both(limits)
    for step in steps:
        both.step(*step)
    # Whoever is left goes, as long as attempts end and time goes on.
    for _ in range(4 * len(both.standing)):
        both.end(0)
        both.now += 2
        both.begin()
    assert both.standing == []
    assert both.lines._lines == {}
    assert both.lines._waiting.keys() <= {TOTAL}


def test_of_very_many_lines_one_step_moves_so_many_and_the_next_goes_on(monkeypatch):
    monkeypatch.setattr(lines_module, "_SCAN", 8)
    both = Both(Limits(per_namespace=Limit(concurrency=1), per_node=Limit(concurrency=1)))
    both.put(("n", "a", ""), 0)
    both.begin()
    for number in range(20):
        both.put((f"n{number}", "a", ""), 1)
    both.put(("free", "b", ""), 2)
    found = [both.lines.first(both.now) for _ in range(3)]
    assert found == [None, None, both.standing[-1][2]]
    assert both.lines.next_free(both.now) == both.now


def test_one_that_comes_goes_before_another_whose_turn_it_has_been_but_that_has_not_begun():
    both = Both(Limits(per_namespace=Limit(concurrency=1), per_node=Limit(concurrency=9)))
    both.put(("n1", "a", ""), 0)
    both.begin()
    both.put(("n2", "a", ""), 2)
    both.put(("n3", "a", ""), 3)
    both.begin()
    both.end(0)
    both.put(("n3", "a", ""), 1)
    both.begin()
    assert [rank for rank, *_ in both.standing] == [2, 3]
    for _ in range(2):
        both.end(0)
        both.begin()
    # Names of nodes and namespaces come and go: no key is kept for which nobody waits.
    assert (both.standing, both.lines._waiting.keys() <= {TOTAL}) == ([], True)
