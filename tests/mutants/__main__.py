"""`make mutants`: how many mutants of the files that keep the promises the unit tests kill.

mutmut makes the mutants and runs, for each, the tests that call the function it is in. It takes
only source folders of the name `src`, so it is given a copy of the repository that has one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
STAGES = ROOT / ".mutants"
# The files that keep the promises of docs/architecture/worker.md.
FILES = (
    "decisions/node_taints/observations.py",
    "worker/timers/pending.py",
    "worker/timers/queue.py",
    "worker/execute/outcomes.py",
    "worker/execute/attempt.py",
    "worker/lead/tenure.py",
    "worker/mirror/mirror.py",
    "cluster/list_watch.py",
    "cluster/slimming.py",
)
# Where mutants are drawn from by lot.
PACKAGES = ("worker", "cluster", "decisions")
TESTS = tuple(f"tests/unit/{package}" for package in PACKAGES)
# What the tests read besides the code.
READ_BY_TESTS = ("docs", "helm")


def main() -> int:
    """The exit code: 1 if fewer are killed than should be, or mutmut could not run."""
    options = _options()
    unknown = [name for name in options.files if not (_package() / name).is_file()]
    if unknown:
        print(f"no such file in service/bailiff: {', '.join(unknown)}", file=sys.stderr)
        return 2
    files = _others() if options.sample else options.files or list(FILES)
    stage = STAGES / ("sample" if options.sample else "files")
    _stage(stage, files, options.tests)
    engine = Path(__file__).with_name("engine.py")
    lot = (str(options.sample), str(options.seed), str(options.jobs))
    command = [sys.executable, "-P", str(engine), *lot]
    report = stage / "report.txt"
    with (stage / "mutmut.log").open("w") as log:
        print(f"mutmut is at work, its log is {log.name}", file=sys.stderr)
        code = subprocess.run(command, cwd=stage, stdout=log, stderr=log, check=False).returncode
    print(report.read_text() if report.exists() else "mutmut could not run, see its log")
    return code


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument(
        "files", nargs="*", help="relative to service/bailiff; by default those that matter most"
    )
    parser.add_argument(
        "--sample", type=int, default=0, help="so many mutants of all other files, drawn by lot"
    )
    parser.add_argument("--tests", nargs="+", default=TESTS, help="the tests; fewer are faster")
    parser.add_argument("--seed", type=int, default=1, help="of the lot")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    return parser.parse_args()


def _package() -> Path:
    return ROOT / "service" / "bailiff"


def _others() -> list[str]:
    found = (path for package in PACKAGES for path in (_package() / package).rglob("*.py"))
    return sorted({str(path.relative_to(_package())) for path in found} - set(FILES))


def _stage(stage: Path, files: list[str], tests: Sequence[str]) -> None:
    """A folder in which mutmut finds everything where it looks for it."""
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    (stage / "src").symlink_to(ROOT / "service")
    for name in ("tests", *READ_BY_TESTS):
        (stage / name).symlink_to(ROOT / name)
    project = (ROOT / "pyproject.toml").read_text()
    (stage / "pyproject.toml").write_text(project + _settings(files, tests))


def _settings(files: list[str], tests: Sequence[str]) -> str:
    settings: dict[str, object] = {
        "source_paths": ["src"],
        "only_mutate": [f"src/bailiff/{name}" for name in files],
        "also_copy": list(READ_BY_TESTS),
        "pytest_add_cli_args_test_selection": list(tests),
        # What changed since the last run is of no use to a folder that is made anew.
        "track_dependencies": False,
        # Nobody should have to test what is logged.
        "do_not_mutate_patterns": [r"^\s*_?log\.\w+\(", r"^\s*self\._log_failure\("],
        # A test of a minute that runs for five has met a loop without an end.
        "timeout_multiplier": 5.0,
        "timeout_constant": 2.0,
    }
    return "\n[tool.mutmut]\n" + "".join(
        # What JSON writes of strings, numbers and lists, TOML reads.
        f"{key} = {json.dumps(value)}\n"
        for key, value in settings.items()
    )


if __name__ == "__main__":
    sys.exit(main())
