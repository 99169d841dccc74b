"""`bailiff policies check`: what would be in force, or the field at fault."""

import json

import pytest
import yaml
from typer.testing import CliRunner

from bailiff.cli.app import app
from bailiff.decisions.policies import NO_POLICIES, fingerprint, read

HEAD = "apiVersion: bailiff.dev/v1\nkind: WorkerPolicies\n"
MUCH = f"""{HEAD}
evictionApi: {{}}
limits: {{total: {{perSecond: 5}}, perNode: {{concurrency: 2}}}}
drainOrder: Priority
breakers: {{zone: {{stopAt: 0.8}}, cluster: {{}}}}
pause: {{namespace: ops}}
protection: true
exclude: {{namespaceSelector: {{matchLabels: {{tier: system}}}}}}
windows: [{{days: [Mon], start: "22:00", end: "06:00", timeZone: Europe/Berlin}}]
blastRadius: {{maxPods: 50}}
"""


def check(*arguments, stdin=None):
    return CliRunner().invoke(app, ["policies", "check", *arguments], input=stdin)


@pytest.mark.parametrize("text", [HEAD, MUCH], ids=["none", "many"])
@pytest.mark.parametrize("output", ["text", "json"])
def test_what_is_shown_is_itself_a_file_of_the_same_policies(text, output):
    shown = check("-", "-o", output, stdin=text)
    assert shown.exit_code == 0, shown.output
    assert read(shown.output.encode()) == read(text.encode())


def test_windows_show_all_their_days_and_hours_alike():
    text = f"{HEAD}windows: [{{start: 22:00, end: 06:00, timeZone: Europe/Berlin}}]"
    shown = check("-", stdin=text).output
    assert 'start: "22:00"\n  end: "06:00"' in shown
    assert yaml.safe_load(shown)["windows"][0]["days"] == [
        *("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    ]


def test_an_hour_of_one_digit_is_told_what_it_should_be():
    done = check("-", stdin=f"{HEAD}windows: [{{start: 22:00, end: 6:00, timeZone: UTC}}]")
    assert done.exit_code == 2
    assert "$.windows[0].end: must be HH:MM, as 06:00" in done.output


def test_defaults_are_filled_in_and_what_is_off_is_left_out():
    shown = json.loads(check("-", "-o", "json", stdin=MUCH).output)
    assert shown["evictionApi"] == {}
    assert shown["limits"] == {
        "total": {"perSecond": 5.0, "burst": 1},
        "perNode": {"burst": 1, "concurrency": 2},
    }
    assert shown["breakers"]["zone"]["stopAt"] == 0.8
    assert shown["breakers"]["zone"].keys() == shown["breakers"]["cluster"].keys()
    assert shown["pause"] == {"namespace": "ops", "name": "bailiff-pause"}
    assert check("-", stdin=HEAD).output.splitlines() == [
        *HEAD.splitlines(),
        "# all policies are off",
        f"# hash {fingerprint(NO_POLICIES)}",
    ]


def test_the_hash_is_that_of_a_worker_that_reads_the_file():
    assert check("-", stdin=MUCH).output.splitlines()[-1] == (
        f"# hash {fingerprint(read(MUCH.encode()))}"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}protektion: true", "$.protektion: unknown field, allowed are"),
        (f"{HEAD}limits: {{total: {{perSecond: 0}}}}", "$.limits.total.perSecond: "),
        (f"{HEAD}pause: {{namespace: 'a b'}}", "$.pause.namespace: "),
        ("protection: true", "$.apiVersion: required to be bailiff.dev/v1"),
        ("#" * 300_000, "$: 262145 bytes, at most 262144"),
    ],
)
def test_a_fault_exits_with_2_and_names_the_field(text, said):
    done = check("-", stdin=text)
    assert done.exit_code == 2
    assert f"bailiff: -: {said}" in done.output


def config_map(text, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": text}


def rendered(*texts):
    """As `helm template` prints it: the file among all else."""
    others = [config_map({"BAILIFF_POLICIES": "/etc/policies.yaml"}), {"kind": "Service"}]
    return yaml.safe_dump_all([*others, *(config_map({"policies.yaml": text}) for text in texts)])


def test_what_helm_renders_is_the_same_as_the_file():
    given = check("-", stdin=rendered(MUCH))
    assert given.exit_code == 0, given.output
    assert given.output == check("-", stdin=MUCH).output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (rendered(f"{HEAD}protektion: true"), "$.protektion: unknown field, allowed are"),
        (rendered(), "$: not valid YAML"),
        (rendered(HEAD, HEAD), "2 ConfigMaps hold policies.yaml: give one"),
        (yaml.safe_dump(config_map({"other": HEAD})), "$.apiVersion: required to be"),
        (f"{HEAD}kind: ConfigMap", "$: not valid YAML"),
    ],
)
def test_what_helm_renders_is_refused_as_the_file_is(text, said):
    done = check("-", stdin=text)
    assert (done.exit_code, f"bailiff: -: {said}" in done.output) == (2, True), done.output


def test_a_file_that_names_config_maps_is_a_file():
    assert check("-", stdin=f"# in a ConfigMap\n{HEAD}").exit_code == 0


def test_a_file_is_read_by_name(tmp_path):
    path = tmp_path / "policies.yaml"
    path.write_text(MUCH)
    assert check(str(path)).exit_code == 0
    absent = check(str(tmp_path / "absent.yaml"))
    assert (absent.exit_code, "No such file" in absent.output) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}protektion: true", "$.protektion: unknown field, allowed are"),
        (None, "No such file or directory"),
    ],
)
def test_a_worker_does_not_start_with_such_a_file(tmp_path, text, said):
    path = tmp_path / "policies.yaml"
    if text is not None:
        path.write_text(text)
    arguments = ["worker", "--kubeconfig", "some-file", "--policies", str(path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert f"bailiff: --policies: {path}: {said}" in done.output


def test_budgets_that_could_fill_the_book_are_warned_of():
    text = f"{HEAD}overTime: {{budgets: [{{name: b, evictions: 9000, seconds: 60, per: Node}}]}}"
    done = check("-", stdin=text)
    assert done.exit_code == 0
    said = "budget b has room for about 8456 counts, which 0.94 full columns (per Node) use up"
    assert said in done.stderr


def test_what_is_shown_of_a_budget_of_nodes_can_be_read_again():
    text = f"{HEAD}overTime: {{budgets: [{{name: b, nodes: 3, seconds: 60}}]}}"
    shown = check("-", stdin=text).output
    assert "  - name: b\n    nodes: 3\n    seconds: 60\n    per: Cluster\n" in shown
    assert read(shown.encode()) == read(text.encode())
