"""The clock that goes by the API server's: what an answer tells of it, and what not."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.cluster import ClusterClock, SkewAlarm
from bailiff.cluster.exchanges import Exchange
from tests.harness.clocks import START, ManualClock

HOUR = 3600.0


class Machine(ManualClock):
    """Its wall clock is off by so many seconds, and what it slept through it has not noticed."""

    def __init__(self, off: float = 0.0) -> None:
        super().__init__()
        self.off = off
        self.missed = 0.0

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self.off)

    def right(self) -> datetime:
        """The time it is for everybody else."""
        return super().now() + timedelta(seconds=self.missed)


def header(instant: datetime) -> str:
    return format_datetime(instant.replace(microsecond=0), usegmt=True)


def told(clock: ClusterClock, date: str, seconds: float = 0.0) -> None:
    clock.answered(Exchange("GET", "pods", 200, seconds, date))


def known(off: float = 0.0, after: float = 0.0) -> tuple[Machine, ClusterClock]:
    """A machine whose clock is off, and a clock that has been told of it."""
    machine = Machine(off)
    machine.advance(after)
    clock = ClusterClock(machine)
    for _ in range(3):
        told(clock, header(machine.right()))
        machine.advance(1.0)
    return machine, clock


def seconds_ahead(clock: ClusterClock, machine: Machine) -> float:
    return (clock.now() - machine.right()).total_seconds()


def test_before_the_first_answer_there_is_only_the_machine_s_clock():
    machine = Machine(off=HOUR)
    clock = ClusterClock(machine)
    assert clock.now() == machine.now()
    assert clock.skew() == 0.0


@pytest.mark.parametrize("off", [-HOUR, -1.5, 0.0, 1.5, HOUR])
def test_the_first_answer_evicts_nobody_and_dates_nothing_before_it(off):
    machine = Machine(off)
    clock = ClusterClock(machine)
    told(clock, header(machine.right()))
    machine.advance(0.5)
    assert clock.now() <= machine.right()
    assert clock.latest() >= machine.right()


@pytest.mark.parametrize("off", [-HOUR, -1.5, 1.5, HOUR])
def test_a_clock_that_is_wrong_counts_for_nothing(off):
    machine, clock = known(off, after=0.4)
    assert -1.0 <= seconds_ahead(clock, machine) <= 0.0
    assert clock.skew() == pytest.approx(off, abs=1.0)


@pytest.mark.parametrize("off", [-0.3, 0.0, 0.5])
def test_a_clock_that_may_be_right_is_believed(off):
    machine, clock = known(off, after=0.4)
    assert clock.now() == machine.now()
    assert clock.skew() == 0.0


@pytest.mark.parametrize("step", [-HOUR, HOUR])
def test_a_step_is_found_out_without_another_answer(step):
    machine, clock = known()
    machine.advance(30)
    machine.off = step
    assert seconds_ahead(clock, machine) == 0.0


def test_many_answers_tell_more_than_one():
    machine, clock = known(off=HOUR)
    for _ in range(50):
        machine.advance(1.01)
        told(clock, header(machine.right()))
    assert -0.05 <= seconds_ahead(clock, machine) <= 0.0


def test_what_a_slow_request_leaves_open_is_left_open():
    """The answer may have been written at any instant between sending and receiving."""
    machine = Machine()
    clock = ClusterClock(machine)
    machine.advance(10)
    told(clock, header(START), seconds=10.0)
    assert clock.now() == machine.now()
    assert clock.skew() == 0.0
    machine.off = 1.5
    assert clock.skew() == pytest.approx(0.5)


def test_time_that_the_machine_has_not_noticed_is_made_good_by_the_next_answers():
    machine, clock = known()
    machine.missed = 600.0
    for _ in range(3):
        assert seconds_ahead(clock, machine) == -600.0
        told(clock, header(machine.right()))
        machine.advance(0.5)
    assert -1.0 <= seconds_ahead(clock, machine) <= 0.0


@pytest.mark.parametrize("ahead", [20.0, HOUR])
@pytest.mark.parametrize("pattern", ["AB", "AAB", "ABB", "BA", "BBA", "ABBBB"])
def test_one_of_two_api_servers_that_is_ahead_makes_nobody_early(pattern, ahead):
    machine = Machine()
    clock = ClusterClock(machine)
    for server in pattern * 100:
        machine.advance(0.2)
        wrong = timedelta(seconds=ahead if server == "B" else 0.0)
        told(clock, header(machine.right() + wrong))
        assert seconds_ahead(clock, machine) <= 0.0


@pytest.mark.parametrize("code", [502, 503, 504])
def test_a_gateway_goes_by_a_clock_of_its_own(code):
    machine, clock = known()
    for _ in range(20):
        machine.advance(1.0)
        date = header(machine.right() + timedelta(hours=1))
        clock.answered(Exchange("GET", "pods", code, 0.0, date))
    assert clock.now() == machine.now()


def test_the_latest_that_it_can_be_is_never_behind():
    machine, clock = known(off=-HOUR)
    assert 0.0 <= (clock.latest() - machine.right()).total_seconds() <= 1.0
    assert clock.now() <= machine.right()


def test_a_lone_answer_of_the_past_is_out_of_a_cache():
    machine, clock = known()
    machine.advance(30)
    for _ in range(3):
        told(clock, header(machine.right() - timedelta(hours=1)))
        assert clock.now() == machine.now()
        told(clock, header(machine.right()))
    assert clock.now() == machine.now()


def test_two_answers_that_agree_are_an_api_server_whose_clock_was_set_back():
    machine, clock = known()
    machine.missed = -HOUR
    told(clock, header(machine.right()))
    machine.advance(2)
    told(clock, header(machine.right()))
    assert -1.0 <= seconds_ahead(clock, machine) <= 0.0


def test_bounds_of_long_ago_are_dropped():
    """Clocks drift: by 0.5 ms a second at most, 1.8 s in an hour."""
    machine, clock = known()
    for _ in range(3600):
        machine.advance(1.0)
        machine.missed += 0.0005
        told(clock, header(machine.right()))
        assert abs(seconds_ahead(clock, machine)) <= 1.1
    machine.off = HOUR
    assert -1.0 <= seconds_ahead(clock, machine) <= 0.1


def test_what_was_known_closely_counts_for_the_rest_of_its_minute_and_the_next():
    machine = Machine()
    clock = ClusterClock(machine)
    for _ in range(10):
        machine.advance(1.1)
        told(clock, header(machine.right()))
    machine.off = 0.5
    doubted = []
    for _ in range(150):
        # Answers at whole seconds, which leave a second open.
        machine.advance(1.0)
        told(clock, header(machine.right()))
        doubted.append(clock.skew() > 0.3)
    # From the first answer, at 1.1 s, to the second time that a minute is over, at 62 and 122 s.
    assert doubted == [True] * 110 + [False] * 40


@pytest.mark.parametrize(
    "date",
    [
        "",
        "soon",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Mon, 01 Jan 0001 00:00:00 GMT",
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Thu, 32 Jan 2026 00:00:00 GMT",
        "Thu, 01 Jan 2026 00:00:00 CET",
        "Thursday, 01-Jan-26 00:00:00 GMT",
        "Thu, 01 Jan 2026 00:00:00 GMT" * 1000,
    ],
)
def test_what_cannot_be_a_date_of_an_api_server_tells_nothing(date):
    machine = Machine(off=HOUR)
    clock = ClusterClock(machine)
    told(clock, date)
    assert clock.now() == machine.now()
    assert clock.skew() == 0.0


@given(st.text(max_size=40) | st.text("0123456789:, GMTJanThu-+", min_size=29, max_size=29))
def test_no_header_is_too_strange(date):
    told(ClusterClock(Machine()), date)


@given(
    off=st.floats(-1e5, 1e5),
    exchanges=st.lists(
        st.tuples(st.floats(0, 100), st.floats(0, 10), st.floats(0, 1)), max_size=30
    ),
)
def test_however_slow_the_answers_the_time_is_never_known_wrong(off, exchanges):
    """Each comes after so long, took so long, and was written at some instant in between."""
    machine = Machine(off)
    clock = ClusterClock(machine)
    for wait, seconds, written in exchanges:
        machine.advance(wait + seconds)
        told(clock, header(machine.right() - timedelta(seconds=seconds * written)), seconds)
        # What is known holds by construction; a clock that is found wrong is never ahead.
        if clock.skew():
            assert -11.0 <= seconds_ahead(clock, machine) <= 1e-5


@pytest.mark.parametrize(
    ("off", "said"),
    [
        (4.0, []),
        (-4.0, []),
        (HOUR, ["this machine's clock is 0:59:59 ahead of the API server's"]),
        (-HOUR, ["this machine's clock is 1:00:00 behind the API server's"]),
    ],
)
def test_a_clock_that_is_wrong_by_more_than_the_limit_is_complained_about(off, said):
    _, clock = known(off)
    assert SkewAlarm(clock, 5.0).complaints() == said


def test_the_wall_clock_is_in_utc():
    _, clock = known(HOUR)
    assert clock.now().tzinfo is UTC
