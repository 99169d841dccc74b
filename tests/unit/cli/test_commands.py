"""The command line: wrong usage, help, the environment, options that reach the core."""

import pytest
import typer

from bailiff import __version__, bootstrap, decisions
from bailiff.cli.app import app
from bailiff.decisions import Options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", "POD", "--node", "NODE", "--now", "soon"), "expected RFC 3339"),
        (("explain", "POD", "--node", "NODE", "--now", "2026-01-01T00:00:00"), "offset"),
        (("explain", "POD", "--node", "NODE", "--now", "2026-W01-1T00:00:00Z"), "expected RFC"),
        (("explain", "absent.yaml", "--node", "NODE"), "No such file"),
        (("explain", "-", "--node", "-"), "standard input can be read only once"),
        (("explain", "POD", "--claim", "-", "--rule", "-"), "only once"),
        (("worker",), "say which cluster"),
        (("worker", "--kubeconfig", "a", "--in-cluster"), "exclude each other"),
        (("serve", "--context", "c"), "--context needs --kubeconfig"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_why(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_a_cluster_that_cannot_be_used_exits_with_3(run):
    result = run("worker", "--kubeconfig", "POD", "--status-port", "0")
    assert result.exit_code == 3


@pytest.mark.parametrize("option", [[], ["-o", "json"]])
def test_version(run, option):
    assert __version__ in run("version", *option).output


COMMANDS = ["up", "serve", "worker", "explain", "version", "pause", "resume", "paused", "policies"]


@pytest.mark.parametrize("command", ["", *COMMANDS, "policies check"])
def test_help(run, command):
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.output


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_every_option_can_be_given_in_the_environment(command):
    options = typer.main.get_group(app).commands[command].params
    shown = [option for option in options if not getattr(option, "hidden", False)]
    named = {option.name: f"BAILIFF_{option.name.upper()}" for option in shown}
    assert {option.name: option.envvar for option in shown} == named


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ((), Options()),
        (("--comparison-operators",), Options(comparison_operators=True)),
        (("--evict-ended-pods",), Options(evict_ended_pods=True)),
        (("--no-extended-resource-claims",), Options(extended_resource_claims=False)),
        (("--pod-group-claims",), Options(pod_group_claims=True)),
    ],
)
@pytest.mark.parametrize("command", ["serve", "worker", "explain"])
def test_options_of_decisions_reach_whoever_decides(run, monkeypatch, command, given, options):
    seen = []
    monkeypatch.setattr("bailiff.cli.processes.run", lambda *_, **__: None)
    monkeypatch.setattr(bootstrap, "serve", lambda settings: seen.append(settings.options))
    monkeypatch.setattr(bootstrap, "work", lambda settings: seen.append(settings.options))

    def decide(facts, now, options):
        seen.append(options)
        return decisions.decide(facts, now, options)

    monkeypatch.setattr("bailiff.cli.explain.decide", decide)
    cluster = {"serve": (), "worker": ("--in-cluster",), "explain": ("POD", "--node", "NODE")}
    assert run(command, *cluster[command], *given).exit_code == 0
    assert seen == [options]
