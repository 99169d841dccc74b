"""`bailiff explain pressure`: who would go, and why in this order."""

import json
import re

import pytest
from typer.testing import CliRunner

from bailiff.cli.app import app
from bailiff.rest_api.examples.pressure import ROUND

NOW = "2026-05-04T12:00:00Z"
BODY = ROUND["memory"].body
OVER_REQUEST = "batch-0   3Gi     512Mi       0          ExceedsRequest   now"


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
    assert "memory.available              hard    <500Mi   300Mi       8Gi        yes   200Mi" in (
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
    assert "memory.available              hard    <100Mi   300Mi       8Gi        no" in output
    assert "nobody goes: no threshold is met; --signal ranks the pods as if one were" in output
    assert "thresholds: the kubelet's defaults, since no --config tells others" in output


def test_a_signal_that_is_not_low_is_ranked_for(explained):
    result = explained("--signal", "pid.available")
    assert result.exit_code == 0
    assert "2       default     batch-0" in result.output
    # Whether a pod goes is decided in a round, which nobody has asked for.
    assert result.stdout.splitlines()[0].endswith("FIRST BY")
    assert "GOES" in explained("--config", "c").output


def test_programs_get_the_state_to_hand_in_next_time(explained, files):
    first = json.loads(explained("--config", "c", "-o", "json").stdout)
    assert [one["pod"]["name"] for one in first["report"]["victims"]] == ["batch-0"]
    (files / "state").write_text(json.dumps(first))
    # By the same measurement nobody goes again.
    told = "nobody goes: nothing was measured since the last round"
    assert told in explained("--config", "c", "--state", "state").output


def test_what_a_worker_keeps_of_a_node_may_be_handed_over(explained, files):
    first = json.loads(explained("--config", "c", "-o", "json").stdout)
    (files / "state").write_text(json.dumps({"at": NOW, "state": first["report"]["next"]}))
    assert "nothing was measured since" in explained("--config", "c", "--state", "state").output


@pytest.mark.parametrize(
    ("now", "goes", "told"),
    [
        ("2026-05-04T12:02:00Z", True, "state: a worker's of 2026-05-04T12:00:00Z\n"),
        # As a worker that has found it so does: what was meanwhile nobody knows.
        (
            "2026-05-04T17:00:00Z",
            False,
            "00Z, which is more than 180 s ago: grace periods begin anew\n",
        ),
    ],
)
def test_what_a_worker_has_kept_counts_as_to_a_worker(explained, files, now, goes, told):
    soft = {"evictionHard": {}, "evictionSoft": {"memory.available": "10%"}}
    soft |= {"evictionSoftGracePeriod": {"memory.available": "90s"}}
    (files / "soft").write_text(json.dumps(soft))
    first = json.loads(explained("--config", "soft", "-o", "json").stdout)["report"]["next"]
    (files / "note").write_text(json.dumps({"at": NOW, "state": first | {"signals": []}}))
    words = ("--config", "soft", "--state", "note", "--now", now, "--exit-code")
    result = explained(*words)
    assert told in result.output
    assert result.exit_code == (11 if goes else 0), result.output


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("2026-05-04T14:00:00+02:00", "of 2026-05-04T12:00:00Z\n"),
        ("0001-01-01T00:00:00+14:00", "of 0001-01-01T00:00:00Z, which is more"),
    ],
)
def test_when_a_worker_has_kept_it_is_told_in_utc(explained, files, at, told):
    (files / "note").write_text(json.dumps({"at": at, "state": {}}))
    assert told in explained("--state", "note").output


def test_what_no_worker_has_kept_is_refused(explained, files):
    (files / "note").write_text(json.dumps({"at": NOW, "state": {"begun": True}}))
    result = explained("--state", "note")
    assert result.exit_code == 2
    assert "--state note: no worker could go on by it" in result.output


def test_scripts_are_told_whether_anybody_goes(explained):
    assert explained("--config", "c", "--exit-code").exit_code == 11
    assert explained("--exit-code").exit_code == 0
    assert explained("--config", "c", "--exit-code", "--signal", "pid.available").exit_code == 0


