"""Runs mutmut in the folder that is prepared for it, and tells what came of it.

A script, not a module of a package: the tests that it runs are the copies in that folder.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import libcst as cst
import pytest
from _pytest.config import _prepareconfig
from mutmut.__main__ import cli
from mutmut.configuration import config
from mutmut.mutation import file_mutation, mutators
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.runners.harness import PytestRunner
from mutmut.state import state
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import change_cwd, walk_source_files
from mutmut.utils.format_utils import get_mutant_name
from mutmut.workers import isolation

# In per cent, of those that came to an end.
LEAST_KILLED = 85
# Of mutmut's, those that change nothing but words.
WORDS_ONLY = {mutators.operator_string}
OPEN = ("survived", "no tests")
# A function's tests that take longer, in seconds, are left out where it has quicker ones: most of
# them try at random what those try one by one, and each survivor would have to wait for them.
SLOW = 1.0
# A test that takes so many times as long as without the mutant, and so many seconds more, has met
# a loop without an end.
PATIENCE, GRACE = 10, 5
# mutmut's own, for a mutant that timed out.
TIMEOUT = 36

Operator = Callable[[Any], Iterable[cst.CSTNode]]


def main(sample: int, seed: int, jobs: int) -> int:
    """Mutate, test, report. The exit code: 1 if too few are killed."""
    _choose_operators()
    # mutmut has no other way in.
    isolation.PytestRunner = CollectedTests  # type: ignore[attr-defined]
    chosen = _draw(sample, seed) if sample else []
    cli(["run", "--max-children", str(jobs), *chosen], standalone_mode=False)
    with Path("report.txt").open("w") as report, contextlib.redirect_stdout(report):
        return _report(set(chosen))


def _choose_operators() -> None:
    # In place: it is known under several names.
    operators = cast(list[Any], mutators.mutation_operators)
    kept = [(of, act) for of, act in operators if act not in WORDS_ONLY]
    operators[:] = [(of, _without_words(act)) for of, act in kept]


def _without_words(operator: Operator) -> Operator:
    """The same, but what it says to people it says as before."""

    def act(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        for mutated in operator(node):
            if not _loses_words(node, mutated):
                yield mutated

    return act


def _loses_words(node: cst.CSTNode, mutated: cst.CSTNode) -> bool:
    if not (isinstance(node, cst.Call) and isinstance(mutated, cst.Call)):
        return False
    kept = {id(argument) for argument in mutated.args}
    lost = (argument.value for argument in node.args if id(argument) not in kept)
    return any(isinstance(one, cst.BaseString) for one in lost)


class CollectedTests(PytestRunner):
    """Tests that are collected once: each mutant's process is a fork of this one and runs its own.

    mutmut would have each process collect them anew, which takes longer than most mutants live.
    """

    def __init__(self) -> None:
        super().__init__()
        self._session: pytest.Session | None = None

    def run_tests(self, *, mutant_name: str | None, tests: Iterable[str]) -> int:
        """The exit code of pytest, which ends at the first failure."""
        if mutant_name is None:
            # All have just passed, when it was noted which functions they call; a few will do to
            # see that they pass in this way too.
            self._collect()
            return self._run(self._some())
        return self._run(tests)

    def run_forced_fail(self) -> int:
        """What comes of a test when each function that may be mutated fails."""
        return self._run(self._some())

    def _some(self) -> set[str]:
        """The tests of one function."""
        return next(iter(state().tests_by_mangled_function_name.values()))

    def _collect(self) -> None:
        arguments = ["--rootdir=.", "-q", "-s", *self._pytest_add_cli_args_test_selection]
        with change_cwd("mutants"):
            # As pytest.main, but that it ends before the tests begin.
            prepared = _prepareconfig(arguments)
            self._session = pytest.Session.from_config(prepared)
            prepared._do_configure()
            prepared.hook.pytest_sessionstart(session=self._session)
            prepared.hook.pytest_collection(session=self._session)

    def _run(self, tests: Iterable[str]) -> int:
        assert self._session is not None
        self._session.testsfailed = 0
        items = {item.nodeid: item for item in self._session.items}
        signal.signal(signal.SIGALRM, _time_out)
        with change_cwd("mutants"):
            for name in _quickest_first(tests):
                signal.setitimer(signal.ITIMER_REAL, PATIENCE * _seconds(name) + GRACE)
                # Without a next one all is torn down: after a failure another may follow.
                items[name].ihook.pytest_runtest_protocol(item=items[name], nextitem=None)
                signal.setitimer(signal.ITIMER_REAL, 0)
                if self._session.testsfailed:
                    return 1
        return 0


def _seconds(test: str) -> float:
    return state().duration_by_test[test]


def _quickest_first(tests: Iterable[str]) -> list[str]:
    ordered = sorted(tests, key=_seconds)
    return [name for name in ordered if _seconds(name) <= SLOW] or ordered


def _time_out(*_: object) -> None:
    os._exit(TIMEOUT)


def _draw(count: int, seed: int) -> list[str]:
    """Names of mutants by lot, the same for a seed as long as the code is the same."""
    names: list[str] = []
    for path in sorted(walk_source_files()):
        if config().should_mutate(path):
            made = file_mutation.mutate_file_contents(str(path), path.read_text())
            names += [get_mutant_name(path, name) for name in made.mutant_names]
    return random.Random(seed).sample(names, min(count, len(names)))


def _report(chosen: set[str]) -> int:
    total: Counter[str] = Counter()
    found: list[tuple[str, str]] = []
    for path in sorted(walk_source_files()):
        if not config().should_mutate(path):
            continue
        statuses = _statuses(path, chosen)
        counts = Counter(statuses.values())
        total += counts
        if counts:
            print(_line(str(path).removeprefix("src/bailiff/"), counts))
        found += [(name, status) for name, status in statuses.items() if status != "killed"]
    print(_line("all", total))
    for name, status in found:
        print(f"\n# {status}: {name}\n{get_diff_for_mutant(name)}")
    return 0 if _score(total) >= LEAST_KILLED else 1


def _statuses(path: Path, chosen: set[str]) -> dict[str, str]:
    """What came of each mutant of a file."""
    data = SourceFileMutationData(path=path)
    data.load()
    codes = data.exit_code_by_key.items()
    return {name: status_by_exit_code[code] for name, code in codes if not chosen or name in chosen}


def _line(what: str, counts: Counter[str]) -> str:
    rest = {status: count for status, count in counts.items() if status not in ("killed", *OPEN)}
    told = "".join(f", {count} {status}" for status, count in sorted(rest.items()))
    alive = sum(counts[status] for status in OPEN)
    return f"{what:32} {_score(counts):5.1f} %: {counts['killed']} killed, {alive} survived{told}"


def _score(counts: Counter[str]) -> float:
    """Killed of those that were killed or survived; what no test calls has survived."""
    ended = counts["killed"] + sum(counts[status] for status in OPEN)
    return 100 * counts["killed"] / ended if ended else 100.0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
