"""Every supported file of the project's own copy passes, or differs by a named rule only."""

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.conformance.__main__ import DATA, main
from tests.conformance.known_differences import NAMES, explaining
from tests.conformance.pressure import CONTAINERFS_ALIASING as ALIASING
from tests.conformance.pressure import (
    answer_pressure_sequence,
    comparable_pressure_sequence,
    explain_pressure_sequence,
)
from tests.conformance.runner import files, run_file

DIFFERENCES_PAGE = Path(__file__).parents[2] / "docs" / "differences-from-upstream.md"


@pytest.mark.parametrize("path", files(DATA), ids=lambda path: path.name.split(".")[0])
def test_file(path):
    result = run_file(path)
    if not result.supported:
        pytest.skip(f"{result.file}: not supported yet")
    assert result.failed == []
    assert result.passed > 0


def test_every_known_difference_is_met_by_some_case():
    results = [run_file(path) for path in files(DATA)]
    assert {(result.file, name) for result in results for name in result.known} == NAMES


def test_every_known_difference_is_told_to_users():
    rows = re.findall(r"^\| ([\w-]+) \|", DIFFERENCES_PAGE.read_text(), re.MULTILINE)
    assert {name for _, name in NAMES} <= set(rows)


def test_a_wrong_answer_fails_the_run(tmp_path, capsys, monkeypatch):
    case = {
        "id": "made-up",
        "input": {"toleration": {}, "taint": {"key": "a"}, "comparisonOperators": False},
        "expect": {"tolerates": False},
    }
    with gzip.open(tmp_path / "tolerates.jsonl.gz", "wt") as file:
        file.write(json.dumps(case) + "\n")
    (tmp_path / "made_up.jsonl").write_text("{}\n")
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "made_up: not supported yet",
        "tolerates: 0 passed, 1 failed, 0 known differences",
        "  failed: made-up",
    ]


def test_a_folder_without_cases_is_said_to_be_one(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert "no .jsonl" in capsys.readouterr().err


def test_a_rule_excuses_no_other_field(monkeypatch):
    """An overflowing case whose set of taints is wrong must still fail."""
    case = {"tolerations": [{"tolerationSeconds": 2**55}]}
    expect = {"action": "evict_now", "noExecuteTaints": [0]}
    wrong = {"action": "evict_after", "noExecuteTaints": [1]}
    right = wrong | {"noExecuteTaints": [0]}
    assert explaining("node_taint", case, right, expect) == ["toleration-seconds-overflow"]
    assert explaining("node_taint", case, wrong, expect) == []


def aliased():
    """A case that meets pressure-containerfs-aliasing: its input, our answer and upstream's."""
    with gzip.open(DATA / "pressure_sequence.jsonl.gz", "rt") as lines:
        for case in map(json.loads, lines):
            limits = case["input"]["config"]["evictionHard"]
            if "containerfs.inodesFree" in limits and "containerfs.available" not in limits:
                answer = answer_pressure_sequence(case["input"])
                expect = comparable_pressure_sequence(case["expect"])
                if explain_pressure_sequence(case["input"], answer, expect) == [ALIASING]:
                    return case["input"], answer, case["expect"]
    raise AssertionError("no case meets it")


@pytest.mark.parametrize("step", [0, 1, 2])
@pytest.mark.parametrize(
    "wrong",
    [
        {"nodeConditions": ["PIDPressure"]},
        {"thresholdsMet": ["memory.available"]},
        {"reclaim": ["image"]},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_an_accident_of_upstream_excuses_what_follows_from_it_alone(step, wrong):
    case, answer, told = aliased()
    told["steps"][step] |= wrong
    expect = comparable_pressure_sequence(told)
    assert explain_pressure_sequence(case, answer, expect) == []


def test_nor_does_it_excuse_a_wrong_answer_of_ours():
    case, answer, told = aliased()
    answer["steps"][0]["evicted"] = [{"pod": "d/critical"}]
    expect = comparable_pressure_sequence(told)
    assert explain_pressure_sequence(case, answer, expect) == []
