"""The command line: what it prints and how it exits."""

import json

import pytest
import typer
from typer.testing import CliRunner

from bailiff import __version__, bootstrap, decisions
from bailiff.cli.app import app
from bailiff.decisions import Options

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, creationTimestamp: 2026-01-01T00:00:00Z}
spec:
  nodeName: n1
  tolerations:
  - {key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 60}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
spec:
  taints:
  - {key: maintenance, value: "yes", effect: NoExecute, timeAdded: 2026-01-02T00:00:00Z}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    # Logs are set up once for a process, and the runner's standard error lives for one call.
    monkeypatch.setattr("bailiff.bootstrap.process.configure_logs", lambda: None)
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "node.yaml").write_text(NODE)

    def _run(*arguments, stdin=None):
        places = {"POD": str(tmp_path / "pod.yaml"), "NODE": str(tmp_path / "node.yaml")}
        return CliRunner().invoke(app, [places.get(a, a) for a in arguments], input=stdin)

    return _run


def test_explain_tells_people_what_when_and_why(run):
    result = run("explain", "POD", "--node", "NODE", "--now", "2026-01-02T00:00:30Z")
    assert result.exit_code == 0
    cause = (
        "taint maintenance=yes:NoExecute is tolerated by maintenance:NoExecute op=Exists for 60s"
    )
    assert result.output.splitlines() == [
        "Pod shop/web on node n1: evict at 2026-01-02T00:01:00Z",
        f"  ToleratedUntil: {cause}, until 2026-01-02T00:01:00Z",
        "node-taints: EVICT_AT (ToleratedUntil)",
        f"  NoExecuteTaint ToleratedForSeconds: {cause}",
        "    added 2026-01-02T00:00:00Z (timeAdded)",
        "    deadline 2026-01-02T00:01:00Z",
    ]


CLAIMS = """
kind: ResourceClaim
metadata: {name: gpu}
status:
  allocation:
    devices:
      results:
      - driver: d
        pool: p
        device: gpu-0
        tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 60}]
  reservedFor: [{resource: pods, name: train, uid: u-1}]
---
kind: ResourceClaim
metadata: {name: gpu, namespace: other}
"""
SLICE = """{"kind": "List", "items": [{
  "kind": "ResourceSlice",
  "metadata": {"name": "s", "uid": "s-1"},
  "spec": {
    "driver": "d",
    "pool": {"name": "p", "generation": 1},
    "devices": [{
      "name": "gpu-0",
      "taints": [{"key": "hot", "effect": "NoExecute", "timeAdded": "2026-01-02T00:00:00Z"}]
    }]
  }
}]}"""
TRAIN = """
metadata: {name: train, namespace: shop, uid: u-1}
spec: {nodeName: n1, resourceClaims: [{name: gpu, resourceClaimName: gpu}]}
"""
RULE = """
metadata: {name: recall, uid: r-1}
spec:
  deviceSelector: {driver: d}
  taint: {key: recall, effect: NoExecute, timeAdded: "2026-01-02T00:05:00Z"}
"""


@pytest.fixture
def devices(tmp_path):
    """Arguments that name files of devices."""
    found = []
    for option, text in (("--claim", CLAIMS), ("--slice", SLICE), ("--rule", RULE)):
        path = tmp_path / option.strip("-")
        path.write_text(text)
        found += [option, str(path)]
    return found


def test_explain_names_slice_device_rule_and_toleration(run, devices):
    result = run("explain", "-", *devices, "--now", "2026-01-02T00:00:30Z", stdin=TRAIN)
    assert result.exit_code == 0, result.output
    published = "ResourceSlice /s:s-1 d/p/gpu-0 taint #0"
    reasons = f"DeviceTaintRule /recall:r-1, {published}"
    tolerated = "is tolerated by *:NoExecute op=Exists for 60s"
    by_slice = f"taint hot:NoExecute of device d/p/gpu-0 {tolerated}"
    by_rule = f"taint recall:NoExecute of device d/p/gpu-0 {tolerated}"
    assert result.output.splitlines() == [
        "Pod shop/train on node n1: evict at 2026-01-02T00:01:00Z",
        f"  ToleratedUntil: {by_slice}, until 2026-01-02T00:01:00Z ({reasons})",
        "device-taints: EVICT_AT (ToleratedUntil)",
        "  ResourceClaim Used: claim gpu: the pod uses it",
        f"  NoExecuteDeviceTaint ToleratedForSeconds: {by_slice} ({published})",
        "    added 2026-01-02T00:00:00Z (timeAdded)",
        "    deadline 2026-01-02T00:01:00Z",
        f"  NoExecuteDeviceTaint ToleratedForSeconds: {by_rule} (DeviceTaintRule /recall:r-1)",
        "    added 2026-01-02T00:05:00Z (timeAdded)",
        "    deadline 2026-01-02T00:06:00Z",
    ]