def test_until_when_a_threshold_is_met_and_why_nobody_goes_yet(explained, files):
    soft = {"evictionHard": {}, "evictionSoft": {"memory.available": "10%"}}
    soft |= {"evictionSoftGracePeriod": {"memory.available": "90s"}}
    soft |= {"evictionMinimumReclaim": {"memory.available": "1Gi"}}
    (files / "soft").write_text(json.dumps(soft))
    output = explained("--config", "soft").output
    assert "SIGNAL             GRACE   IF     UNTIL    AVAILABLE" in output
    assert (
        "memory.available   90s     <10%   1844Mi   300Mi       8Gi        yes   1544Mi" in output
    )
    why = "the grace period of memory.available is over at 2026-05-04T12:01:30Z"
    assert f"nobody goes: {why}, if it is met until then" in output


def test_what_extensions_go_by_and_files_do_not_tell(explained, files):
    (files / "e").write_text("subtractHugePages: true")
    result = explained("--extensions", "e")
    assert result.exit_code == 2
    assert "add the node to --pods" in result.output.replace("\n", " ")
    info = {"nodeInfo": {"kubeletVersion": "v1.36.2"}, "capacity": {"hugepages-2Mi": "1Gi"}}
    named = {"name": BODY["pressure"]["summary"]["node"]["nodeName"]}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": named, "status": info}
    (files / "n").write_text(json.dumps(node))
    assert explained("--extensions", "e", "--pods", "n").exit_code == 0
    (files / "e").write_text("memoryInUse: MemAvailable")
    assert "ask over REST or gRPC" in explained("--extensions", "e").output.replace("\n", " ")


@pytest.mark.parametrize("option", ["--summary", "--config", "--extensions", "--state", "--signal"])
def test_options_of_pressure_are_no_others(option):
    result = CliRunner().invoke(app, ["explain", "node/n1", option, "x"])
    assert result.exit_code == 2
    assert f"{option} is of pressure: add --pressure" in result.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--signal", "memory.free"), "--signal: must be one of memory.ava"),
        (("--config", "nowhere"), "--config nowhere: No such file or directory"),
        (("--config", "s"), "--config s: no KubeletConfiguration, and no answer to GET /configz"),
        (("--config", "p"), "--config p: no KubeletConfiguration"),
        (("--config", "case"), "--config case: $.evictionhard: unknown field: is evictionHard"),
        (("--config", "bad"), '--config bad: $.evictionSoft["memory.available"]: must be a quan'),
        (
            ("--pods", "s"),
            "--pods s: $.kind: required of a Kubernetes object, such as kubectl get ",
        ),
        (("--summary", "p"), "--summary p: $.node: required"),
        (("--state", "s"), "--state s: $.node: unknown field"),
        (("--summary", "wrong"), "--summary wrong: $.node.memory.availableBytes: "),
        (("--config", "bad"), 'evictionHard["memory.free"]: must be one of memory.available'),
    ],
)
def test_what_does_not_suffice(explained, files, words, told):
    (files / "wrong").write_text('{"node": {"memory": {"availableBytes": -1}}}')
    (files / "bad").write_text(
        '{"evictionHard": {"memory.free": "1"}, "evictionSoft": {"memory.available": "1Go"}}'
    )
    (files / "case").write_text('{"kind": "KubeletConfiguration", "evictionhard": {}}')
    result = explained(*words)
    assert result.exit_code == 2, result.output
    assert told in result.output.replace("\n", " ")


def test_it_says_what_it_needs():
    result = CliRunner().invoke(app, ["explain", "pressure"])
    assert result.exit_code == 2
    assert "explain pressure needs --summary FILE and --pods FILE" in result.output


def test_the_summary_of_another_node_is_refused(explained, files):
    name = BODY["pressure"]["summary"]["node"]["nodeName"]
    nodes = [{"kind": "Node", "metadata": {"name": one}} for one in ("other", name)]
    (files / "n").write_text(json.dumps({"kind": "List", "items": nodes}))
    assert explained("--config", "c", "--pods", "n", "--exit-code").exit_code == 11
    (files / "n").write_text(json.dumps(nodes[0]))
    result = explained("--config", "c", "--pods", "n")
    assert result.exit_code == 2
    assert "$.node.metadata.name is 'other': that of another node" in result.output


