"""`bailiff preview` of files: kubectl's syntax of taints, rules, budgets."""

import json

import pytest

from bailiff.cli.errors import InputError
from bailiff.cli.taints import parse_taints
from bailiff.decisions.budgets import Violations
from bailiff.kinds import NewTaint, PodDisruptionBudget, decode
from tests.harness.kinds import pod_of

NODE = "kind: Node\nmetadata: {name: n1}\n---\nkind: Pod\nmetadata: {name: web}\n"
ON_NODE = NODE + "spec: {nodeName: n1}\n---\nkind: Pod\nmetadata: {name: other}\n"
RULE = """
kind: DeviceTaintRule
metadata: {name: recall}
spec: {deviceSelector: {driver: d}, taint: {key: recall, effect: None}}
"""
RULE_TAINT = "{key: recall, effect: None}"


@pytest.mark.parametrize(
    ("word", "added", "removed"),
    [
        ("k=v:NoExecute", [NewTaint(key="k", value="v", effect="NoExecute")], []),
        ("k:NoExecute", [NewTaint(key="k", effect="NoExecute")], []),
        ("k=:NoSchedule", [NewTaint(key="k", effect="NoSchedule")], []),
        ("example.com/k:NoExecute-", [], [NewTaint(key="example.com/k", effect="NoExecute")]),
        ("k=v:NoExecute-", [], [NewTaint(key="k", value="v", effect="NoExecute")]),
        ("k-", [], [NewTaint(key="k")]),
    ],
)
def test_taints_as_kubectl_takes_them(word, added, removed):
    change = parse_taints([word])
    assert (list(change.added), list(change.removed)) == (added, removed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["node-b", "k:NoExecute"],
            "to remove it: node-b-; if it is a node: one is taken at a time",
        ),
        (["k=v"], "'k=v' has no effect, as in k=v:NoExecute; to remove it: k-"),
        (["k=v-"], "to remove a taint, k- or k:NoExecute- is enough"),
        (["k:Evict"], "must be one of NoSchedule, PreferNoSchedule, NoExecute"),
        (["k=v:NoExecute:x"], "must be one of"),
        ([":NoExecute"], "the key in ':NoExecute' must be"),
        (["k=a=b:NoExecute"], "the value in 'k=a=b:NoExecute' must be"),
        (["-"], "the key in '-' must be"),
        (["k=a:NoExecute", "k=b:NoExecute"], "two of the same key and effect"),
    ],
)
def test_what_kubectl_refuses_is_refused(words, said):
    with pytest.raises(InputError) as caught:
        parse_taints(words)
    assert said in str(caught.value)
    assert ("if it is a node" in str(caught.value)) == (words[0] == "node-b")


def test_a_nodes_pods_in_files(run):
    told = run("preview", "taint", "n1", "k:NoExecute", "-f", "-", stdin=ON_NODE)
    assert told.exit_code == 0, told.output
    (row,) = told.stdout.splitlines()[1:]
    assert row.split()[:5] == ["default", "web", "EVICT_NOW", "now", "<none>"]
    assert row.endswith("taint k:NoExecute is not tolerated")


BURDENED = """
kind: Node
metadata: {name: n1}
spec:
  taints:
  - {key: one, effect: NoExecute, timeAdded: 2020-01-01T00:00:00Z}
  - {key: two, effect: NoExecute, timeAdded: 2021-01-01T00:00:00Z}
---
kind: Pod
metadata: {name: web}
spec: {nodeName: n1, tolerations: [{operator: Exists, tolerationSeconds: 60}]}
---
"""
PROTECTED = "kind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {selector: {}}\n"


@pytest.mark.parametrize(
    ("text", "taint", "budgets"),
    [(BURDENED, "one-", []), (f"{ON_NODE}---\n", "new:NoExecute", ["b"])],
    ids=["goes anyway", "would not"],
)
def test_who_goes_anyway_violates_no_budget(run, text, taint, budgets):
    told = run("preview", "taint", "n1", taint, "-f", "-", "-o", "json", stdin=text + PROTECTED)
    answer = json.loads(told.stdout)
    assert [one["after"]["verdict"] for one in answer["changes"]] == ["EVICT_NOW"]
    assert [one["name"] for one in answer["budgets"]] == budgets


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("taint", "n2", "k:NoExecute", "-f", "-"), "-f: node n2 is not in the files, but n1"),
        (
            ("taint", "n2", "k:NoExecute", "-f", "POD"),
            "-f: node n2 is not in the files, nor any other",
        ),
        (
            ("taint", "n1", "k:NoExecute", "-f", "-", "-f", "NODE"),
            "-f: node n1 is in the files 2 times",
        ),
        (("taint", "n1", "k", "-f", "-"), "TAINT: 'k' has no effect"),
        (
            ("rule", "-", "-f", "POD"),
            "FILE -: expected one DeviceTaintRule, there are 1 Node and 2 Pods",
        ),
        (("rule", "/none.yaml"), "bailiff: FILE /none.yaml: No such file"),
        (("rule", "-", "-f", "-"), "standard input can be read only once"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_why(run, arguments, said):
    told = run("preview", *arguments, stdin=ON_NODE)
    assert (told.exit_code, told.stdout) == (2, "")
    assert said in told.stderr


def test_a_rule_without_devices_in_the_files_evicts_nobody(run):
    told = run("preview", "rule", "-", "-f", "POD", "-o", "json", stdin=RULE)
    answer = json.loads(told.stdout)
    assert (answer["decisions"], answer["publishedDevices"]) == ([], 0)
    assert "Warning: the rule selects no device that is there: a misspelt" in told.stderr


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("{key: recall, effect: NoExecut}", "taint.effect: must be one of None, NoSchedule, NoExe"),
        ("{effect: NoExecute}", "$.rule.spec.taint.key: required"),
    ],
)
def test_a_rule_that_the_api_server_would_refuse_is_refused(run, wrong, said):
    told = run("preview", "rule", "-", "-f", "POD", stdin=RULE.replace(RULE_TAINT, wrong))
    assert (told.exit_code, told.stdout) == (2, "")
    assert said in told.stderr


