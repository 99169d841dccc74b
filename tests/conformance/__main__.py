"""`python -m tests.conformance [DIR]`: one line a file; exit 1 if any case failed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conformance.runner import files, run_file

DATA = Path(__file__).parent / "data"


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else DATA
    if not folder.is_dir() or not files(folder):
        print(f"no .jsonl or .jsonl.gz files in {folder}", file=sys.stderr)
        return 2
    failures = 0
    for path in files(folder):
        result = run_file(path)
        print(result.line())
        for name, count in sorted(result.known.items()):
            print(f"  known: {count} {name}")
        for case_id in result.failed:
            print(f"  failed: {case_id}")
        failures += len(result.failed)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
