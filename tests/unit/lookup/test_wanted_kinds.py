"""A kind that a system wants to see is known wherever objects are read for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest

from bailiff.cli.objects import KINDS
from bailiff.cluster import Cluster
from bailiff.decisions import SYSTEMS, NotRead, OfKubelet, Options, Scene, System, Why
from bailiff.kinds import Namespace, Node, Pod
from bailiff.kinds.lease import Lease
from bailiff.kinds.meta import Value
from bailiff.lookup import ClusterSource
from tests.harness.clocks import ManualClock
from tests.harness.device_kinds import NOW, claim, using
from tests.harness.kinds import node_of
from tests.harness.lookups import FailingCluster
from tests.harness.ranking_system import SEATING

ROLE = Path(__file__).parents[3] / "helm" / "bailiff" / "templates" / "api" / "rbac.yaml"
# Of what is asked for by an option, too.
ASKED = Options(node_loss=True)
LOOK_UP, FILES, CHART = "lookup/source.py", "cli/objects.py", "the chart's role of the API"


async def who_does_not_know(kind: type[Value]) -> list[str]:
    missing = []
    cluster = cast(Cluster, FailingCluster((), {}))
    plural = f"{kind.__name__.lower()}s"
    try:
        plural = (await ClusterSource(cluster, ManualClock())._resource(kind)).plural
    except TypeError:
        missing.append(LOOK_UP)
    if kind not in KINDS.values():
        missing.append(FILES)
    role = ROLE.read_text()
    of_nodes = kind is Lease and 'include "bailiff.nodeLeases" (append $api (list "get"))' in role
    if not of_nodes and not re.search(rf"resources: \[{plural}\]\n\s+verbs: \[.*list\]", role):
        missing.append(CHART)
    return missing


@pytest.mark.parametrize("system", [*SYSTEMS.all, SEATING], ids=lambda system: system.name)
async def test_every_kind_that_a_system_wants_is_known(system: System[Any]) -> None:
    for kind in system.wants:
        assert await who_does_not_know(kind) == []


class Unheard(Value, frozen=True):
    """Nobody knows it."""


async def test_one_that_is_not_known_would_be_found() -> None:
    assert await who_does_not_know(Unheard) == [LOOK_UP, FILES, CHART]
    assert await who_does_not_know(Namespace) == [FILES, CHART]


def wanted_by(system: System[Any]) -> set[type[Value]]:
    """The kinds that it wants to see for a pod with a claim, shown that claim."""
    pod = using("c")
    looking = system.look_up(Scene((pod,), NOW, node_of("node"), neighbours=()), ASKED)
    found: set[type[Value]] = set()
    try:
        wanted = next(looking)
        while True:
            if isinstance(wanted, OfKubelet):
                wanted = looking.send(NotRead(Why.NOT_ASKED, ""))
                continue
            found.add(wanted.kind)
            given = claim("c")
            wanted = looking.send((given,) if wanted.kind is type(given) else ())
    except StopIteration:
        return found


@pytest.mark.parametrize("system", [*SYSTEMS.all, SEATING], ids=lambda system: system.name)
def test_a_system_wants_what_it_says_that_it_does(system: System[Any]) -> None:
    wanted = wanted_by(system) - {Node, Pod}
    assert wanted <= set(system.wants)
    assert bool(wanted) is bool(system.wants)
