"""The guide of the client, executed; and its tables against the code, so that they cannot drift."""

from __future__ import annotations

import dataclasses
import re

import pytest

from bailiff.client import (
    Asking,
    AsyncGrpcClient,
    AsyncRestClient,
    BailiffError,
    ClientSettings,
    GrpcClient,
    RestClient,
    Retries,
)
from tests.harness.transcripts import ROOT, run, skip_without_programs, transcripts

PAGES = sorted((ROOT / "docs" / "api").glob("client*.md"))
TEXT = "\n".join(page.read_text() for page in PAGES)
TRANSCRIPTS = [steps for page in PAGES for steps in transcripts(page)]
NOT_ASKED = {"ask", "ask_in_parts", "close"}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")} - NOT_ASKED


@pytest.mark.process
@pytest.mark.parametrize("steps", TRANSCRIPTS, ids=lambda steps: steps[0].command.split()[2])
def test_transcript(up, steps, tmp_path):
    skip_without_programs(steps)
    for step in steps:
        done = run(step, up, tmp_path)
        assert done.stdout == step.output, (step.command, done.stdout, done.stderr)


def test_every_method_is_told():
    methods = public(GrpcClient) | public(RestClient)
    assert methods == public(AsyncGrpcClient) | public(AsyncRestClient)
    assert all(f"`{name}`" in TEXT for name in methods)
    assert public(Asking) == public(GrpcClient) & public(RestClient)


def test_every_setting_is_told_with_its_default():
    fields = {field.name: field.default for field in dataclasses.fields(ClientSettings)}
    for name, default in fields.items():
        row = re.search(rf"^\| `{name}` \| ([^|]+) \|", TEXT, re.MULTILINE)
        assert row is not None, name
        if isinstance(default, float):
            assert row[1].strip() == f"{default:g} s"
        elif not isinstance(default, dataclasses._MISSING_TYPE):
            assert row[1].strip() == str(default)
    retries = Retries()
    told = f"`attempts` {retries.attempts}, `first_pause` {retries.first_pause:g} s"
    assert told in TEXT
    assert f"`longest_pause` {retries.longest_pause:g} s, `budget` {retries.budget}" in TEXT


def test_every_exception_is_told():
    kinds = {kind.__name__ for kind in BailiffError.__subclasses__()}
    assert all(f"`{name}`" in TEXT for name in kinds)
