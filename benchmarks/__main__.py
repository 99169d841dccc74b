"""`python -m benchmarks [NAME ...]`: all of them, or those named, one after the other."""

from __future__ import annotations

import subprocess
import sys

NAMES = (
    "core",
    "device_taints",
    "device_worker",
    "queue",
    "steps",
    "observers",
    "pressure",
    "kubelets",
    "scheduling",
    "rest_face",
    "grpc_face",
    "admission",
)


def main() -> int:
    chosen = sys.argv[1:] or NAMES
    unknown = set(chosen) - set(NAMES)
    if unknown:
        print(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
        return 2
    for name in chosen:
        print(f"== {name}", flush=True)
        # A process each: none inherits the heap of the one before.
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
