"""`bailiff taints`, and what docs/built-in-taints.md says of the same table."""

import json

import pytest
import yaml

from bailiff.decisions.node_taints import BUILT_IN_TAINTS
from tests.harness.transcripts import ROOT, transcripts

PAGE = ROOT / "docs" / "built-in-taints.md"
CELLS = ("condition", "set_by", "removed_by", "since", "until")


def row(one):
    words = (getattr(one, name) for name in CELLS)
    instead = f"`{one.replaced_by}`" if one.replaced_by else ""
    return f"| `{one.key}` | `{one.effect}` | {' | '.join(words)} | {instead} |"


def test_the_page_has_the_table_and_nothing_else():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [row(one) for one in BUILT_IN_TAINTS]


def test_the_pages_transcript(run):
    [[step]] = transcripts(PAGE)
    command, _, documents = step.command.partition("<<'END'\n")
    told = run(*command.split()[1:], stdin=documents.removesuffix("END"))
    assert told.output == step.output


def test_all_are_listed_in_a_line_each(run):
    heads, *lines = run("taints").output.splitlines()
    assert heads.split() == ["KEY", "EFFECT", "CONDITION", "UNTIL"]
    assert [line.split()[:2] for line in lines] == [
        [one.key, one.effect] for one in BUILT_IN_TAINTS
    ]


def test_wide_tells_all_there_is(run):
    told = run("taints", "-o", "wide").output
    for one in BUILT_IN_TAINTS:
        assert all(getattr(one, name) in told for name in (*CELLS, "replaced_by"))


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_programs_are_told_as_the_api_does(run, output, read):
    told = read(run("taints", "node.alpha.kubernetes.io/notReady", "-o", output).output)
    assert told == [
        {
            "key": "node.alpha.kubernetes.io/notReady",
            "effect": "NoExecute",
            "condition": "Ready=False",
            "setBy": "the node controller of kube-controller-manager, with the gate "
            "TaintBasedEvictions",
            "removedBy": "nobody any more: kubectl taint, by hand",
            "since": "1.6",
            "until": "1.8",
            "replacedBy": "node.kubernetes.io/not-ready",
        }
    ]


def test_one_is_told_in_full(run):
    lines = run("taints", "node.kubernetes.io/out-of-disk").output.splitlines()
    assert lines == [
        "node.kubernetes.io/out-of-disk",
        "  built-in taint of Kubernetes 1.8 to 1.13, with the effect NoSchedule",
        "  condition OutOfDisk=True, which kubelets no longer report since 1.13",
        "  set by the node lifecycle controller of kube-controller-manager",
        "  taken away by nobody any more: kubectl taint, by hand",
        "  replaced by node.kubernetes.io/disk-pressure",
    ]


def test_a_key_with_two_effects_is_told_twice(run):
    told = run("taints", "node.kubernetes.io/unreachable").output
    assert told.count("node.kubernetes.io/unreachable\n") == 2


@pytest.mark.parametrize(
    ("word", "effects"),
    [
        ("node.kubernetes.io/unreachable:NoExecute", ["NoExecute"]),
        ("node.kubernetes.io/unreachable:", ["NoExecute", "NoSchedule"]),
        ("node.kubernetes.io/out-of-service=nodeshutdown:NoExecute", ["NoExecute"]),
        ("node.kubernetes.io/not-ready=", ["NoExecute", "NoSchedule"]),
    ],
)
def test_a_taint_is_taken_as_kubectl_prints_it(run, word, effects):
    told = json.loads(run("taints", word, "-o", "json").output)
    assert [one["effect"] for one in told] == effects
    assert {one["key"] for one in told} == {word.partition(":")[0].partition("=")[0]}


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("not-ready", "; is node.kubernetes.io/not-ready meant?"),
        ("node.kubernetes.io/not-redy:NoExecute", "; is node.kubernetes.io/not-ready meant?"),
        ("kubernetes.io/memory-presure", "; is node.kubernetes.io/memory-pressure meant?"),
        ("gpu", ": bailiff taints lists them"),
        ("", ": bailiff taints lists them"),
    ],
)
def test_what_may_be_meant_is_told(run, word, meant):
    refused = run("taints", word)
    assert refused.exit_code == 2
    assert refused.stderr.strip().endswith(f"is no built-in taint{meant}")


def test_an_effect_that_the_taint_has_not_is_refused(run):
    refused = run("taints", "node.kubernetes.io/memory-pressure:NoExecute")
    assert refused.exit_code == 2
    assert "is built in with the effect NoSchedule, not with NoExecute" in refused.stderr


def test_the_help_speaks_of_taints(run):
    told = run("taints", "--help").output
    assert "a line for each taint" in told
    assert "pod" not in told


def test_any_other_key_is_refused(run):
    refused = run("taints", "example.com/\x1b[31mred")
    assert refused.exit_code == 2
    assert "is no built-in taint" in refused.stderr
    assert "\x1b" not in refused.stderr
