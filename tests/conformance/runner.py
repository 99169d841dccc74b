"""Run files of cases and count: passed, failed, known differences."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.known_differences import Json, explaining
from tests.conformance.systems import SYSTEMS

SUFFIXES = (".jsonl", ".jsonl.gz")


@dataclass
class Result:
    """What came of one file; `supported` is False where its system is not built."""

    file: str
    supported: bool = True
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)

    def line(self) -> str:
        if not self.supported:
            return f"{self.file}: not supported yet"
        known = sum(self.known.values())
        return (
            f"{self.file}: {self.passed} passed, {len(self.failed)} failed, "
            f"{known} known differences"
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
    differing = {name for name in answer if answer[name] != case["expect"][name]}
    if not differing:
        result.passed += 1
        return
    difference = explaining(system, case["input"], differing)
    if difference is None:
        result.failed.append(case["id"])
    else:
        result.known[difference.name] = result.known.get(difference.name, 0) + 1


def _cases(path: Path) -> Iterator[Json]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
