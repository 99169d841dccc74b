"""The options of `serve` for admission webhooks, and what is refused of them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bailiff.bootstrap.admission import settings_of
from bailiff.bootstrap.choices import MUTATIONS, AdmissionChoice
from bailiff.bootstrap.serve import ServeSettings
from bailiff.cli.app import app
from bailiff.decisions.admission import Mutation, Mutations

TLS = ("--tls-cert-file", "a", "--tls-private-key-file", "b")


@pytest.fixture
def run(monkeypatch):
    """Runs `serve` up to the point where it would start; its result and its settings."""
    monkeypatch.setattr("bailiff.bootstrap.process.configure_logs", lambda: None)
    seen: list[ServeSettings] = []
    monkeypatch.setattr("bailiff.bootstrap.serve.serve", seen.append)
    monkeypatch.setattr("bailiff.bootstrap.process.run", lambda program, lifeline: None)

    def _run(*arguments, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return CliRunner().invoke(app, ["serve", *arguments]), seen

    return _run


@pytest.mark.parametrize(
    ("arguments", "choice"),
    [
        ((), None),
        (("--admission",), AdmissionChoice()),
        (("--admission-port", "9443"), AdmissionChoice(port=9443)),
        (("--admission-port", "0"), AdmissionChoice(port=0)),
        (
            ("--admission-port", "9443", "--admission-client-ca-file", "ca", *TLS),
            AdmissionChoice(port=9443, client_ca_file=Path("ca")),
        ),
        (
            ("--admission", "--mutation", MUTATIONS[2], "--mutation", MUTATIONS[0]),
            AdmissionChoice(mutations=(MUTATIONS[2], MUTATIONS[0])),
        ),
        (
            (
                *("--admission", "--default-not-ready-toleration-seconds", "60"),
                *("--default-unreachable-toleration-seconds", "-1"),
            ),
            AdmissionChoice(not_ready_seconds=60, unreachable_seconds=-1),
        ),
        (
            ("--admission", "--policies", "p.yaml", "--kubeconfig", "some-file"),
            AdmissionChoice(policies=Path("p.yaml")),
        ),
        (
            (
                *("--admission", "--admission-exempt-user", "a", "--admission-exempt-user", "b"),
                *("--admission-exempt-namespace", "c", "--gate-delete-user", "d"),
            ),
            AdmissionChoice(
                exempt_users=("a", "b"), exempt_namespaces=("c",), gate_delete_users=("d",)
            ),
        ),
    ],
)
def test_what_is_said_is_what_starts(run, arguments, choice) -> None:
    result, [settings] = run(*arguments)
    assert result.exit_code == 0, result.output
    assert settings.admission == choice
    assert settings.hook_ca == (choice and choice.client_ca_file)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mutation", MUTATIONS[0]), "options of admission webhooks need --admission or"),
        (("--gate-delete-user", "a"), "options of admission webhooks need --admission or"),
        (("--policies", "p"), "options of admission webhooks need --admission or"),
        (("--admission", "--mutation", "all"), "--mutation: expected one of default-toleration-"),
        (
            ("--admission", "--admission-client-ca-file", "ca", *TLS),
            "--admission-client-ca-file needs --admission-port",
        ),
        (
            ("--admission-port", "1", "--admission-client-ca-file", "ca"),
            "--admission-client-ca-file needs --tls-cert-file and --tls-private-key-file",
        ),
        (("--admission", "--policies", "p"), "--policies needs a cluster"),
        (
            ("--admission", "--gate-delete-user", "system:node:n1"),
            "--gate-delete-user: system:node:n1 must not be held",
        ),
        (
            ("--admission", "--default-not-ready-toleration-seconds", str(2**63)),
            "--default-not-ready-toleration-seconds: must fit 64 bits",
        ),
    ],
)
def test_what_cannot_be_exits_with_2(run, arguments, message) -> None:
    result, seen = run(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not seen


def test_all_of_it_may_stand_in_the_environment(run) -> None:
    said = {
        "BAILIFF_ADMISSION_PORT": "9443",
        "BAILIFF_MUTATION": " ".join(MUTATIONS[:2]),
        "BAILIFF_ADMISSION_EXEMPT_USER": "a b",
        "BAILIFF_DEFAULT_NOT_READY_TOLERATION_SECONDS": "60",
    }
    result, [settings] = run(**said)
    assert result.exit_code == 0, result.output
    assert settings.admission == AdmissionChoice(
        port=9443, mutations=MUTATIONS[:2], exempt_users=("a", "b"), not_ready_seconds=60
    )


def test_the_policies_of_a_worker_beside_it_are_no_mistake(run) -> None:
    result, [settings] = run(BAILIFF_POLICIES="p.yaml")
    assert result.exit_code == 0, result.output
    assert settings.admission is None


def test_policies_that_cannot_be_read_exit_with_2(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("bailiff.bootstrap.process.configure_logs", lambda: None)
    arguments = ("--admission", "--kubeconfig", "k", "--policies", str(tmp_path / "none"))
    result = CliRunner().invoke(app, ["serve", *arguments])
    assert result.exit_code == 2
    assert "--policies: " in result.output


def test_hooks_are_told_what_was_said() -> None:
    given = settings_of(
        AdmissionChoice(
            mutations=(MUTATIONS[1],),
            not_ready_seconds=60,
            unreachable_seconds=90,
            exempt_users=("a",),
            exempt_namespaces=("b",),
        )
    )
    chosen = frozenset({Mutation.EXTENDED_RESOURCE_TOLERATION})
    assert given.mutations == Mutations(chosen=chosen, not_ready_seconds=60, unreachable_seconds=90)
    assert given.exempt_users == frozenset({"a"})
    assert given.exempt_namespaces == frozenset({"b"})


def test_every_mutation_can_be_named() -> None:
    assert set(MUTATIONS) == set(Mutation)
