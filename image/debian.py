"""The root file system out of Debian's packages, by mmdebstrap."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from image import HOME, PACKAGES, PLATFORMS, PYTHON, RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# For people, for other programs or for other languages: nothing that Python opens. The licences
# in /usr/share/doc stay.
LEFT_OUT = (
    "/usr/bin/c_rehash",
    "/usr/bin/debconf*",
    "/usr/bin/mawk",
    "/usr/bin/openssl",
    f"/usr/lib/python{PYTHON}/pydoc_data/*",
    "/usr/lib/ssl/misc/*",
    "/usr/lib/*/gconv/*",
    "/usr/sbin/*",
    "/usr/share/bash-completion/*",
    "/usr/share/debconf/*",
    "/usr/share/doc/*",
    "/usr/share/info/*",
    "/usr/share/lintian/*",
    "/usr/share/locale/*",
    "/usr/share/man/*",
    "/usr/share/perl5/*",
)
KEPT = ("/usr/share/doc/*/copyright",)
ARCHIVES = "/var/cache/apt/archives"
# A .pyc that has no time and is never compared with its source: the file system is read-only where
# it runs.
COMPILE = (
    f'chroot "$1" /usr/bin/python{PYTHON} -m compileall -q'
    f" --invalidation-mode unchecked-hash /usr/lib/python{PYTHON} /{HOME}"
)


class Package(NamedTuple):
    """A .deb: its file's name and SHA-256, and what its control file says."""

    file: str
    sha256: str
    control: str

    def field(self, name: str) -> str:
        """The first line of a field; empty if it has none."""
        lines = (line for line in self.control.splitlines() if line.startswith(f"{name}: "))
        return next(lines, "").partition(": ")[2]


def architecture() -> str:
    """As Debian and OCI call this machine's.

    Raises:
        LookupError: The image is not made for it.
    """
    name = _said("dpkg", "--print-architecture").strip()
    if name not in PLATFORMS:
        raise LookupError(f"images are made for {' and '.join(PLATFORMS)}, not for {name}")
    return name


def sources() -> list[str]:
    """Where this machine has Debian from, for the image's release.

    DEBIAN_MIRROR and DEBIAN_SECURITY_MIRROR win: a mirror near by, or a day of snapshot.debian.org,
    whose lists are signed as ever, but are past the date until which they were the newest.

    Raises:
        SystemExit: This machine has no Debian, and no mirror was named.
    """
    told = "Created-By: Packages", "Origin: Debian"
    lines = _said("apt-get", "indextargets", "--format", "$(LABEL)|$(REPO_URI)", *told).splitlines()
    known = dict(line.split("|", 1) for line in reversed(lines) if "|" in line)
    main = os.environ.get("DEBIAN_MIRROR") or known.get("Debian")
    security = os.environ.get("DEBIAN_SECURITY_MIRROR") or known.get("Debian-Security")
    if not main or not security:
        raise SystemExit("apt knows no Debian here: set DEBIAN_MIRROR and DEBIAN_SECURITY_MIRROR")
    suites = {RELEASE: main, f"{RELEASE}-updates": main, f"{RELEASE}-security": security}
    return [
        f"deb [{_trust(mirror, known)}] {mirror} {suite} main" for suite, mirror in suites.items()
    ]


def _trust(mirror: str, known: Mapping[str, str]) -> str:
    """Debian's signatures always; their dates, too, of a mirror that this machine lives on."""
    dated = "" if mirror in known.values() else " check-valid-until=no"
    return f"signed-by={KEYRING}{dated}"


def bootstrap(tree: Path, tar: Path, debs: Path, epoch: int) -> None:
    """Write the root file system to `tar`, with `tree` in it and compiled, and its .deb files."""
    subprocess.run(
        [
            "mmdebstrap", "--quiet", "--variant=extract", f"--include={','.join(PACKAGES)}",
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
            *(f"--dpkgopt=path-include={pattern}" for pattern in KEPT),
            f"--extract-hook=copy-out {ARCHIVES} {debs}",
            f"--extract-hook=sync-in {tree} /",
            f"--extract-hook={COMPILE}",
            RELEASE, str(tar), *sources(),
        ],
        env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch)},
        check=True,
    )  # fmt: skip


def packages(debs: Path) -> list[Package]:
    """What was extracted, by name."""
    files = sorted((debs / "archives").glob("*.deb"))
    return [
        Package(
            file.name,
            hashlib.sha256(file.read_bytes()).hexdigest(),
            _said("dpkg-deb", "--field", str(file)),
        )
        for file in files
    ]


def listed(packages: Iterable[Package]) -> str:
    """What to compare two builds by, and to find a package by at snapshot.debian.org."""
    rows = [
        {"file": package.file, "sha256": package.sha256, "version": package.field("Version")}
        for package in packages
    ]
    return json.dumps(rows, indent=1) + "\n"


def _said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