def test_a_taint_that_the_node_has_not_is_not_removed(run):
    told = run("preview", "taint", "n1", "k:NoExecute-", "-f", "-", stdin=ON_NODE)
    assert (told.exit_code, told.stdout) == (2, "")
    assert "TAINT: node n1 has no taint k:NoExecute, it has none at all" in told.stderr


def test_the_taints_that_could_be_removed_are_told(run):
    told = run("preview", "taint", "n1", "maint-", "-f", "NODE", "-f", "POD")
    assert told.exit_code == 2
    assert "node n1 has no taint maint, but maintenance=yes:NoExecute" in told.stderr


def test_a_taint_that_evicts_nobody_is_told(run):
    told = run("preview", "taint", "n1", "k:NoSchedule", "-f", "-", stdin=ON_NODE)
    assert told.exit_code == 0
    assert "the effect NoSchedule evicts no pod, only NoExecute does" in told.stderr


@pytest.mark.parametrize(
    ("words", "warned"),
    [
        (("maintenance=yes:NoExecute",), "maintenance=yes:NoExecute"),
        (("maintenance=yes:NoExecute", "k:NoExecute"), "maintenance=yes:NoExecute"),
        (("maintenance=no:NoExecute",), ""),
        (("maintenance:NoExecute",), ""),
        (("maintenance=yes:NoExecute-",), ""),
    ],
)
def test_a_taint_that_the_node_has_is_told(run, words, warned):
    """No change to who goes is no promise that nobody does."""
    told = run("preview", "taint", "n1", *words, "-f", "NODE", "-f", "POD")
    assert told.exit_code == 0, told.output
    said = f"TAINT: node n1 has {warned} already: bailiff explain node/n1 tells what it does"
    assert (f"Warning: {said}\n" in told.stderr) == bool(warned)
    assert told.stderr.count("already") == bool(warned)


@pytest.mark.parametrize("node", ["node/n1", "nodes/n1", "no/n1"])
def test_a_node_may_be_named_as_for_explain(run, node):
    told = run("preview", "taint", node, "k:NoExecute", "-f", "-", stdin=ON_NODE)
    assert told.exit_code == 0, told.output


def test_a_preview_is_of_a_node(run):
    told = run("preview", "taint", "pod/web", "k:NoExecute", "-f", "-", stdin=ON_NODE)
    assert told.exit_code == 2
    assert "NODE: expected a node, as node-a or node/node-a, got 'pod/web'" in told.stderr


def budget(allowed, observed=2, **spec):
    value = {
        "metadata": {"name": "b", "namespace": "default", "generation": 2},
        "spec": spec,
        "status": {"disruptionsAllowed": allowed, "observedGeneration": observed},
    }
    return decode(json.dumps(value).encode(), PodDisruptionBudget)


@pytest.mark.parametrize(
    ("one", "violated"),
    [
        (budget(2, selector={"matchLabels": {"app": "web"}}), False),
        (budget(1, selector={"matchLabels": {"app": "web"}}), True),
        # Not counted yet: the Eviction API lets nobody through.
        (budget(9, observed=1, selector={"matchLabels": {"app": "web"}}), True),
        (budget(-1, selector={"matchLabels": {"app": "web"}}), True),
        (budget(0, selector={"matchLabels": {"app": "db"}}), False),
        # Of policy/v1: an empty selector is all pods, none is none.
        (budget(0, selector={}), True),
        (budget(0), False),
        (budget(0, selector={"matchExpressions": [{"key": "app", "operator": "Exists"}]}), True),
        (budget(0, selector={"matchExpressions": [{"key": "app", "operator": "Like"}]}), False),
        (
            budget(0, selector={"matchExpressions": [
                {"key": "app", "operator": "In", "values": ["web"]},
                {"key": "app", "operator": "NotIn", "values": ["db"]},
                {"key": "zone", "operator": "NotIn", "values": ["a"]},
                {"key": "zone", "operator": "DoesNotExist"},
            ]}),
            True,
        ),
    ],
)  # fmt: skip
def test_a_budget_is_violated_by_more_than_it_allows(one, violated):
    going = [pod_of(name, labels={"app": "web"}) for name in ("a", "b")]
    found = Violations(going, [one])
    assert bool(found.all) == violated
    assert bool(found.of("default", "a")) == violated
    assert found.of("other", "a") == ""


def test_budgets_of_other_namespaces_protect_nobody_here():
    going = [pod_of("a", namespace="elsewhere")]
    assert Violations(going, [budget(0, selector={})]).all == []
