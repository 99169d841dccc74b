"""`make image`: the image as an OCI archive, and beside it its packages and its SBOM.

Needs mmdebstrap and umoci, which Debian has, and root or unprivileged user namespaces.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from image import PLATFORMS, ROOT, SITE, debian, layers, oci, source
from image.licences import LicenceRefusedError
from image.provenance import provenance
from image.sbom import sbom

PROGRAMS = ("apt-get", "dpkg-deb", "mmdebstrap", "umoci")
PACKAGES = "debian-packages.json"
SBOM = "sbom.cdx.json"
PROVENANCE = "provenance.json"


def main() -> int:
    """The exit code: 1 if it could not be built, 2 if this machine lacks a program."""
    options = _options()
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        print(f"not on this machine: {', '.join(missing)}: see CONTRIBUTING.md", file=sys.stderr)
        return 2
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        archive, digest = build(options.folder, options.builder_id)
    except (LicenceRefusedError, LookupError, subprocess.CalledProcessError) as error:
        print(f"no image was built: {error}", file=sys.stderr)
        return 1
    print(f"{archive}\nits image is {digest}: by this a registry knows it, and it is signed")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m image", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "image")
    told = "write SLSA provenance, too: the address by which the machine that builds is known"
    parser.add_argument("--builder-id", default="", help=told)
    return parser.parse_args()


def build(folder: Path, builder: str = "") -> tuple[Path, str]:
    """Build into a folder; the archive's path, and the digest to sign."""
    from_where, architecture = source.source(), debian.architecture()
    with tempfile.TemporaryDirectory(prefix="bailiff-image-") as name:
        work = Path(name)
        # mmdebstrap without root runs as other users, which read what is here.
        work.chmod(0o755)
        packages, tree = root(work, from_where, architecture)
        (folder / PACKAGES).write_text(debian.listed(packages))
        (folder / SBOM).write_text(sbom(from_where, tree / SITE, packages))
        if builder:
            (folder / PROVENANCE).write_text(provenance(from_where, packages, builder))
        written = layers.split(work / "root.tar", work, layers.added(packages), from_where.epoch)
        oci.write(written, work / "layout", from_where, architecture)
        target = folder / f"bailiff-{from_where.version}.oci.tar"
        oci.archive(work / "layout", target, from_where.epoch)
        return target, oci.digest(work / "layout")


def root(work: Path, of: source.Source, architecture: str) -> tuple[list[debian.Package], Path]:
    """Make the root file system: what of Debian is in it, and where the wheels were laid out."""
    tree, debs = work / "tree", work / "debs"
    debs.mkdir()
    source.lay_out(tree, PLATFORMS[architecture])
    debian.bootstrap(tree, work / "root.tar", debs, of.epoch)
    return debian.packages(debs), tree


if __name__ == "__main__":
    sys.exit(main())