def bound(files, *names):
    """The pods of the file, each on the node of that name; the rest on none."""
    pods = json.loads((files / "p").read_text())
    for one, name in zip(pods["items"], names, strict=False):
        one["spec"]["nodeName"] = name
    (files / "p").write_text(json.dumps(pods))
    return len(pods["items"])


def test_pods_that_are_not_on_the_node_are_left_out_and_that_is_said(explained, files):
    name = BODY["pressure"]["summary"]["node"]["nodeName"]
    count = bound(files, name, "other")
    result = explained("--config", "c")
    assert result.exit_code == 0, result.output
    told = f"left out: {count - 1} of {count} pods, which are not on {name}, the summary's node\n"
    assert told in result.stderr
    assert [line for line in result.stdout.splitlines() if "batch-0" in line] == []


def test_where_no_pod_is_on_the_node_nothing_is_answered(explained, files):
    name = BODY["pressure"]["summary"]["node"]["nodeName"]
    count = bound(files, *["other"] * 9)
    result = explained("--config", "c")
    assert result.exit_code == 2
    assert f"--pods: none of {count} pods is on {name}, the summary's node" in result.output


def test_pods_of_which_none_names_a_node_are_the_summary_s(explained):
    assert "left out" not in explained("--config", "c").output


def test_what_no_kubelet_does_is_told(explained, files):
    (files / "e").write_text("dryRunHard: [memory.available]\nevictionHard: {swap.available: 10%}")
    output = explained("--config", "c", "--extensions", "e").output
    assert "dry run of memory.available: it would evict default/batch-0" in output
    assert "yes, dry run" in output
    assert "swap.available" in output
    assert "nobody goes: only thresholds are met that are dry runs, which evict nobody" in output


def test_extensions_of_no_effect_are_warned_of(explained, files):
    (files / "e").write_text("dryRunSoft: [memory.available]\nstopAt: {swap.available: 1Gi}")
    result = explained("--config", "c", "--extensions", "e")
    assert "Warning: --extensions e: dryRun of memory.available: there is no such" in result.stderr
    assert "Warning: --extensions e: stopAt of swap.available: there is no such" in result.stderr
    (files / "e").write_text(
        "dryRunHard: [memory.available, swap.available]\nstopAt: {memory.available: 1Gi}\n"
        # Of what was not measured there is a threshold all the same.
        "evictionHard: {swap.available: 10%}"
    )
    assert "Warning" not in explained("--config", "c", "--extensions", "e").output


def test_an_empty_file_of_extensions_switches_all_off(explained, files):
    (files / "e").write_text("")
    assert explained("--config", "c", "--extensions", "e", "--exit-code").exit_code == 11


def test_stalls_are_shown_as_parts_of_the_time(explained, files):
    summary = json.loads((files / "s").read_text())
    summary["node"]["memory"]["psi"] = {"full": {"avg10": 25.5}}
    (files / "s").write_text(json.dumps(summary))
    (files / "e").write_text('evictionHard: {memory.psi.full: "20%"}')
    output = explained("--extensions", "e").output
    # All of it of the time that tasks waited, as the threshold is.
    row = next(line for line in output.splitlines() if line.startswith("memory.psi.full"))
    told = re.split(" {2,}", row)
    assert told[2:] == [">20%", "waited 25.50%", "<none>", "yes", "5.50%"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "dryRunHard: [memory]",
            "--extensions e: $.dryRunHard[0]: must be one of memory.available, ",
        ),
        ("coolDown: soon", "--extensions e: $.coolDown: "),
        ("cooldown: 1s", "--extensions e: $.cooldown"),
        ("coolDown: soon\nstopAt: {memory: 1Gi}", '--extensions e: $.stopAt["memory"]'),
        ("stallWindow: 20s\nmemoryInUse: PSS", "--extensions e: $.memoryInUse: must be one of"),
    ],
)
def test_extensions_that_cannot_be_are_refused(explained, files, text, told):
    (files / "e").write_text(text)
    result = explained("--extensions", "e")
    assert result.exit_code == 2
    assert told in result.output.replace("\n", " ")
