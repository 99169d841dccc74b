"""The container image, as far as its Dockerfile tells: the product, and nothing beside it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def copied() -> set[str]:
    """Every file of the repository that a COPY line brings into the image."""
    files: set[str] = set()
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        words = line.split()
        if words[:1] == ["COPY"] and not words[1].startswith("--from"):
            for source in words[1:-1]:
                found = ROOT / source
                listed = found.rglob("*") if found.is_dir() else [found]
                files |= {str(path.relative_to(ROOT)) for path in listed if path.is_file()}
    return {name for name in files if not name.endswith(".pyc")}


def test_the_demo_is_not_in_the_image() -> None:
    files = copied()
    assert "service/bailiff/__main__.py" in files
    assert "requirements/run.txt" in files
    outside = {f for f in files if not f.startswith(("service/bailiff/", "requirements/run.txt"))}
    assert outside == set()
    assert not [name for name in files if "demo" in name]


def test_all_that_is_copied_reaches_the_builder() -> None:
    """.dockerignore leaves everything out but what it names."""
    kept = (ROOT / ".dockerignore").read_text().split()
    assert "*" in kept
    assert {line[1:] for line in kept if line.startswith("!")} == {
        "requirements/run.txt",
        "service/bailiff",
    }
