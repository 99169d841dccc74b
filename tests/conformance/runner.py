"""Run files of cases and count: passed, failed, known differences."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.known_differences import explaining
from tests.conformance.systems import COMPARABLE, SYSTEMS, Json

SUFFIXES = (".jsonl", ".jsonl.gz")


@dataclass
class Result:
    """What came of one file.

    Attributes:
        file: its system.
        supported: False where the system is not built.
        passed: cases answered as upstream did.
        failed: ids of the cases answered wrongly.
        different: cases answered otherwise than upstream did, for known reasons.
        known: in how many of those each reason had a part.
    """

    file: str
    supported: bool = True
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    different: int = 0
    known: dict[str, int] = field(default_factory=dict)

    def line(self) -> str:
        if not self.supported:
            return f"{self.file}: not supported yet"
        return (
            f"{self.file}: {self.passed} passed, {len(self.failed)} failed, "
            f"{self.different} known differences"
        )


def files(folder: Path) -> list[Path]:
    """The files of cases in a folder, by name."""
    return sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIXES))


def run_file(path: Path) -> Result:
    """Put every case of one file to our core."""
    system = path.name.split(".")[0]
    result = Result(system)
    if system not in SYSTEMS:
        result.supported = False
        return result
    for case in _cases(path):
        _run_case(system, case, result)
    return result


def _run_case(system: str, case: Json, result: Result) -> None:
    answer = SYSTEMS[system](case["input"])
    expect = COMPARABLE.get(system, dict)(case["expect"])
    if all(answer[name] == expect[name] for name in answer):
        result.passed += 1
        return
    names = explaining(system, case["input"], answer, expect)
    if not names:
        result.failed.append(case["id"])
        return
    result.different += 1
    for name in names:
        result.known[name] = result.known.get(name, 0) + 1


def _cases(path: Path) -> Iterator[Json]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
