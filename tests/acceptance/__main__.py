"""`python -m tests.acceptance`: promises of the worker at a size that counts, and their figures.

returning   taint, untaint, taint again: 0 early, and as punctual as a storm allows (8 minutes)
denied      deletes denied with any code for 20 s: everybody goes afterwards (1 minute)
overload    a storm of 429: less than twice what the API server takes, the lead kept (1 minute)
fenced      who has lost the lead writes nothing a second later (1 minute)
residency   kube-scheduler with our plugin: 1,000 pods go when it said, to the second (3 minutes)
nodeloss    60 nodes in 3 zones beside kube-controller-manager: given up alike (4 minutes)
ramps       60 processes fill a node's memory: the agent is there before the OOM killer (8 minutes)
pagecache   files are read for 5 minutes, by each reckoning of memory: who goes (11 minutes)

Each on a kube-apiserver of its own. Exits 1 where a promise was not kept, 3 where
KUBEBUILDER_ASSETS is not set. What the faces promise, that no question holds up the others, is
looked for by `python -m tests.acceptance.gaps`, which needs no API server.
"""

from __future__ import annotations

import argparse
import sys

import uvloop

from tests.acceptance import (
    denied,
    fenced,
    nodeloss,
    overload,
    pagecache,
    ramps,
    residency,
    returning,
)
from tests.harness.kube.programs import WHY_NOT, assets

_NO_ASSETS = 3
_PROGRAMS = {
    "returning": returning.run,
    "denied": denied.run,
    "overload": overload.run,
    "fenced": fenced.run,
    "residency": residency.run,
    "nodeloss": nodeloss.run,
    "ramps": ramps.run,
    "pagecache": pagecache.run,
}


def main() -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all")
    given = parser.parse_args()
    if unknown := set(given.programs) - _PROGRAMS.keys():
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(_PROGRAMS)}")
    if assets() is None:
        print(WHY_NOT)
        return _NO_ASSETS
    failed = [name for name in given.programs or _PROGRAMS if not _kept(name)]
    return int(bool(failed))


def _kept(name: str) -> bool:
    print(f"# {name}", flush=True)
    kept = uvloop.run(_PROGRAMS[name]())
    print(f"{name}: {'kept' if kept else 'BROKEN'}\n", flush=True)
    return kept


if __name__ == "__main__":
    sys.exit(main())
