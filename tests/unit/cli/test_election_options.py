"""The options of `bailiff worker` that say which share it has, and whether it is elected."""

import pytest
from typer.testing import CliRunner

from bailiff.bootstrap.choices import ClusterChoice
from bailiff.bootstrap.settings import LeaseChoice, WorkSettings
from bailiff.cli.app import app
from bailiff.worker import Shard


@pytest.fixture
def run(monkeypatch):
    # Logs are set up once for a process, and the runner's standard error lives for one call.
    monkeypatch.setattr("bailiff.bootstrap.process.configure_logs", lambda: None)

    def _run(*arguments):
        return CliRunner().invoke(app, ["worker", *arguments])

    return _run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--shards", "0"), "Input should be greater"),
        (("--shards", "2", "--shard", "2"), "the shard must be from 0 to 1"),
        (("--shards", "2", "--shard", "-1"), "Input should be greater"),
        (
            ("--shards", "2"),
            "which of 2 shards? --leader-elect takes any that is free, --shard says",
        ),
        (("--shards", "65"), "shards must be from 1 to 64"),
        (("--lease-duration", "10"), "lease duration (10 s) must be above the renew deadline"),
        (("--renew-deadline", "nan"), "renew deadline"),
        (("--retry-period", "9"), "1.2 times the retry period (9 s)"),
        (("--lease-name", "a/b"), "--lease-name"),
        (("--lease-name", ""), "--lease-name"),
    ],
)
def test_a_share_or_a_lease_that_cannot_be_exits_with_2(run, arguments, message):
    result = run("--kubeconfig", "some-file", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.fixture
def worked(run, monkeypatch):
    """Runs `bailiff worker` up to the point where it would start; gives its settings."""
    seen: list[WorkSettings] = []
    monkeypatch.setattr("bailiff.bootstrap.work.work", seen.append)
    monkeypatch.setattr("bailiff.bootstrap.process.run", lambda program, lifeline: None)

    def _worked(*arguments, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        result = run(*arguments)
        assert result.exit_code == 0, result.output
        return seen[-1]

    return _worked


@pytest.mark.parametrize(
    ("arguments", "elects"),
    [
        (("--kubeconfig", "some-file"), False),
        (("--in-cluster",), True),
        (("--kubeconfig", "some-file", "--leader-elect"), True),
        (("--in-cluster", "--no-leader-elect"), False),
    ],
)
def test_workers_in_a_cluster_elect_a_leader_others_are_alone(worked, arguments, elects):
    assert (worked(*arguments).lease is not None) == elects


@pytest.mark.parametrize(
    ("arguments", "shards"),
    [
        (("--in-cluster",), (Shard(),)),
        (("--in-cluster", "--shards", "3"), Shard.all_of(3)),
        (("--in-cluster", "--shards", "3", "--shard", "0"), (Shard(0, 3),)),
        (("--kubeconfig", "f", "--shards", "3", "--shard", "2"), (Shard(2, 3),)),
        (("--kubeconfig", "f", "--shards", "3", "--shadow"), (Shard(),)),
        (("--kubeconfig", "f", "--shards", "3", "--shadow", "--shard", "2"), (Shard(2, 3),)),
    ],
)
def test_the_shard_is_given_or_any_that_is_free_and_a_shadow_looks_at_all(
    worked, arguments, shards
):
    assert worked(*arguments).shards == shards


def test_the_environment_chooses_shard_and_lease(worked):
    settings = worked(
        BAILIFF_IN_CLUSTER="true",
        BAILIFF_SHARDS="5",
        BAILIFF_SHARD="2",
        BAILIFF_LEADER_ELECT="true",
        BAILIFF_LEASE_NAMESPACE="platform",
        BAILIFF_LEASE_NAME="evictions",
        BAILIFF_IDENTITY="me",
        BAILIFF_LEASE_DURATION="30",
        BAILIFF_RENEW_DEADLINE="6",
        BAILIFF_RETRY_PERIOD="1.5",
        BAILIFF_LONGEST_LEASE="120",
    )
    lease, times = settings.lease, settings.lease.times
    assert settings.shards == (Shard(2, 5),)
    assert (lease.namespace, lease.name, lease.identity) == ("platform", "evictions", "me")
    assert (times.lease_duration, times.renew_deadline, times.retry_period) == (30, 6.0, 1.5)
    assert (times.request_timeout, times.longest_lease) == (2.0, 120.0)


def test_the_environment_can_say_no(worked):
    assert worked("--in-cluster", BAILIFF_LEADER_ELECT="false").lease is None


@pytest.mark.parametrize("without", [{"lease": None}, {"shadow": True}])
def test_no_worker_is_made_that_could_never_have_a_share(without):
    settings = {"lease": LeaseChoice(), "shards": Shard.all_of(2)} | without
    with pytest.raises(ValueError, match="which of 2 shards"):
        WorkSettings(cluster=ClusterChoice(), **settings)
