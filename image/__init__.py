"""The container image, made without a registry: Debian's packages, locked wheels, Bailiff.

`python -m image` writes an OCI archive and, beside it, what is in it. The same commit and the same
packages of Debian make the same bytes. Which Debian, which Python and who it runs as stands here.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
# Debian's stable release. A new one is new here, in the version of Python and in the Dockerfile.
RELEASE = "trixie"
PYTHON = "3.13"
# What the wheels may expect of the C library: that of the release or an older one.
PLATFORMS = {"amd64": "x86_64-manylinux_2_40", "arm64": "aarch64-manylinux_2_40"}
# With all that these depend on. Neither a shell nor a package manager is among it.
# gRPC is written in C++.
PACKAGES = (
    "base-files",
    "ca-certificates",
    f"libpython{PYTHON}-stdlib",
    "libstdc++6",
    f"python{PYTHON}-minimal",
)
# A number, so that Kubernetes can tell that it is not root.
USER = 65532
# As in the Dockerfile, so that a chart needs not know which of the two it has.
HOME = "opt/bailiff"
SITE = f"{HOME}/lib/python{PYTHON}/site-packages"
# -I: neither variables such as PYTHONPATH nor the working directory add code. It leaves the
# variable for unbuffered output aside, too, hence -u.
ENTRYPOINT = (f"/{HOME}/bin/python", "-I", "-u", "-m", "bailiff")