def test_explain_asks_node_and_devices(run, devices):
    arguments = ("--node", "NODE", "--now", "2026-01-02T00:00:30Z", "-o", "json")
    answer = json.loads(run("explain", "-", *devices, *arguments, stdin=TRAIN).output)
    assert [(f["system"], f["verdict"]) for f in answer["findings"]] == [
        ("node-taints", "EVICT_NOW"),
        ("device-taints", "EVICT_AT"),
    ]
    assert answer["decidedBy"] == "node-taints"


def test_a_pod_without_a_namespace_is_in_that_of_kubectl(run, tmp_path):
    claims = tmp_path / "claims"
    claims.write_text(CLAIMS.replace("{name: gpu}", "{name: gpu, namespace: default}"))
    (tmp_path / "rules").write_text(RULE)
    files = ("--claim", str(claims), "--rule", str(tmp_path / "rules"))
    pod = TRAIN.replace("namespace: shop, ", "")
    answer = json.loads(run("explain", "-", *files, "-o", "json", stdin=pod).output)
    assert (answer["pod"]["namespace"], answer["reason"]) == ("default", "TolerationExpired")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: Pod", "$.kind: expected ResourceClaim, got Pod"),
        ("- 1", "expected ResourceClaim objects"),
        ("just text", "expected ResourceClaim objects"),
        ("{", "not valid YAML"),
        ("items: [{status: 1}]", "$.status"),
        ("metadata: 1", "$.metadata"),
        ("a: " + "x" * 2_000_000, "give it as JSON"),
    ],
)
def test_bad_devices_are_refused_with_their_place(run, tmp_path, text, message):
    (tmp_path / "claims").write_text(text)
    result = run("explain", "POD", "--node", "NODE", "--claim", str(tmp_path / "claims"))
    assert result.exit_code == 2
    assert message in result.output


def test_explain_needs_a_node_or_devices(run):
    result = run("explain", "POD")
    assert result.exit_code == 2
    assert "$.node: required" in result.output


def test_explain_answers_programs_as_the_api_does(run):
    result = run("explain", "POD", "--node", "NODE", "-o", "json", "--now", "2026-01-03T00:00:00Z")
    answer = json.loads(result.output)
    assert (answer["verdict"], answer["evictAt"]) == ("EVICT_NOW", "2026-01-02T00:01:00Z")
    assert answer["findings"][0]["trace"][0]["outcome"] == "ToleratedForSeconds"


@pytest.mark.parametrize(
    ("now", "bound_at", "code"),
    [
        ("2026-01-02T00:00:30Z", "2026-01-01T00:00:00Z", 10),
        ("2026-01-02T01:00:00Z", "2026-01-01T00:00:00Z", 11),
        ("2026-01-02T01:00:00Z", "2026-01-02T00:59:30Z", 10),
    ],
)
def test_exit_code_tells_the_verdict_when_asked(run, now, bound_at, code):
    options = ("--now", now, "--bound-at", bound_at)
    result = run("explain", "POD", "--node", "NODE", "--exit-code", *options)
    assert result.exit_code == code


def test_explain_reads_standard_input(run):
    result = run("explain", "-", "--node", "NODE", "--exit-code", stdin="kind: Pod\nspec: {}\n")
    assert result.exit_code == 11


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        pytest.param("kind: Node", "$.kind: expected Pod, got Node", id="kind"),
        pytest.param("- 1", "expected one Pod object", id="list"),
        pytest.param("{", "not valid YAML", id="yaml"),
        pytest.param("\x00", "not valid YAML", id="control character"),
        pytest.param("!!python/object:os.system {}", "not valid YAML", id="python tag"),
        pytest.param(
            "spec: {tolerations: [{tolerationSeconds: soon}]}",
            "$.spec.tolerations[0].tolerationSeconds: Expected `int | null`, got `str`",
            id="type",
        ),
        pytest.param("[" * 100_000, "not valid YAML", id="depth"),
        pytest.param("a: &a [1]\nb: *a", "aliases are not allowed", id="alias"),
        pytest.param("a: " + "x" * 4_000_000, "larger than", id="size"),
    ],
)
def test_bad_objects_are_refused_with_their_place(run, stdin, message):
    result = run("explain", "-", "--node", "NODE", stdin=stdin)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("explain", "POD", "--node", "NODE", "--now", "soon"), "expected RFC 3339"),
        (("explain", "POD", "--node", "NODE", "--now", "2026-01-01T00:00:00"), "offset"),
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
