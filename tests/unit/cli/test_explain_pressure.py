"""`bailiff explain pressure`: who would go, and why in this order."""

import json

import pytest
from typer.testing import CliRunner

from bailiff.cli.app import app
from bailiff.rest_api.examples.pressure import ROUND

NOW = "2026-05-04T12:00:00Z"
BODY = ROUND["memory"].body
OVER_REQUEST = "batch-0   3221225472   536870912    0          ExceedsRequest   now"


@pytest.fixture
def files(tmp_path):
    """The files of the example in the API's document."""
    told = BODY["pressure"]
    pods = {"kind": "List", "items": [{"kind": "Pod", **one} for one in BODY["pods"]]}
    for name, value in (("s", told["summary"]), ("c", told["configuration"]), ("p", pods)):
        (tmp_path / name).write_text(json.dumps(value))
    return tmp_path


@pytest.fixture
def explained(files, monkeypatch):
    """Ask about the files, with more words."""
    monkeypatch.chdir(files)

    def ask(*words):
        given = ["--summary", "s", "--pods", "p", "--now", NOW]
        return CliRunner().invoke(app, ["explain", "pressure", *given, *words])

    return ask


def test_a_table_says_who_goes_and_what_decided(explained):
    result = explained("--config", "c")
    assert result.exit_code == 0, result.output
    assert "conditions: MemoryPressure" in result.output
    assert "memory.available              hard    300Mi       8Gi        yes   209715200" in (
        result.output
    )
    assert f"1       default     {OVER_REQUEST}" in result.output
    assert "default/batch-0 goes within 1 s: The node was low on resource: memory." in result.output


def test_what_configz_answers_may_be_handed_over(explained, files):
    whole = {"kubeletconfig": BODY["pressure"]["configuration"]}
    (files / "c").write_text(json.dumps(whole))
    assert "yes" in explained("--config", "c").output


def test_without_a_configuration_the_defaults_count(explained):
    output = explained().output
    assert "memory.available              hard    300Mi       8Gi        no" in output
    assert "nobody goes" in output


def test_a_signal_that_is_not_low_is_ranked_for(explained):
    result = explained("--signal", "pid.available")
    assert result.exit_code == 0
    assert "2       default     batch-0" in result.output
    assert "now" not in result.output


def test_programs_get_the_state_to_hand_in_next_time(explained, files):
    first = json.loads(explained("--config", "c", "-o", "json").output)
    assert [one["pod"]["name"] for one in first["report"]["victims"]] == ["batch-0"]
    (files / "state").write_text(json.dumps(first))
    # By the same measurement nobody goes again.
    assert "nobody goes" in explained("--config", "c", "--state", "state").output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--signal", "memory.free"), "--signal: must be one of memory.available, "),
        (("--config", "nowhere"), "--config: No such file or directory"),
        (("--config", "s"), None),
        (("--state", "s"), "--state: $.node: unknown field"),
        (("--summary", "wrong"), "--summary: $.node.memory.availableBytes: "),
        (("--config", "bad"), 'evictionHard["memory.free"]: must be one of memory.available'),
    ],
)
def test_what_does_not_suffice(explained, files, words, told):
    (files / "wrong").write_text('{"node": {"memory": {"availableBytes": -1}}}')
    (files / "bad").write_text('{"evictionHard": {"memory.free": "1"}}')
    result = explained(*words)
    assert result.exit_code == (2 if told else 0), result.output
    assert (told or "") in result.output


def test_it_says_what_it_needs():
    result = CliRunner().invoke(app, ["explain", "pressure"])
    assert result.exit_code == 2
    assert "explain pressure needs --summary FILE and --pods FILE" in result.output


def test_what_no_kubelet_does_is_told(explained, files):
    (files / "e").write_text("dryRunHard: [memory.available]\nevictionHard: {swap.available: 10%}")
    output = explained("--config", "c", "--extensions", "e").output
    assert "memory.available only tells: it would evict default/batch-0" in output
    assert "yes, tells only" in output
    assert "swap.available" in output
    assert "nobody goes" in output


def test_stalls_are_shown_as_parts_of_the_time(explained, files):
    summary = json.loads((files / "s").read_text())
    summary["node"]["memory"]["psi"] = {"full": {"avg10": 25.5}}
    (files / "s").write_text(json.dumps(summary))
    (files / "e").write_text('evictionHard: {memory.psi.full: "20%"}')
    output = explained("--extensions", "e").output
    assert "memory.psi.full               hard    74.50%      100.00%    yes" in output


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dryRunHard: [memory]", "--extensions: $.dryRunHard[0]: Invalid enum value 'memory'"),
        ("coolDown: soon", "$.pressure.extensions.coolDown"),
        ("cooldown: 1s", "--extensions: $.cooldown"),
    ],
)
def test_extensions_that_cannot_be_are_refused(explained, files, text, told):
    (files / "e").write_text(text)
    result = explained("--extensions", "e")
    assert result.exit_code == 2
    assert told in result.output.replace("\n", " ")
