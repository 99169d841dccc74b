"""What is said of how the image came about."""

from __future__ import annotations

import json

import pytest

from image.debian import Package
from image.provenance import provenance
from image.source import Source

DEB = Package("some_1_all.deb", "a" * 64, "Package: some\n")
BUILDER = "https://ci.example.com/builders/1"


@pytest.mark.parametrize(
    ("revision", "commits"), [("abc", [{"gitCommit": "abc"}]), ("abc-dirty", []), ("", [])]
)
def test_provenance(revision: str, commits: list[dict[str, str]]) -> None:
    told = json.loads(provenance(Source("1.2.3", 0, revision), [DEB], BUILDER))
    assert told["runDetails"]["builder"]["id"] == BUILDER
    definition = told["buildDefinition"]
    assert definition["externalParameters"]["revision"] == revision
    named = {each["name"]: each["digest"] for each in definition["resolvedDependencies"]}
    assert named["some_1_all.deb"] == {"sha256": "a" * 64}
    assert len(named["requirements/run.txt"]["sha256"]) == 64
    assert [digest for name, digest in named.items() if name == "bailiff"] == commits
