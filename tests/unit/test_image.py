"""The container image, as far as its Dockerfile tells: the product, and nothing beside it, and the
same as the image that is made without a registry."""

from __future__ import annotations

import json
import re
from pathlib import Path

from image import ENTRYPOINT, HOME, PYTHON, SITE, USER
from image.oci import LABELS, PORTS

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def instructions(name: str) -> list[str]:
    """What follows an instruction's name, its lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return re.findall(rf"^{name} (.*)$", joined, flags=re.MULTILINE)


def copied() -> set[str]:
    """Every file of the repository that a COPY line brings into the image."""
    files: set[str] = set()
    for words in map(str.split, instructions("COPY")):
        if not words[0].startswith("--from"):
            for source in words[:-1]:
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


def test_the_base_is_named_by_its_digest() -> None:
    assert {each.split()[0] for each in instructions("FROM")} == {"${BASE}"}
    (base,) = instructions("ARG")
    assert re.fullmatch(rf"BASE=python:{PYTHON}-slim@sha256:[0-9a-f]{{64}}", base)


def test_it_has_the_layout_and_the_settings_of_the_image_without_a_registry() -> None:
    assert instructions("ENTRYPOINT") == [json.dumps(ENTRYPOINT)]
    assert instructions("USER") == [f"{USER}:{USER}"]
    assert [f"{port}/tcp" for port in instructions("EXPOSE")[0].split()] == list(PORTS)
    assert f"COPY service/bailiff /{SITE}/bailiff\n" in DOCKERFILE
    assert f"COPY --from=build /{HOME} /{HOME}\n" in DOCKERFILE
    told = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"', DOCKERFILE))
    assert told == {name: LABELS[name] for name in ("title", "description", "licenses")}


def test_settings_of_the_environment_cannot_add_code() -> None:
    """What is in `-I`; variables for Python beside it would only look as if they did something."""
    assert "-I" in ENTRYPOINT
    assert [line for line in instructions("ENV") if "PYTHON" in line] == []
