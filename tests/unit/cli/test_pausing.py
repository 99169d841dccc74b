"""`bailiff pause`, `resume`, `paused`: options, words, exit codes."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given
from typer.testing import CliRunner

from bailiff import bootstrap
from bailiff.bootstrap.choices import ClusterChoice
from bailiff.cli.app import app
from bailiff.cli.pausing import LONGEST, parse_duration
from bailiff.decisions.policies import Pause, PauseNotice
from bailiff.worker import PausedAlreadyError
from tests.harness.kube.programs import free_port

WHERE = ("--kubeconfig", "some-file", "-n", "ops")
BECAUSE = ("--reason", "moving")
MOVING = PauseNotice(by="anna", reason="moving")
LOOKED_AT = "looked at: ConfigMap ops/bailiff-pause does not exist\n"


class Switch:
    """Stands for the ConfigMap."""

    def __init__(self):
        self.notice = None
        self.replaced = None
        self.place = None
        self.choice = None

    async def pause(self, notice, *, replace):
        if self.notice and not replace:
            raise PausedAlreadyError(self.notice.describe())
        self.notice, self.replaced = notice, replace

    async def resume(self):
        ended, self.notice = self.notice, None
        return ended

    async def read(self):
        return self.notice

    async def where(self):
        return "ConfigMap ops/bailiff-pause does not exist"


@pytest.fixture
def switch(monkeypatch):
    switch = Switch()

    def use(choice, place, act):
        switch.choice, switch.place = choice, place
        step = act(switch)
        with pytest.raises(StopIteration) as done:
            step.send(None)
        return done.value.value

    monkeypatch.setattr("bailiff.bootstrap.pausing.use_switch", use)
    monkeypatch.setattr("getpass.getuser", lambda: "olga")
    return switch


def run(*arguments):
    return CliRunner().invoke(app, arguments)


def test_a_pause_tells_who_why_and_since_when(switch):
    done = run("pause", *WHERE, *BECAUSE)
    assert done.exit_code == 0, done.output
    assert (switch.notice.by, switch.notice.reason, switch.notice.until) == ("olga", "moving", None)
    assert datetime.now(UTC) - switch.notice.since < timedelta(minutes=1)
    assert done.output.startswith("paused by olga since ")
    assert switch.place == Pause(namespace="ops")


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ((), ClusterChoice()),
        (("--context", "blue"), ClusterChoice(context="blue")),
        (("--kubeconfig", "some-file"), ClusterChoice(Path("some-file"))),
    ],
)
@pytest.mark.parametrize("command", [("pause", *BECAUSE), ("resume",), ("paused",)])
def test_the_cluster_is_kubectls_unless_another_is_said(switch, command, said, choice):
    done = run(*command, "-n", "ops", *said)
    assert done.exit_code == 0, done.output
    assert switch.choice == choice


@pytest.mark.parametrize(
    ("more", "place"),
    [((), "ops/bailiff-pause"), (("--name", "halt", "-n", "kube-system"), "kube-system/halt")],
)
def test_a_pause_says_who_obeys_it_beside_what_programs_read(switch, more, place):
    obeyed = (
        f"workers and the gate obey it only if their policies name {place}: "
        "see GET /v1/policies of each worker\n"
    )
    done = run("pause", *WHERE, *BECAUSE, *more)
    assert done.stdout.count("\n") == 1
    assert done.stderr == obeyed
    told = run("paused", *WHERE, *more)
    assert told.stdout.count("\n") == 1
    assert told.stderr == f"{obeyed}{LOOKED_AT}"
    assert run("paused", *WHERE, *more, "-o", "json").stderr == LOOKED_AT


def test_a_pause_may_end_by_itself_and_be_somebody_elses_and_elsewhere(switch):
    done = run("pause", *WHERE, *BECAUSE, "--for", "1h30m", "--by", "anna", "--name", "halt")
    assert done.exit_code == 0
    assert switch.notice.until - switch.notice.since == timedelta(minutes=90)
    assert switch.notice.by == "anna"
    assert switch.place.name == "halt"


def test_a_standing_pause_is_replaced_only_if_that_is_said(switch):
    switch.notice = MOVING
    refused = run("pause", *WHERE, "--reason", "mine")
    assert refused.exit_code == 1
    assert "paused by anna: moving; --replace" in refused.output
    assert run("pause", *WHERE, "--reason", "mine", "--replace").exit_code == 0
    assert switch.notice.reason == "mine"


def test_resume_tells_what_it_ended(switch):
    switch.notice = MOVING
    assert run("resume", *WHERE).stdout == "resumed; was paused by anna: moving\n"
    again = run("resume", *WHERE)
    assert (again.exit_code, again.stdout) == (0, "was not paused\n")
    assert again.stderr == LOOKED_AT


def test_paused_tells_people_and_programs(switch):
    told = run("paused", *WHERE)
    assert told.stdout == "not paused\n"
    assert told.stderr == LOOKED_AT
    assert json.loads(run("paused", *WHERE, "-o", "json").stdout) == {"paused": False}
    switch.notice = MOVING
    assert run("paused", *WHERE).stdout == "paused by anna: moving\n"
    shown = json.loads(run("paused", *WHERE, "-o", "json").stdout)
    assert shown == {"paused": True, "by": "anna", "reason": "moving"}


def test_the_environment_may_say_where(switch, monkeypatch):
    for name, value in {
        "BAILIFF_KUBECONFIG": "some-file",
        "BAILIFF_PAUSE_NAMESPACE": "platform",
        "BAILIFF_PAUSE_NAME": "halt",
    }.items():
        monkeypatch.setenv(name, value)
    assert run("paused").exit_code == 0
    assert switch.place == Pause(namespace="platform", name="halt")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pause", *WHERE), "--reason"),
        (("pause", *WHERE, "--reason", " "), "--reason: expected 1 to 500 characters"),
        (("pause", *WHERE, "--reason", "x" * 501), "--reason: expected 1 to 500 characters"),
        (("pause", *WHERE, *BECAUSE, "--by", ""), "--by: expected 1 to 500 characters"),
        (("pause", *WHERE, *BECAUSE, "--for", "soon"), "--for: expected a length of time"),
        (("pause", *WHERE, *BECAUSE, "--for", "0s"), "--for: expected more than 0"),
        (("pause", "--kubeconfig", "f", *BECAUSE), "--namespace"),
        (("pause", "--kubeconfig", "f", "-n", "a/b", *BECAUSE), "$.namespace"),
        (("pause", *WHERE, *BECAUSE, "--name", "a/b"), "$.name"),
        (("paused", *WHERE, "--in-cluster"), "exclude each other"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_why(switch, arguments, said):
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
    assert switch.notice is None


@pytest.mark.parametrize(
    ("error", "code"),
    [(bootstrap.ClusterUnusable("no answer"), 3), (bootstrap.StartError("no"), 1)],
)
def test_a_cluster_that_says_no_or_nothing(monkeypatch, error, code):
    def use(*_):
        raise error

    monkeypatch.setattr("bailiff.bootstrap.pausing.use_switch", use)
    for command in (("pause", *BECAUSE), ("resume",), ("paused",)):
        done = run(*command, *WHERE)
        assert (done.exit_code, done.output) == (code, f"bailiff: {error}\n")


def test_a_user_without_a_name_has_to_say_who(switch, monkeypatch):
    def nobody():
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert run("pause", *WHERE, *BECAUSE).exit_code == 2
    assert run("pause", *WHERE, *BECAUSE, "--by", "anna").exit_code == 0


@given(st.integers(0, 364), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_lengths_of_time(days, hours, minutes, seconds):
    parts = zip((days, hours, minutes, seconds), "dhms", strict=True)
    text = "".join(f"{number}{unit}" for number, unit in parts if number) or "1s"
    wanted = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    assert parse_duration(text) == (wanted or timedelta(seconds=1))


@pytest.mark.parametrize("text", ["", "2", "h", "-1h", "1.5h", "1m1h", "366d", "99999999s"])
def test_what_is_no_length_of_time(text):
    with pytest.raises(ValueError, match="expected"):
        parse_duration(text)


def test_the_longest():
    assert parse_duration("365d") == LONGEST


def test_a_server_that_does_not_answer_exits_with_3(tmp_path):
    path = tmp_path / "kubeconfig"
    cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{free_port()}"}}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    whole = {"clusters": [cluster], "contexts": [context], "users": [{"name": "u", "user": {}}]}
    path.write_text(json.dumps(whole | {"current-context": "c"}))
    for command in (("pause", *BECAUSE, "--by", "me"), ("resume",), ("paused",)):
        done = run(*command, "--kubeconfig", str(path), "-n", "ops")
        assert done.exit_code == 3, done.output
