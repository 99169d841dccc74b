"""Install the generators of clients that the document is tried with, once per machine.

``make test-assets`` runs this. What is installed, and which versions, stands in the lock files
beside it; the assets' folder is named after them, so a new version gets a new folder. They cannot
share the project's own environment: the generator for Python wants an older Typer than Bailiff.
Where there is no npm, only the generator for Python is installed, and the other tests are skipped.

Exit codes: 0 installed or already there, 1 an installation failed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "python" / "requirements.txt"
PACKAGES = (HERE / "typescript" / "package.json", HERE / "typescript" / "package-lock.json")


def assets_dir(*locks: Path) -> Path:
    """The folder for the present lock files, whether or not it has been filled."""
    digest = hashlib.sha256(b"".join(lock.read_bytes() for lock in locks)).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "bailiff" / "test-assets" / f"clients-{locks[0].parent.name}-{digest}"


def python_generator() -> Path:
    """Where openapi-python-client is, or would be."""
    return assets_dir(REQUIREMENTS) / "bin" / "openapi-python-client"


def node_modules() -> Path:
    """Where openapi-typescript and what its clients need are, or would be."""
    return assets_dir(*PACKAGES) / "node_modules"


def install_python() -> None:
    """An environment of its own; in place once it is whole."""
    target = assets_dir(REQUIREMENTS)
    # Programs of an environment name its place, so it is made there and removed if it fails.
    try:
        subprocess.run([sys.executable, "-m", "venv", str(target)], check=True)
        pip = [str(target / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--no-deps", "--require-hashes", "-r", str(REQUIREMENTS)], check=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(target, ignore_errors=True)
        raise


def install_node() -> None:
    """The packages of the lock file; in place once they are whole."""
    target = assets_dir(*PACKAGES)
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        for file in PACKAGES:
            shutil.copy(file, work)
        subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], cwd=work, check=True)
        work.rename(target)
    except subprocess.CalledProcessError:
        shutil.rmtree(work)
        raise


def main() -> int:
    """Install what is not there."""
    try:
        if not python_generator().exists():
            print("installing openapi-python-client ...", file=sys.stderr, flush=True)
            install_python()
        if shutil.which("npm") and not node_modules().exists():
            print("installing openapi-typescript ...", file=sys.stderr, flush=True)
            install_node()
    except subprocess.CalledProcessError as error:
        print(f"installing failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
