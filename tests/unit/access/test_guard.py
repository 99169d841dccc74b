"""Who is let in by what, what is counted of it, and what is told in the log."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from bailiff.access import (
    AccessError,
    AccessSettings,
    Asked,
    DeniedError,
    Guard,
    MisnamedError,
    OtherMethodError,
    QuotaError,
    Rules,
    StaticTokens,
    UnauthenticatedError,
    UnknownPathError,
    rest_rules,
)
from bailiff.access.callers import known_here
from bailiff.access.quotas import Quotas
from bailiff.decisions import SYSTEMS
from tests.harness.clocks import ManualClock
from tests.harness.reviewing import Reviewer, broken_tokens

RULES = Rules(rest_rules(SYSTEMS))
CARL = known_here("carl")
SECRET = "s3cret-token"


def asked(
    token="",
    method="POST",
    path="/v1/decisions",
    address="10.0.0.1",
    certificate=None,
    scheme="Bearer",
):
    headers = [(b"authorization", f"{scheme} {token}".encode())] if token else []
    return Asked(method, path, address, headers, certificate)


async def outcome(guard, *given, **more):
    """Nothing where a request is let in; else the error."""
    try:
        account = await guard.admit(RULES, asked(*given, **more))
    except AccessError as error:
        return type(error)
    if account is not None:
        account.end()
    return None


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "tokens.csv"
    path.write_text(f"{SECRET},alice,1\n")
    return StaticTokens(path)


@pytest.fixture
def clock():
    return ManualClock()


def guard_of(clock, tokens=None, reviewer=None, *, certificates=False, **settings):
    return Guard(
        AccessSettings.model_validate(settings),
        clock,
        tokens=tokens,
        reviewer=reviewer,
        certificates=certificates,
    )


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"token": SECRET}, None),
        ({"token": "good"}, None),
        ({"certificate": CARL}, None),
        ({"certificate": CARL, "token": "bad"}, None),
        ({"token": "bad"}, UnauthenticatedError),
        ({"token": SECRET, "scheme": "Basic"}, UnauthenticatedError),
        ({}, UnauthenticatedError),
        ({"method": "GET", "path": "/healthz"}, None),
        ({"method": "GET", "path": "/nothing"}, UnauthenticatedError),
        ({"method": "GET", "path": "/nothing", "token": SECRET}, UnknownPathError),
        ({"method": "GET", "token": SECRET}, OtherMethodError),
        ({"method": "GET", "path": "/metrics", "token": SECRET}, DeniedError),
        ({"method": "GET", "path": "/metrics", "certificate": CARL}, DeniedError),
    ],
)
async def test_who_is_let_in(clock, tokens, given, error):
    guard = guard_of(clock, tokens, Reviewer(), certificates=True)
    assert await outcome(guard, **given) is error


UNKNOWN = "nobody here knows this token, or it has expired"
AUDIENCE = ", or it is not meant for the audience ops (kubectl create token NAME --audience ops)"


@pytest.mark.parametrize(("reviewer", "told"), [(Reviewer(), UNKNOWN + AUDIENCE), (None, UNKNOWN)])
async def test_who_sends_an_unknown_token_is_told_which_audience(clock, tokens, reviewer, told):
    guard = guard_of(clock, tokens, reviewer, audience="ops")
    with pytest.raises(UnauthenticatedError) as refused:
        await guard.admit(RULES, asked("bad"))
    assert str(refused.value) == told


async def test_without_a_cluster_whoever_is_known_may_ask_everything(clock, tokens):
    guard = guard_of(clock, tokens)
    for path in ("/metrics", "/v1/nodes/n1/decisions"):
        assert await outcome(guard, SECRET, "GET", path) is None
        assert await outcome(guard, "", "GET", path) is UnauthenticatedError
    assert await outcome(guard, SECRET, "GET", "/nothing") is UnknownPathError


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.6", "::1", "::ffff:127.0.0.1"])
async def test_where_nobody_is_asked_this_machine_has_no_quota(clock, address):
    guard = guard_of(clock, max_burst_requests=1)
    for _ in range(5):
        assert await outcome(guard, address=address) is None


@pytest.mark.parametrize(
    "address", ["", "unknown", "localhost", "/run/bailiff.sock", "127.0.0.1:80", "10.0.0.1", "::2"]
)
async def test_what_is_not_for_sure_this_machine_is_a_stranger(clock, address):
    guard = guard_of(clock, max_burst_requests=1)
    assert [await outcome(guard, address=address) for _ in range(2)] == [None, QuotaError]


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("10.0.0.1", "10.0.0.2", False),
    ],
)
async def test_a_network_that_is_one_subscribers_has_one_quota(clock, first, second, is_one):
    guard = guard_of(clock, max_burst_requests=1)
    found = [await outcome(guard, address=address) for address in (first, second)]
    assert found == [None, QuotaError if is_one else None]


async def test_the_log_tells_the_address_in_full(clock, tokens):
    with capture_logs() as logs:
        await outcome(guard_of(clock, tokens), address="2001:db8::1")
    assert [line["peer"] for line in logs] == ["2001:db8::1"]


async def test_where_nobody_is_asked_each_address_has_a_quota(clock):
    guard = guard_of(clock, max_burst_requests=1)
    found = [
        await outcome(guard, address=address) for address in ("10.0.0.1", "10.0.0.1", "10.0.0.2")
    ]
    assert found == [None, QuotaError, None]
    assert await outcome(guard, "", "GET", "/healthz") is None
    assert (
        await outcome(guard, "", "GET", "/nothing", address="10.0.0.3") is None
    )  # not ours to say


async def test_a_quota_is_a_callers_own_whatever_it_proves_that_with(clock, tokens):
    guard = guard_of(clock, tokens, Reviewer(), max_burst_requests=2)
    found = [await outcome(guard, token) for token in (SECRET, "good", SECRET)]
    assert found == [None, None, QuotaError]  # alice, alice, alice
    clock.advance(1)
    assert await outcome(guard, SECRET) is None


async def test_the_quota_bounds_what_the_api_server_is_asked_of_a_known_caller(clock, tokens):
    reviewer = Reviewer()
    guard = guard_of(clock, tokens, reviewer, max_burst_requests=3)
    paths = [f"/v1/namespaces/shop/pods/web-{n}/decision" for n in range(10)]
    found = [await outcome(guard, SECRET, "GET", path) for path in paths]
    assert found == [DeniedError] * 3 + [QuotaError] * 7
    assert len(reviewer.asked) == 3


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/metrics", DeniedError),
        ("/nothing", UnknownPathError),
        ("/v1/nodes/N/decisions", MisnamedError),
    ],
)
async def test_who_is_refused_is_charged_and_has_nothing_under_way(clock, tokens, path, error):
    guard = guard_of(clock, tokens, Reviewer(), max_burst_requests=2, max_concurrent_requests=1)
    found = [await outcome(guard, SECRET, "GET", path) for _ in range(3)]
    assert found == [error, error, QuotaError]
    clock.advance(1)
    assert await outcome(guard, SECRET) is None


async def test_a_refused_request_of_a_stream_is_counted(clock, tokens):
    guard = guard_of(clock, tokens, max_burst_requests=1)
    account = await guard.admit(RULES, asked(SECRET))
    with pytest.raises(QuotaError):
        guard.again(account)
    assert guard.metrics.refused == {"too_many_requests": 1}


async def test_requests_are_counted_by_what_became_of_them(clock, tokens):
    reviewer = Reviewer()
    guard = guard_of(clock, tokens, reviewer, certificates=True)
    await outcome(guard, SECRET)
    await outcome(guard, certificate=CARL)
    await outcome(guard, "bad")
    await outcome(guard, "", "GET", "/healthz")
    await outcome(guard, SECRET, "GET", "/metrics")
    reviewer.away = True
    await outcome(guard, "another")
    assert guard.metrics.authentication == {
        "token": 2,
        "certificate": 1,
        "unauthenticated": 1,
        "unavailable": 1,
    }
    assert guard.metrics.refused == {
        "unauthenticated": 1,
        "forbidden": 1,
        "authentication_unavailable": 1,
    }


async def test_the_metrics_as_prometheus_reads_them(clock):
    guard = guard_of(clock, reviewer=Reviewer())
    for _ in range(3):
        await outcome(guard, "good")
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in guard.metrics.collect()
        for sample in family.samples
    }
    assert samples["bailiff_authentication_total", "token"] == 3
    assert samples["bailiff_access_kept_answers_total", "token"] == 2
    assert samples["bailiff_access_reviews_total", "token", "allowed"] == 1
    assert samples["bailiff_access_review_duration_seconds_count", "token"] == 1


async def test_the_log_names_who_and_what_and_no_secret(clock, tokens):
    guard = guard_of(clock, tokens, Reviewer())
    with capture_logs() as logs:
        await outcome(guard, SECRET, "GET", "/metrics")
        await outcome(guard, f"{SECRET}-wrong")
        await outcome(guard, f"{SECRET} {SECRET}")
        await outcome(guard, SECRET, scheme="Basic")
    assert [(line["user"], line["asked"], line["reason"]) for line in logs] == [
        ("alice", "GET /metrics", "forbidden"),
        *[("", "POST /v1/decisions", "unauthenticated")] * 3,
    ]
    assert SECRET not in str(logs)


async def test_who_asks_wrongly_again_and_again_does_not_fill_the_log(clock, tokens):
    guard = guard_of(clock, tokens)
    with capture_logs() as logs:
        for _ in range(500):
            await outcome(guard, "bad")
        clock.advance(1)
        await outcome(guard, "bad")
    assert len(logs) == 21
    assert logs[-1]["left_out"] == 480


async def test_where_the_file_of_tokens_is_looked_at_no_more_what_runs_meanwhile_ends(tmp_path):
    tokens = broken_tokens(tmp_path)
    guard = guard_of(ManualClock(), tokens)

    async def serve():
        async with guard.running():
            tokens.broken.set()
            await asyncio.sleep(60)

    with pytest.raises(ExceptionGroup) as caught:
        await asyncio.wait_for(serve(), 30)
    assert caught.group_contains(RuntimeError, match="new thread")


async def test_at_the_end_the_file_of_tokens_is_looked_at_no_more(tmp_path):
    before = asyncio.all_tasks()
    async with guard_of(ManualClock(), broken_tokens(tmp_path)).running():
        assert len(asyncio.all_tasks() - before) == 1
    assert asyncio.all_tasks() == before


SETTINGS = AccessSettings(
    max_requests_per_second=10,
    max_burst_requests=20,
    max_concurrent_requests=3,
    max_bytes_per_second=1000,
    max_burst_bytes=2000,
    max_callers=4,
)


def test_a_caller_may_save_up_and_then_ask_at_its_rate():
    quotas, refused = Quotas(SETTINGS), []
    for hundredth in range(100):
        try:
            quotas.begin("a", hundredth / 100).end()
        except QuotaError as error:
            refused.append(error.retry_after)
    assert refused == [1] * 71  # of 100; 20 were saved up, and there are 10 a second


def test_no_more_at_a_time_than_allowed():
    quotas = Quotas(SETTINGS)
    under_way = [quotas.begin("a", 0.0) for _ in range(3)]
    with pytest.raises(QuotaError, match="3 requests"):
        quotas.begin("a", 0.0)
    quotas.begin("b", 0.0)
    under_way[0].end()
    quotas.begin("a", 0.0)


def test_bytes_are_paid_for_afterwards():
    quotas = Quotas(SETTINGS)
    account = quotas.begin("a", 0.0)
    account.spend(5000)
    account.end()
    with pytest.raises(QuotaError, match="bytes a second") as caught:
        quotas.begin("a", 0.0)
    assert caught.value.retry_after == 3
    quotas.begin("a", 3.1)


def test_who_has_a_request_under_way_is_not_forgotten():
    quotas = Quotas(SETTINGS)
    under_way = [quotas.begin("a", 0.0) for _ in range(3)]
    for other in "bcdefghi":
        quotas.begin(other, 1.0).end()
    with pytest.raises(QuotaError, match="3 requests"):
        quotas.begin("a", 2.0)
    assert {account.under_way for account in under_way} == {3}


def test_where_all_that_are_remembered_are_being_answered_a_further_one_is_refused():
    quotas = Quotas(SETTINGS)
    first, *_ = [quotas.begin(caller, 0.0) for caller in "abcd"]
    with pytest.raises(QuotaError, match="4 callers"):
        quotas.begin("e", 0.0)
    first.end()
    quotas.begin("e", 0.0)
    assert len(quotas) == 4


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=60))
def test_callers_who_are_remembered_are_bounded_and_charged_what_they_are_due(steps):
    quotas, now = Quotas(SETTINGS), 0.0
    for caller, passed in steps:
        now += passed
        quotas.begin(str(caller), now).end()
        assert len(quotas) <= SETTINGS.max_callers
