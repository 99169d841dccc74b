"""docs/reference/policies.md and docs/policies say what the code does: fields, causes, examples."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from bailiff.decisions.policies import (
    NO_POLICIES,
    BlastRadius,
    Breaker,
    Breakers,
    Cause,
    EvictionApi,
    Exclusion,
    Limit,
    Limits,
    OverTime,
    OverTimeBudget,
    Pause,
    Store,
    Window,
    read,
)
from bailiff.decisions.policies.reading import WorkerPolicies

DOCS = Path(__file__).parents[4] / "docs"
REFERENCE = (DOCS / "reference" / "policies.md").read_text()
GUIDE = (DOCS / "policies" / "index.md").read_text()
EXAMPLES = [
    (page.name, example)
    for page in sorted((DOCS / "policies").glob("*.md"))
    for example in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
]


@pytest.mark.parametrize(("page", "example"), EXAMPLES)
def test_examples_can_be_read(page: str, example: str) -> None:
    assert read(example.encode()) != NO_POLICIES, page


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 3


def table(text: str, header: str, section: str) -> dict[str, str]:
    """The first two columns of a section's table, by its first heading."""
    _, _, rest = text.partition(f"\n## {section}\n")
    body = rest.partition("\n## ")[0].partition(f"| {header} |")[2]
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", body.partition("\n\n")[0], re.MULTILINE)
    return dict(rows)


@pytest.mark.parametrize(
    ("section", "header", "kind"),
    [
        ("The file", "field", WorkerPolicies),
        ("evictionApi", "field", EvictionApi),
        ("limits", "field", Limits),
        ("limits", "field of a limit", Limit),
        ("breakers", "field", Breakers),
        ("breakers", "field of a breaker", Breaker),
        ("pause", "field", Pause),
        ("exclude", "field", Exclusion),
        ("windows", "field", Window),
        ("blastRadius", "field", BlastRadius),
        ("overTime", "field", OverTime),
        ("overTime", "field of a budget", OverTimeBudget),
        ("overTime", "field of the store", Store),
    ],
)
def test_every_field_is_there_with_its_default(
    section: str, header: str, kind: type[msgspec.Struct]
) -> None:
    told = table(REFERENCE, header, section)
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    assert set(told) == set(fields)
    for name, field in fields.items():
        assert (told[name] == "required") is field.required, name
        if not field.required:
            assert told[name] in written(field.default), name


def written(default: object) -> tuple[str, ...]:
    """How a default may stand in the table."""
    if isinstance(default, Store):
        return ("see below",)
    plain = msgspec.to_builtins(default)
    if plain is None or (isinstance(plain, (dict, tuple)) and not plain):
        return ("off", "none", "never", "all")
    return (f"`{str(plain).lower() if isinstance(plain, bool) else plain}`",)


def test_every_cause_is_there_in_the_order_of_the_rules() -> None:
    assert list(table(GUIDE, "cause", "What holds what back")) == list(Cause)
