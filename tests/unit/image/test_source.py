"""When the code was last changed, and what of it is laid out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bailiff import __version__
from image import HOME, ROOT, SITE, oci, source
from image.source import Source


def test_the_variable_wins_over_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    found = source.source()
    assert (found.version, found.epoch) == (__version__, 1_700_000_000)
    assert found.created == "2023-11-14T22:13:20Z"


@pytest.mark.parametrize("told", ["", "yesterday", "-1", "1.5"])
def test_a_tree_without_a_time_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", told)
    monkeypatch.setattr(source, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="set SOURCE_DATE_EPOCH"):
        source.source()


def test_a_tree_outside_of_git_has_no_revision(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setattr(source, "ROOT", tmp_path)
    found = source.source()
    assert found.revision == ""
    assert "org.opencontainers.image.revision" not in oci.labels(found)


def test_labels_are_those_of_the_specification() -> None:
    labels = oci.labels(Source("1.2.3", 0, "abc"))
    assert labels["org.opencontainers.image.version"] == "1.2.3"
    assert labels["org.opencontainers.image.revision"] == "abc"
    assert labels["org.opencontainers.image.created"] == "1970-01-01T00:00:00Z"


def test_the_product_is_laid_out_and_nothing_beside_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(source, "_install", lambda site, platform: site.mkdir(parents=True))
    before = os.umask(0o077)
    try:
        source.lay_out(tmp_path / "tree", "any")
    finally:
        os.umask(before)
    tree = tmp_path / "tree"
    names = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}
    client = ROOT / "service" / "bailiff" / "client"  # a distribution of its own
    ours = {
        str(path.relative_to(ROOT / "service"))
        for path in (ROOT / "service" / "bailiff").rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not path.is_relative_to(client)
    }
    laid = {name.removeprefix(f"{SITE}/") for name in names if name.startswith(SITE)}
    assert laid == ours
    assert (tree / HOME / "bin" / "python").readlink() == Path("/usr/bin/python3.13")
    modes = {path.stat().st_mode & 0o777 for path in (tree / SITE).rglob("*")}
    assert modes <= {0o755, 0o644}
