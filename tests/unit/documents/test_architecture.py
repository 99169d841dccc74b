"""docs/architecture/ names files, types and functions that there are, and its recipe works."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from bailiff.decisions import SYSTEMS, Options, Systems, Verdict
from bailiff.rest_api import RestSettings, create_app
from tests.harness.asking import ask
from tests.harness.corpus import CLOCK, answer_of_core
from tests.harness.device_kinds import at
from tests.harness.faces.asgi import call
from tests.harness.faces.grpc_face import ask as grpc_ask
from tests.harness.faces.grpc_face import without_zeros
from tests.harness.kinds import pod_of

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "architecture").glob("*.md"))
GUIDE = "\n".join(page.read_text() for page in PAGES)
# A file may be named from the package whose part it is.
FOLDERS = (ROOT, ROOT / "service" / "bailiff", ROOT / "service" / "bailiff_demo")

FENCED = re.compile(r"^```\w*\n.*?^```$", re.MULTILINE | re.DOTALL)
(PROGRAM,) = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w./-]*\.(?:py|proto|yaml|toml|md)\b|[\w./-]+/(?![\w{])")
WORD = re.compile(r"(?<![\w./-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
TELLING = re.compile(r"[._]|[A-Z]")


def spans(text: str) -> Iterator[str]:
    """What is written as code within sentences and tables."""
    return (found[1] for found in SPAN.finditer(FENCED.sub("", text)))


def paths(text: str) -> set[str]:
    """Files and folders; an address that begins with a slash is none."""
    found = (path for span in spans(text) for path in PATH.findall(span))
    return {path for path in found if not path.startswith("/")}


def words(text: str) -> set[str]:
    """What can only be a name of something: with a capital, a dot or an underscore."""
    found = (word for span in spans(text) for word in WORD.findall(PATH.sub("", span)))
    return {word for word in found if TELLING.search(word)}


def exists(path: str) -> bool:
    return any((folder / path).exists() for folder in FOLDERS)


class Names:
    """Every name in the tree, and the members of every class."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.members: defaultdict[str, set[str]] = defaultdict(set)
        self.bases: defaultdict[str, set[str]] = defaultdict(set)
        for folder in ("service/bailiff", "service/bailiff_demo", "tests/harness"):
            for path in (ROOT / folder).rglob("*.py"):
                self._read(ast.parse(path.read_text()))
                self.known |= {path.stem, path.parent.name}
        self._read(ast.parse(PROGRAM))
        for path in (ROOT / "protos").rglob("*.proto"):
            self.known |= set(re.findall(r"\w+", re.sub("//.*", "", path.read_text())))

    def are(self, word: str) -> bool:
        """Whether there is such a name; of a class, whether it has such a member."""
        first, *rest = word.split(".")
        owner = first if first in self.members else first.capitalize()
        if len(rest) == 1 and owner in self.members:
            return rest[0] in self._of(owner)
        return word in self.known

    def _of(self, owner: str) -> set[str]:
        above = (self._of(base) for base in self.bases[owner] if base in self.members)
        return self.members[owner].union(*above)

    def _read(self, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            match node:
                case ast.ClassDef(name=name):
                    self.known.add(name)
                    self.members[name] |= set(_members(node))
                    self.bases[name] |= {ast.unparse(base).split("[")[0] for base in node.bases}
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    self.known.add(name)
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    self.known |= {name, _camel(name)}
                case ast.Attribute(value=ast.Name(id=owner), attr=name):
                    self.known.add(f"{owner}.{name}")
                case ast.alias(name=name):
                    self.known.add(name)
                # One word that the program speaks, such as the type of a condition.
                case ast.Constant(value=str(text)) if WORD.fullmatch(text):
                    self.known.add(text)


def _members(owner: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(owner):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


@cache
def names() -> Names:
    return Names()


@pytest.mark.parametrize("path", sorted(paths(GUIDE)))
def test_every_file_that_is_named_is_there(path: str) -> None:
    assert exists(path)


@pytest.mark.parametrize("word", sorted(words(GUIDE)))
def test_every_name_is_one(word: str) -> None:
    assert names().are(word)


@pytest.mark.parametrize("path", ["decisions/answer.py", "answer.py", "worker/upkeep/"])
def test_a_file_that_is_gone_would_be_found(path: str) -> None:
    assert paths(f"see `{path}`, `/v1/queue` and `decisions`") == {path}
    assert not exists(path)


@pytest.mark.parametrize(
    "word", ["NodeFact", "System.weigh_all", "Actions.frobnicate", "actions.frobnicate", "as_told"]
)
def test_a_name_that_is_gone_would_be_found(word: str) -> None:
    assert words(f"see `{word}(1)` in `worker/worker.py`, and `decide`") == {word}
    assert not names().are(word)


def recipe() -> Systems:
    """What the guide's program makes of the systems that there are."""
    found: dict[str, Any] = {}
    exec(compile(PROGRAM, "the guide", "exec", dont_inherit=True), found)  # noqa: S102 - our own text
    return Systems((*SYSTEMS.all, found["SPOT_NODES"]))


BODY = {"pod": {"metadata": {"name": "p"}}, "spotNodes": {"reclaimAt": "2026-01-01T00:01:00Z"}}


def test_the_system_of_the_recipe_decides() -> None:
    decision = answer_of_core(recipe().questions["decide"], BODY)["decision"]
    assert (decision["verdict"], decision["decidedBy"]) == ("EVICT_AT", "spot-nodes")
    assert decision["evictAt"] == "2026-01-01T00:01:00Z"
    assert decision["eviction"]["eventReason"] == "SpotNodeReclaimed"


async def test_both_faces_answer_for_it_without_a_message_of_its_own() -> None:
    systems = recipe()
    expected = without_zeros(answer_of_core(systems.questions["decide"], BODY))
    app = create_app(RestSettings(), CLOCK, CollectorRegistry(), Options(), systems=systems)
    assert without_zeros((await call(app, "POST", "/v1/decisions", BODY)).json) == expected
    body = {"pod": BODY["pod"], "others": {"spotNodes": BODY["spotNodes"]}}
    assert without_zeros(await grpc_ask("decide", body, systems=systems)) == expected


@pytest.mark.parametrize(
    ("reclaimed", "verdict"),
    [(-1, Verdict.EVICT_NOW), (0, Verdict.EVICT_NOW), (1, Verdict.EVICT_AT)],
)
def test_the_system_of_the_recipe_knows_when(reclaimed: float, verdict: Verdict) -> None:
    systems = recipe()
    (spot,) = (system for system in systems.all if system.name == "spot-nodes")
    facts = {"spot_nodes": spot.facts(reclaim_at=at(reclaimed))}
    answer = ask("decideBatch", of=systems, pods=(pod_of("p"),), **facts)
    assert [one.verdict for one in answer.decisions] == [verdict]
