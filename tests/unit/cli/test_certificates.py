"""`bailiff certificates renew`: options, words, exit codes."""

from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bailiff.bootstrap.choices import ClusterChoice, StartError
from bailiff.certificates import Place, Plan, Step, Terms
from bailiff.cli.app import app

BUNDLES = "ValidatingWebhookConfiguration"
REQUIRED = ("--secret", "mine", "--dns-name", "a.svc")


@pytest.fixture
def asked(monkeypatch):
    """What was asked of the cluster; it answers with `answer`."""

    class Asked:
        answer: Plan | Exception = Plan(Step.NONE, "it is good")

        def __call__(self, chosen, place, terms, settle_seconds, *, force):
            self.said = chosen, place, terms, settle_seconds, force
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    found = Asked()
    monkeypatch.setattr("bailiff.bootstrap.certificates.renew_certificate", found)
    return found


def run(*arguments):
    return CliRunner().invoke(app, ["certificates", "renew", *arguments])


def test_what_is_not_said_is_as_the_help_tells(asked):
    done = run(*REQUIRED)
    assert done.output == "Secret mine: nothing to do: it is good\n"
    assert done.exit_code == 0
    place, terms = Place(namespace="", secret="mine"), Terms(names=("a.svc",))
    assert asked.said == (ClusterChoice(), place, terms, 30.0, False)


def test_everything_may_be_said(asked):
    asked.answer = Plan(Step.ISSUE, "there is none")
    done = run(
        *(*REQUIRED, "--dns-name", "*.b.svc", "--dns-name", "a.svc", "--namespace", "ops"),
        *("--mutating-webhook-configuration", "m", "--validating-webhook-configuration", "v"),
        *("--days", "9", "--renew-before-days", "3", "--keep-seconds", "60"),
        *("--settle-seconds", "0.5", "--kubeconfig", "some-file", "--force"),
    )
    assert done.output == "Secret mine: issued: there is none\n"
    webhooks = (("MutatingWebhookConfiguration", "m"), ("ValidatingWebhookConfiguration", "v"))
    assert asked.said == (
        ClusterChoice(Path("some-file")),
        Place(namespace="ops", secret="mine", webhooks=webhooks),
        Terms(
            names=("a.svc", "*.b.svc"),
            life=timedelta(days=9),
            renewed_before=timedelta(days=3),
            kept=timedelta(seconds=60),
        ),
        0.5,
        True,
    )


def test_an_old_authority_that_goes_is_told(asked):
    asked.answer = Plan(Step.PRUNE, "all serve the new one")
    assert run(*REQUIRED).output == (
        "Secret mine: old authority taken away: all serve the new one\n"
    )


def test_so_are_webhooks_that_were_mended(asked):
    asked.answer = Plan(Step.NONE, "it is good", told=(f"{BUNDLES} a", f"{BUNDLES} b"))
    assert run(*REQUIRED).output == (
        "Secret mine: nothing to do: it is good; "
        f"caBundle written in {BUNDLES} a; caBundle written in {BUNDLES} b\n"
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--secret", "Mine", "--dns-name", "a"), "--secret: 'Mine' is no name of a Secret"),
        (("--secret", "mine", "--dns-name", "a b"), "--dns-name: 'a b' is no DNS name"),
        (("--secret", "mine", "--dns-name", "*.*.a"), "--dns-name: '*.*.a' is no DNS name"),
        (("--secret", "mine", *("--dns-name", "a") * 101), "expected 1 to 100 of them"),
        ((*REQUIRED, "--days", "30"), "--renew-before-days: expected less than --days"),
    ],
)
def test_what_cannot_be_meant_is_refused(asked, arguments, named):
    done = run(*arguments)
    assert done.exit_code == 2
    assert named in done.stderr
    assert not hasattr(asked, "said")


@pytest.mark.parametrize("missing", [REQUIRED[:2], REQUIRED[2:]], ids=["names", "Secret"])
def test_what_is_required_is_asked_for(missing):
    assert run(*missing).exit_code == 2


def test_what_the_cluster_refuses_is_told(asked):
    asked.answer = StartError("secrets is forbidden")
    done = run(*REQUIRED)
    assert (done.exit_code, done.stderr) == (1, "bailiff: secrets is forbidden\n")
