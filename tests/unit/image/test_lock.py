"""What of the lock is for the image."""

from __future__ import annotations

from pathlib import Path

import pytest

from image.lock import Pinned, distributions, pinned
from image.source import LOCK

ONE, OTHER = "1" * 64, "2" * 64
LINES = f"""\
zebra==2.0 \\
    --hash=sha256:{OTHER} \\
    --hash=sha256:{ONE}
    # via alpha
Alpha_One==1.0.post1{{marker}} \\
    --hash=sha256:{ONE}
"""


@pytest.mark.parametrize(
    ("marker", "there"),
    [
        ("", True),
        (" ; sys_platform == 'linux'", True),
        (" ; python_full_version >= '3.13'", True),
        (" ; python_version < '3.12'", False),
        (" ; sys_platform == 'win32'", False),
        (" ; platform_system == 'Darwin'", False),
        (" ; extra == 'fast'", False),
    ],
)
def test_pinned(marker: str, there: bool) -> None:
    alpha = [Pinned("alpha-one", "1.0.post1", (ONE,))] if there else []
    expected = [*alpha, Pinned("zebra", "2.0", (ONE, OTHER))]
    assert pinned(LINES.replace("{marker}", marker)) == expected


def test_the_lock_itself() -> None:
    pins = pinned(LOCK.read_text())
    names = [pin.name for pin in pins]
    assert names == sorted(set(names))
    assert {"fastapi", "uvloop", "grpcio"} <= set(names)
    assert all(pin.sha256 for pin in pins)


def metadata(folder: Path, name: str, version: str, *lines: str) -> None:
    """As an installer leaves it."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    text = "\n".join(("Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *lines))
    (info / "METADATA").write_text(text + "\n")


def test_distributions(tmp_path: Path) -> None:
    metadata(tmp_path, "Alpha_One", "1.0")
    found = distributions([Pinned("alpha-one", "1.0", ())], tmp_path)
    assert found["alpha-one"].version == "1.0"


@pytest.mark.parametrize(("name", "has"), [("alpha-one", "1.0"), ("beta", "none")])
def test_another_version_than_the_lock_has_is_refused(tmp_path: Path, name: str, has: str) -> None:
    metadata(tmp_path, "Alpha_One", "1.0")
    with pytest.raises(LookupError, match=rf"the lock has {name} 1.1, .* has {has}"):
        distributions([Pinned(name, "1.1", ())], tmp_path)
