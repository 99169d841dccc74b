"""What a process knows of a Lease, step by step, on a clock that stands still."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bailiff.cluster import Lease, LeaseRecord
from bailiff.worker.lead.tenure import ElectionSettings, Sent, Tenure
from tests.harness.clocks import START, ManualClock


class Process:
    """One process, and the Lease as the server has it."""

    def __init__(self) -> None:
        self.clock = ManualClock(passed=1000.0)
        self.settings = ElectionSettings()
        self.tenure = Tenure("me", self.clock, self.settings)

    def hold(self) -> Lease:
        """Claim the Lease, which is free; the answer takes two seconds."""
        self.tenure.saw(None)
        record, sent = self.tenure.claim()
        self.clock.advance(2)
        self.tenure.wrote(Lease(record, {}), sent)
        return Lease(record, {})


def of_another(**record) -> Lease:
    return Lease(LeaseRecord(**{"holder_identity": "other"} | record), {})


def test_one_that_knows_nothing_neither_acts_nor_holds():
    tenure = Process().tenure
    assert (tenure.may_act(), tenure.ours, tenure.holder, tenure.renewed_at) == (
        *(False, False, "", None),
    )
    # Nobody is known to act.
    assert tenure.claimable_in() == 0.0
    assert tenure.resign() is None


def test_a_claim_says_who_since_when_and_for_how_long():
    process = Process()
    now = process.clock.now()
    record, sent = process.tenure.claim()
    assert record == LeaseRecord("me", 15, acquire_time=now, renew_time=now, lease_transitions=0)
    assert sent == Sent(1000.0, now)
    assert not process.tenure.may_act(), "nobody has taken the claim"


def test_one_acts_until_the_renew_deadline_after_its_claim_was_sent():
    process = Process()
    process.hold()
    assert (process.tenure.ours, process.tenure.holder) == (True, "me")
    assert process.tenure.renewed_at == 1000.0
    for passed, acts in ((0, True), (7.9, True), (0.1, False), (1e6, False)):
        process.clock.advance(passed)
        assert process.tenure.may_act() is acts


def test_a_renewal_changes_nothing_but_its_time():
    process = Process()
    lease = process.hold()
    process.clock.advance(5)
    record, sent = process.tenure.claim()
    assert record == replace(lease.record, renew_time=process.clock.now())
    assert sent == Sent(1007.0, process.clock.now())
    process.tenure.wrote(Lease(record, {}), sent)
    assert (process.tenure.ours, process.tenure.renewed_at) == (True, 1007.0)
    process.clock.advance(9.9)
    assert process.tenure.may_act()


def test_what_is_ours_may_be_claimed_at_once_and_reading_it_changes_nothing():
    process = Process()
    lease = process.hold()
    process.tenure.saw(lease)
    assert (process.tenure.claimable_in(), process.tenure.may_act()) == (0.0, True)


@pytest.mark.parametrize(
    "lease",
    [
        pytest.param(None, id="it has vanished"),
        pytest.param(of_another(), id="another holds it"),
        pytest.param(of_another(holder_identity="me", acquire_time=START), id="one of our name"),
        pytest.param(of_another(holder_identity=""), id="it was released"),
    ],
)
def test_one_that_reads_that_it_lost_the_lease_acts_no_more(lease):
    process = Process()
    mine = process.hold()
    process.tenure.saw(lease)
    assert (process.tenure.may_act(), process.tenure.ours) == (False, False)
    assert process.tenure.resign() is None
    # Nor does it by reading once more what it wrote long ago.
    process.tenure.saw(mine)
    assert not process.tenure.may_act()


@pytest.mark.parametrize(
    ("lease", "seconds"),
    [
        (of_another(lease_duration_seconds=40), 40.0),
        (of_another(), 15.0),
        (of_another(lease_duration_seconds=0), 15.0),
        (of_another(lease_duration_seconds=-(2**31)), 15.0),
        (of_another(lease_duration_seconds=3600), 3600.0),
        # 68 years are not believed, nor that somebody renewed it in a year to come.
        (of_another(lease_duration_seconds=2**31 - 1), 3600.0),
        (of_another(renew_time=START + timedelta(days=365_000)), 15.0),
        (of_another(holder_identity="", lease_duration_seconds=40), 0.0),
    ],
)
def test_a_lease_is_free_when_the_time_that_its_holder_promised_has_passed(lease, seconds):
    process = Process()
    process.tenure.saw(lease)
    assert process.tenure.renewed_at == 1000.0
    assert process.tenure.claimable_in() == seconds
    process.clock.advance(max(0.0, seconds - 1))
    process.tenure.saw(lease)
    assert process.tenure.claimable_in() == min(1.0, seconds), "the same Lease is no renewal"
    process.clock.advance(10)
    assert process.tenure.claimable_in() == 0.0
    process.tenure.saw(Lease(replace(lease.record, renew_time=START), {}))
    assert process.tenure.claimable_in() == seconds, "a renewal that was seen counts anew"


def test_a_lease_that_vanishes_is_free_when_it_would_have_run_out():
    process = Process()
    process.tenure.saw(of_another())
    process.clock.advance(5)
    process.tenure.saw(None)
    assert (process.tenure.claimable_in(), process.tenure.holder) == (10.0, "")


def test_a_lease_that_changes_hands_counts_its_holders():
    process = Process()
    process.tenure.saw(of_another(lease_transitions=6))
    record, _ = process.tenure.claim()
    assert (record.holder_identity, record.lease_transitions) == ("me", 7)


def test_one_that_resigns_acts_no_more_and_leaves_a_lease_that_nobody_waits_for():
    process = Process()
    process.tenure.saw(of_another(lease_transitions=6))
    record, sent = process.tenure.claim()
    process.tenure.wrote(Lease(record, {}), sent)
    process.clock.advance(3)
    now = START + timedelta(seconds=1003)
    left = process.tenure.resign()
    assert left == LeaseRecord("", 1, acquire_time=now, renew_time=now, lease_transitions=7)
    assert not process.tenure.may_act()
    heir = Process()
    heir.tenure.saw(Lease(left, {}))
    assert heir.tenure.claimable_in() == 0.0


@pytest.mark.parametrize("duration", [11, 2**31 - 1])
def test_times_of_any_length_fit(duration):
    settings = ElectionSettings(lease_duration=duration, longest_lease=2**31)
    assert settings.lease_duration == duration


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ({"lease_duration": 10}, "lease duration .* must be above the renew deadline"),
        ({"lease_duration": 0}, "1 s or more"),
        ({"lease_duration": 2**31}, "1 s or more"),
        ({"renew_deadline": 2.4}, "1.2 times the retry period"),
        ({"renew_deadline": float("nan")}, "renew deadline"),
        ({"retry_period": 0}, "retry period"),
        ({"retry_period": -1}, "retry period"),
        ({"request_timeout": 5.0}, "below 5 s"),
        ({"request_timeout": 0.0}, "below 5 s"),
        ({"longest_lease": 14.9}, "must not be below the lease duration"),
        ({"longest_lease": float("nan")}, "must not be below the lease duration"),
        ({"longest_lease": float("inf")}, "must not be below the lease duration"),
    ],
)
def test_times_that_do_not_fit_each_other_are_refused(times, message):
    with pytest.raises(ValueError, match=message):
        ElectionSettings(**times)


def test_the_shortest_times_that_fit():
    ElectionSettings(lease_duration=1, renew_deadline=0.9, retry_period=0.7, request_timeout=0.3)


@pytest.mark.parametrize("afterwards", ["left as it is", "deleted"])
def test_a_lease_of_68_years_is_free_after_the_longest_that_is_believed(afterwards):
    process = Process()
    forever = of_another(lease_duration_seconds=2**31 - 1)
    process.tenure.saw(forever)
    process.clock.advance(60)
    process.tenure.saw(None if afterwards == "deleted" else forever)
    assert process.tenure.claimable_in() == 3540.0
    process.clock.advance(3540)
    process.tenure.saw(None if afterwards == "deleted" else forever)
    assert process.tenure.claimable_in() == 0.0


def test_the_longest_lease_is_a_setting():
    settings = ElectionSettings(longest_lease=20)
    tenure = Tenure("me", ManualClock(passed=1000.0), settings)
    tenure.saw(of_another(lease_duration_seconds=40))
    assert tenure.claimable_in() == 20.0


def test_a_holder_s_name_of_a_megabyte_is_told_in_part():
    process = Process()
    process.tenure.saw(of_another(holder_identity="x" * 1_000_000))
    assert process.tenure.holder == "x" * 253
    assert process.tenure.claimable_in() == 15.0


@pytest.mark.parametrize(
    ("found", "claimed"), [(0, 1), (-5, 1), (2**31 - 2, 2**31 - 1), (2**31 - 1, 2**31 - 1)]
)
def test_transitions_stay_what_the_api_server_takes(found, claimed):
    process = Process()
    process.tenure.saw(of_another(lease_transitions=found))
    process.clock.advance(15)
    record, sent = process.tenure.claim()
    assert record.lease_transitions == claimed
    process.tenure.wrote(Lease(record, {}), sent)
    left = process.tenure.resign()
    assert left is not None
    assert left.lease_transitions == claimed


def test_a_lease_that_can_be_read_in_part_is_renewed_by_any_other_version():
    process = Process()
    record = LeaseRecord(holder_identity="other")

    def version(number):
        return Lease(record, {"metadata": {"resourceVersion": number}}, is_whole=False)

    process.tenure.saw(version("1"))
    process.clock.advance(10)
    process.tenure.saw(version("1"))
    assert process.tenure.claimable_in() == 5.0
    process.tenure.saw(version("2"))
    assert process.tenure.claimable_in() == 15.0
