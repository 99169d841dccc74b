"""The command line: wrong usage, help, the environment, options that reach the core."""

import re

import pytest
import typer
from typer.testing import CliRunner

from bailiff import __version__
from bailiff.cli.app import app
from bailiff.decisions import Options

BOTH = ("-f", "POD", "-f", "NODE")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", *BOTH, "--now", "soon"), "--now: expected RFC 3339"),
        (("explain", *BOTH, "--bound-at", "2026-01-01T00:00:00"), "--bound-at: expected RFC 3339"),
        # As REST: a week is no date of RFC 3339.
        (("explain", *BOTH, "--now", "2026-W01-1T00:00:00Z"), "--now: expected RFC 3339"),
        (("explain", "-f", "absent.yaml"), "-f absent.yaml: No such file"),
        (("explain", "-f", "-", "-f", "-"), "-f -: standard input can be read only once"),
        (("explain",), "say what to explain"),
        (("explain", "web", *BOTH), "TYPE/NAME: is pod/web meant, or node/web?"),
        (("explain", "deployment/web", *BOTH), "TYPE/NAME: the type must be pod or node"),
        (("explain", "pod/Web", *BOTH), "TYPE/NAME: the name must be an RFC 1123 subdomain"),
        (
            ("explain", "pod/other", *BOTH),
            "no pod to explain for pod default/other, only of shop/web\n",
        ),
        (
            ("explain", "pod/web", *BOTH),
            "no pod to explain for pod default/web, only of shop/web: write -n shop\n",
        ),
        (("explain", "pod", "web"), "TYPE/NAME: write pod/web\n"),
        (("explain", "po", "web", *BOTH), "TYPE/NAME: write pod/web\n"),
        (("explain", *BOTH, "Nodes", "n1"), "TYPE/NAME: write node/n1\n"),
        (("explain", "pod", "pod/web"), "TYPE/NAME: expected one, as pod/web, got 'pod pod/web'"),
        (("explain", "pod", "a", "b"), "TYPE/NAME: expected one, as pod/web, got 'pod a b'"),
        (("explain", "pod/a", "pod/b"), "TYPE/NAME: expected one, as pod/web, got 'pod/a pod/b'"),
        (("worker",), "say which cluster"),
        (("worker", "--kubeconfig", "a", "--in-cluster"), "exclude each other"),
        (("serve", "--context", "c"), "--context needs --kubeconfig"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_why(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output


NO_YAML = "$: not valid YAML"
NO_FILE = "No such file or directory"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--policies", "nope.yaml"), f"--policies: nope.yaml: {NO_FILE}"),
        (("--policies", "wrong.yaml"), f"--policies: wrong.yaml: {NO_YAML}"),
        (("--policies", "other.yaml"), "--policies: other.yaml: $.apiVersion: required to be"),
        (("--policies", "."), "--policies: .: not a regular file"),
        (("--fleet", "nope.yaml"), f"--fleet: nope.yaml: {NO_FILE}"),
        (("--fleet", "wrong.yaml"), f"--fleet: wrong.yaml: {NO_YAML}"),
        (("--fleet", "long.yaml"), "--fleet: long.yaml: larger than 4194304 bytes"),
    ],
)
def test_a_file_that_up_cannot_use_is_named_before_anything_starts(
    run, tmp_path, monkeypatch, arguments, said
):
    monkeypatch.chdir(tmp_path)
    started: list[object] = []
    monkeypatch.setattr("bailiff.cli.processes.run", started.append)
    for name, text in (("wrong", "a: ["), ("other", "kind: Pod"), ("long", "#" * 5_000_000)):
        (tmp_path / f"{name}.yaml").write_text(text)
    told = run("up", *arguments)
    assert (told.exit_code, told.stdout, started) == (2, "", [])
    assert told.stderr.startswith(f"bailiff: {said}")


@pytest.mark.parametrize("name", ["BAILIFF_REST_MAX_THREADS", "BAILIFF_GRPC_MAX_CONCURRENT_RPCS"])
def test_a_setting_that_cannot_be_exits_with_2_and_is_named(run, monkeypatch, name):
    monkeypatch.setenv(name, "0")
    result = run("serve", "--rest-port", "0", "--grpc-port", "0")
    assert result.exit_code == 2
    assert f"{name}: Input should be greater than 0" in result.output


