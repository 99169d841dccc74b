"""Commands of docs/runbooks that ask the API server, put to a real one: it knows what they ask for.

Those that need a kubelet, the chart, or another program are not run: logs, forwarded ports, jobs,
what a node's proxy answers. docs/runbooks/node-silent.md has a test of its own.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.kube.hooks import kubectl

if TYPE_CHECKING:
    from tests.harness.api import Api

pytestmark = pytest.mark.kube_apiserver

RUNBOOKS = Path(__file__).parents[2] / "docs" / "runbooks"
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
VERBS = {"get", "auth", "api-resources", "annotate", "taint"}
# Of cert-manager, of kubelets, and in a loop.
NOT_HERE = re.compile(r"\bcertificates\b|/proxy/|[$]")
PLACES = {"NODE": "node-a", "POD": "pod-a", "NAMESPACE": "bailiff"}


def commands() -> list[str]:
    found = [
        command
        for page in sorted(RUNBOOKS.glob("*.md"))
        if page.stem != "node-silent"
        for block in BLOCK.findall(page.read_text())
        for command in re.findall(r"^ *(kubectl .+)$", re.sub(r"\\\n *", "", block), re.MULTILINE)
    ]
    plain = dict.fromkeys(re.split(r"\s+(?:\||#|&$)", command)[0] for command in found)
    return [one for one in plain if _verb(one) in VERBS and not NOT_HERE.search(one)]


def _verb(command: str) -> str:
    words = shlex.split(command)[1:]
    return words[2] if words[0] == "-n" else words[0]


@pytest.mark.parametrize("command", commands())
async def test_the_api_server_knows_what_is_asked_for(api: Api, command: str) -> None:
    _, *words = (PLACES.get(word, word) for word in shlex.split(command))
    ran = await kubectl(api.kubeconfig, *words)
    # An object that is not there is none of the command's faults, nor is a right that is missing.
    is_answered = "(NotFound)" in ran.errors or ran.out.strip() == "no"
    assert ran.code == 0 or is_answered, ran


def test_there_are_commands_to_run() -> None:
    assert len(commands()) > 20
