"""What of the source tree goes into the image, and when that was last changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bailiff import __version__
from image import HOME, PYTHON, ROOT, SITE

LOCK = ROOT / "requirements" / "run.txt"
# Of the client, which is in no image.
CLIENT_LOCK = ROOT / "requirements" / "client.txt"
VENV = f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {PYTHON}\n"


class Source(NamedTuple):
    """Where the code stands: `epoch` in seconds since 1970; `revision` empty outside of git."""

    version: str
    epoch: int
    revision: str

    @property
    def created(self) -> str:
        """The epoch as RFC 3339 has it."""
        return datetime.fromtimestamp(self.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def source() -> Source:
    """The last commit; SOURCE_DATE_EPOCH wins, as reproducible-builds.org asks for.

    Raises:
        SystemExit: Neither git nor the variable tells the time.
    """
    told = os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct")
    if not told.isdecimal():
        raise SystemExit("no commit to take the time from: set SOURCE_DATE_EPOCH, in seconds")
    revision = _git("describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
    return Source(__version__, int(told), revision)


def _git(*arguments: str) -> str:
    """What git says; nothing where it has nothing to say."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def lay_out(tree: Path, platform: str) -> None:
    """A virtual environment as the image has it: wheels of the lock, Bailiff without the demo."""
    site = tree / SITE
    _install(site, platform)
    shutil.copytree(
        ROOT / "service" / "bailiff",
        site / "bailiff",
        ignore=_left_out,
    )
    (tree / HOME / "pyvenv.cfg").write_text(VENV)
    programs = tree / HOME / "bin"
    programs.mkdir()
    (programs / "python").symlink_to(f"/usr/bin/python{PYTHON}")
    _same_modes(tree)


def _left_out(folder: str, names: list[str]) -> set[str]:
    """Caches; and the client, a distribution of its own, whose HTTP library the image has not."""
    client = {"client"} if Path(folder) == ROOT / "service" / "bailiff" else set()
    return client | shutil.ignore_patterns("__pycache__", "*.pyc")(folder, names)


def _install(site: Path, platform: str) -> None:
    """The wheels for the image's Python, whichever Python runs this. uv keeps its downloads."""
    uv = Path(sys.executable).with_name("uv")
    subprocess.run(
        [
            uv, "pip", "install", "--quiet", "--target", site, "--link-mode", "copy",
            "--python-platform", platform, "--python-version", PYTHON,
            "--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", LOCK,
        ],
        check=True,
    )  # fmt: skip
    # uv's own, and programs whose first line names the Python of this machine.
    (site / ".lock").unlink(missing_ok=True)
    shutil.rmtree(site / "bin", ignore_errors=True)


def _same_modes(tree: Path) -> None:
    """Readable by all, writable by the owner, whatever this machine's umask is."""
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