@pytest.mark.parametrize(
    ("variables", "options", "blamed"),
    [
        ({"BAILIFF_REST_PORT": "abc"}, (), "BAILIFF_REST_PORT: "),
        ({"BAILIFF_GRPC_PORT": "99999"}, (), "BAILIFF_GRPC_PORT: "),
        ({}, ("--rest-port", "abc"), "'--rest-port': "),
        ({"BAILIFF_REST_PORT": "1"}, ("--rest-port", "abc"), "'--rest-port': "),
        ({"BAILIFF_REST_PORT": "1"}, ("--grpc-port", "-1"), "'--grpc-port': "),
    ],
)
def test_a_wrong_value_is_blamed_on_where_it_stands(run, variables, options, blamed):
    result = run("serve", *options, env={"COLUMNS": "200"} | variables)
    assert result.exit_code == 2
    assert f"Invalid value for {blamed}" in result.output


def test_a_cluster_that_cannot_be_used_exits_with_3(run):
    result = run("worker", "--kubeconfig", "POD", "--status-port", "0")
    assert result.exit_code == 3


@pytest.mark.parametrize("asked", [["version"], ["version", "-o", "json"], ["--version"]])
def test_version(run, asked):
    assert __version__ in run(*asked).output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*BOTH, "--now", "\udcff"), "\\udcff"),
        (("-f", "\udcff"), "\\udcff"),
        (("-f", "\x1b[2J"), "\\x1b[2J"),
    ],
)
def test_whatever_stands_in_arguments_can_be_told_on_a_terminal(run, arguments, told):
    result = run("explain", *arguments)
    assert result.exit_code == 2
    assert told in result.output


COMMANDS = [
    "up", "serve", "worker", "explain", "version", "pause", "resume", "paused", "policies",
    "preview", "preview taint", "preview rule",
]  # fmt: skip


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("command", ["", *COMMANDS, "policies check"])
def test_help(run, command, flag):
    result = run(*command.split(), flag)
    assert result.exit_code == 0
    assert "Usage:" in result.output


def leaves(command, name=""):
    """Every command that is no group of commands, by all its words."""
    nested = getattr(command, "commands", None)
    if nested is None:
        return {name: command}
    return {
        words: leaf
        for one, below in nested.items()
        for words, leaf in leaves(below, f"{name} {one}".strip()).items()
    }


EVERY = leaves(typer.main.get_group(app))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("columns", ["80", "200"])
def test_help_names_every_option_whole(run, name, columns):
    said = run(*name.split(), "--help", env={"COLUMNS": columns}).output
    assert "…" not in said
    shown = [option for option in EVERY[name].params if not getattr(option, "hidden", False)]
    assert shown
    for option in shown:
        for word in (*option.opts, *option.secondary_opts):
            # An argument is named as its usage names it.
            assert not word.startswith("-") or re.search(rf"(?<![\w-]){word}(?![\w-])", said), word


@pytest.mark.parametrize("name", EVERY)
def test_help_tells_what_a_command_is_for(run, name):
    said = run(*name.split(), "--help", env={"COLUMNS": "200"}).output
    assert EVERY[name].help.split("\n")[0] in said
    assert "Show this message and exit." in said
    assert "--lifeline" not in said


def test_one_prefix_for_all_that_the_environment_may_say(run):
    commands = list(typer.main.get_group(app).commands.values())
    names = {name for command in commands for name in environment_of(command)}
    assert "BAILIFF_KUBECONFIG" in names
    assert {name for name in names if not name.startswith("BAILIFF_")} == set()


def environment_of(command):
    nested = getattr(command, "commands", {}).values()
    own = {option.envvar for option in command.params if option.envvar}
    return own.union(*(environment_of(one) for one in nested))


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
        (("--no-device-taint-eviction",), Options(device_taint_eviction=False)),
    ],
)
@pytest.mark.parametrize("command", ["serve", "worker", "explain", "preview"])
def test_options_of_decisions_reach_whoever_decides(run, monkeypatch, command, given, options):
    seen = []
    told = {
        "serve": ("serve",),
        "worker": ("worker", "--in-cluster"),
        "explain": ("explain", *BOTH),
    }
    told["preview"] = ("preview", "taint", "n1", "k:NoExecute", "-f", "NODE")
    if command in ("serve", "worker"):
        program = {"serve": "serve.serve", "worker": "work.work"}[command]
        monkeypatch.setattr("bailiff.cli.processes.run", lambda *_, **__: None)
        monkeypatch.setattr(f"bailiff.bootstrap.{program}", lambda one: seen.append(one.options))
    else:
        monkeypatch.setattr("bailiff.decisions.Question.ask", lambda *given: seen.append(given[-1]))
    run(*told[command], *given)
    assert seen == [options]


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("bailiff expl", "explain"),
        ("bailiff preview ta", "taint"),
        ("bailiff explain -o y", "yaml"),
    ],
)
def test_words_are_completed(words, completed):
    place = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    asked = {"_BAILIFF_COMPLETE": "complete_bash"} | place
    told = CliRunner().invoke(app, [], env=asked, prog_name="bailiff")
    assert told.output.split() == [completed]
