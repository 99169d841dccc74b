"""The options of `serve` and `worker` that say who may ask, and what is refused without them."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bailiff.bootstrap.access import AccessChoice, is_loopback
from bailiff.bootstrap.choices import ClusterChoice
from bailiff.bootstrap.guarding import guarding_of
from bailiff.bootstrap.securing import tls_of
from bailiff.bootstrap.serve import ServeSettings
from bailiff.bootstrap.settings import WorkSettings
from bailiff.cli import access_options
from bailiff.cli.app import app
from bailiff.cli.errors import InputError
from tests.harness.kube.tls import Tls, make_tls

COMMANDS = {"serve": (), "worker": ("--kubeconfig", "some-file")}
PAIR = ("--tls-cert-file", "a", "--tls-private-key-file", "b")
FILES = AccessChoice(tls_cert_file=Path("a"), tls_private_key_file=Path("b"))
each_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture
def run(monkeypatch):
    """Runs a command up to the point where it would start; its result and its settings."""
    monkeypatch.setattr("bailiff.bootstrap.process.configure_logs", lambda: None)
    seen: list[ServeSettings | WorkSettings] = []
    monkeypatch.setattr("bailiff.bootstrap.serve.serve", seen.append)
    monkeypatch.setattr("bailiff.bootstrap.work.work", seen.append)
    monkeypatch.setattr("bailiff.bootstrap.process.run", lambda program, lifeline: None)

    def _run(command, *arguments, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return CliRunner().invoke(app, [command, *COMMANDS[command], *arguments]), seen

    return _run


@each_command
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tls-cert-file", "a"), "--tls-cert-file and --tls-private-key-file need each other"),
        (("--tls-private-key-file", "a"), "--tls-private-key-file need each other"),
        (("--client-ca-file", "a"), "--client-ca-file needs --tls-cert-file"),
        (("--host", "0.0.0.0"), "--host 0.0.0.0: whoever reaches it could ask"),
        (("--host", "::"), "--client-ca-file"),
        (("--host", "192.0.2.1"), "say --insecure"),
        # TLS alone says nothing about who asks.
        (("--host", "0.0.0.0", *PAIR), "whoever reaches it could ask"),
    ],
)
def test_what_cannot_be_exits_with_2(run, command, arguments, message) -> None:
    result, seen = run(command, *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not seen


@each_command
@pytest.mark.parametrize(
    ("arguments", "access"),
    [
        ((), AccessChoice()),
        (("--host", "127.0.0.1"), AccessChoice()),
        (("--host", "127.9.9.9"), AccessChoice()),
        (("--host", "::1"), AccessChoice()),
        (("--host", "localhost"), AccessChoice()),
        (PAIR, FILES),
        (("--host", "0.0.0.0", "--insecure"), AccessChoice(insecure=True)),
        (
            ("--host", "::", *PAIR, "--client-ca-file", "c"),
            AccessChoice(
                tls_cert_file=Path("a"), tls_private_key_file=Path("b"), client_ca_file=Path("c")
            ),
        ),
    ],
)
def test_what_is_said_is_what_starts(run, command, arguments, access) -> None:
    result, [settings] = run(command, *arguments)
    assert result.exit_code == 0, result.output
    assert settings.access == access


@each_command
def test_all_of_it_may_stand_in_the_environment(run, command) -> None:
    said = {
        "BAILIFF_HOST": "0.0.0.0",
        "BAILIFF_TLS_CERT_FILE": "a",
        "BAILIFF_TLS_PRIVATE_KEY_FILE": "b",
        "BAILIFF_CLIENT_CA_FILE": "c",
        "BAILIFF_INSECURE": "true",
    }
    result, [settings] = run(command, **said)
    assert result.exit_code == 0, result.output
    choice = settings.access
    assert (choice.tls_cert_file, choice.tls_private_key_file) == (Path("a"), Path("b"))
    assert choice.client_ca_file == Path("c")
    assert choice.insecure


@each_command
def test_files_that_do_not_serve_exit_with_2(command, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("bailiff.bootstrap.process.configure_logs", lambda: None)
    arguments = (*COMMANDS[command], "--tls-cert-file", str(tmp_path / "none"))
    arguments = (*arguments, "--tls-private-key-file", str(tmp_path / "none"))
    result = CliRunner().invoke(app, [command, *arguments])
    assert result.exit_code == 2
    assert f"{tmp_path}/none: No such file" in result.output.replace("\n", "")


def test_tokens_that_others_can_read_are_warned_of(capsys) -> None:
    tokens = AccessChoice(token_webhook=True)
    access_options.check_listening("127.0.0.1", tokens)
    assert capsys.readouterr().err == ""
    access_options.check_listening("0.0.0.0", tokens)
    assert capsys.readouterr().err.startswith("Warning: without --tls-cert-file")


def test_a_name_is_looked_up(monkeypatch) -> None:
    here = [(2, 1, 6, "", ("127.0.0.1", 0)), (10, 1, 6, "", ("::1", 0, 0, 0))]
    elsewhere = [*here, (2, 1, 6, "", ("192.0.2.1", 0))]
    found = {"here": here, "elsewhere": elsewhere}
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *_, **__: found[host])
    assert is_loopback("here")
    assert not is_loopback("elsewhere")
    with pytest.raises(InputError, match="--host elsewhere"):
        access_options.check_listening("elsewhere", AccessChoice())


@pytest.fixture
def no_name(monkeypatch) -> None:
    def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)


@pytest.mark.usefixtures("no_name")
@pytest.mark.parametrize("command", [*COMMANDS, "up"])
def test_a_name_that_nobody_knows_is_named(command) -> None:
    arguments = [command, *COMMANDS.get(command, ()), "--host", "nosuch.invalid"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "--host nosuch.invalid: Name or service not known" in result.output


@pytest.mark.usefixtures("no_name")
def test_where_a_name_is_not_known_a_port_is_guarded() -> None:
    from prometheus_client import CollectorRegistry

    unknown = (ClusterChoice(), "nosuch.invalid", CollectorRegistry())
    assert guarding_of(AccessChoice(), *unknown) is not None


def test_up_is_for_this_machine_alone(monkeypatch) -> None:
    result = CliRunner().invoke(app, ["up", "--host", "0.0.0.0"])
    assert result.exit_code == 2
    assert "--host 0.0.0.0: the demo is for this machine alone" in result.output


@pytest.fixture
def tls(tmp_path: Path) -> Tls:
    return make_tls(tmp_path)


@pytest.mark.parametrize(
    ("more", "must"),
    [
        ({}, True),
        ({"token_webhook": True}, False),
        ({"token_auth_file": Path("tokens")}, False),
        ({"insecure": True}, True),
    ],
)
def test_certificates_are_demanded_where_nothing_else_tells_who_asks(tls, more, must) -> None:
    from prometheus_client import CollectorRegistry

    pair = {"tls_cert_file": tls.certificate, "tls_private_key_file": tls.key}
    secured = tls_of(AccessChoice(**pair, client_ca_file=tls.ca, **more), CollectorRegistry())
    assert secured is not None
    assert secured.files.clients_must == must
    without = tls_of(AccessChoice(**pair, **more), CollectorRegistry())
    assert without is not None
    assert not without.files.clients_must
    assert tls_of(AccessChoice(**more), CollectorRegistry()) is None
