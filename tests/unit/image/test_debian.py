"""Where Debian's packages come from, and what is told of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from image import debian
from image.debian import Package

MAIN, SECURITY = "https://mirror.invalid/debian/", "https://mirror.invalid/security/"
KNOWN = f"Debian|{MAIN}\nDebian|https://mirror.invalid/other/\nDebian-Security|{SECURITY}\n"


@pytest.fixture
def apt(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine whose apt says what a test lets it say."""
    monkeypatch.delenv("DEBIAN_MIRROR", raising=False)
    monkeypatch.delenv("DEBIAN_SECURITY_MIRROR", raising=False)
    return monkeypatch


def places() -> list[list[str]]:
    return [re.sub(r"deb \[.*\] ", "", line).split()[:2] for line in debian.sources()]


def test_the_mirror_is_that_of_the_machine(apt: pytest.MonkeyPatch) -> None:
    apt.setattr(debian, "_said", lambda *_: KNOWN)
    assert places() == [
        [MAIN, "trixie"],
        [MAIN, "trixie-updates"],
        [SECURITY, "trixie-security"],
    ]
    assert all(f"[signed-by={debian.KEYRING}]" in line for line in debian.sources())


@pytest.mark.parametrize(("name", "known"), [("amd64", True), ("arm64", True), ("riscv64", False)])
def test_the_architecture(apt: pytest.MonkeyPatch, name: str, known: bool) -> None:
    apt.setattr(debian, "_said", lambda *_: f"{name}\n")
    if known:
        assert debian.architecture() == name
    else:
        with pytest.raises(LookupError, match=f"amd64 and arm64, not for {name}"):
            debian.architecture()


def test_a_mirror_that_is_named_wins(apt: pytest.MonkeyPatch) -> None:
    apt.setattr(debian, "_said", lambda *_: KNOWN)
    apt.setenv("DEBIAN_MIRROR", "https://day.invalid/")
    assert [place for place, _ in places()] == ["https://day.invalid/"] * 2 + [SECURITY]
    signed = [f"signed-by={debian.KEYRING}" in line for line in debian.sources()]
    of_the_day = ["check-valid-until=no" in line for line in debian.sources()]
    assert (signed, of_the_day) == ([True] * 3, [True, True, False])


@pytest.mark.parametrize("known", ["", f"Debian|{MAIN}\n", "Ubuntu|https://mirror.invalid/\n"])
def test_a_machine_without_debian_is_told_what_to_set(apt: pytest.MonkeyPatch, known: str) -> None:
    apt.setattr(debian, "_said", lambda *_: known)
    with pytest.raises(SystemExit, match="set DEBIAN_MIRROR and DEBIAN_SECURITY_MIRROR"):
        debian.sources()


def test_what_is_told_of_a_package() -> None:
    one = Package(
        "some_1_all.deb", "a" * 64, "Package: some\nVersion: 1\nDescription: a\n Version: 2\n"
    )
    assert (one.field("Version"), one.field("Source")) == ("1", "")
    assert json.loads(debian.listed([one])) == [
        {"file": "some_1_all.deb", "sha256": "a" * 64, "version": "1"}
    ]


def test_packages_are_told_by_their_bytes(tmp_path: Path, apt: pytest.MonkeyPatch) -> None:
    apt.setattr(debian, "_said", lambda *command: f"Package: {Path(command[-1]).stem}\n")
    archives = tmp_path / "archives"
    archives.mkdir()
    for name in ("b.deb", "a.deb", "lock"):
        (archives / name).write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert debian.packages(tmp_path) == [
        Package("a.deb", empty, "Package: a\n"),
        Package("b.deb", empty, "Package: b\n"),
    ]
