"""PodGroups, in whichever version a cluster serves them."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from bailiff.cluster import Cluster, ForbiddenError, NotFoundError, Resource
from bailiff.kinds import PodGroup, decode
from bailiff.lookup import ForbiddenError as MayNotError
from bailiff.lookup import PodGroups
from tests.harness.clocks import ManualClock

ALL: dict[str, Any] = {"all": {}}
SINGLE: dict[str, Any] = {"single": {}}


class Serving:
    """A cluster that serves PodGroups in one version, by name: the disruptionMode."""

    def __init__(self, version: str, **modes: Any) -> None:
        self.version, self.modes = version, modes
        self.asked: list[str] = []
        self.error: Exception | None = None

    async def get(self, resource: Resource[Any], name: str, _namespace: str) -> PodGroup:
        self.asked.append(resource.version)
        if self.error is not None:
            raise self.error
        if resource.version != self.version:
            # As an API server answers for a path that it does not serve.
            raise NotFoundError("404 page not found", status=404)
        if name not in self.modes:
            details = {"group": resource.group, "kind": resource.plural, "name": name}
            raise NotFoundError("none", status=404, reason="NotFound", details=details)
        spec = {"disruptionMode": self.modes[name]}
        return decode(json.dumps({"metadata": {"name": name}, "spec": spec}).encode(), PodGroup)


def groups(serving: Serving, clock: ManualClock | None = None) -> PodGroups:
    return PodGroups(cast(Cluster, serving), clock or ManualClock())


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha3"])
@pytest.mark.parametrize(
    ("mode", "whole"), [(ALL, True), (SINGLE, False), (None, False), ({}, False)]
)
async def test_as_1_37_serves_them(version: str, mode: Any, whole: bool) -> None:
    assert await groups(Serving(version, g=mode)).goes_whole("shop", "g") is whole


@pytest.mark.parametrize(("mode", "whole"), [("PodGroup", True), ("Pod", False), (None, False)])
async def test_as_1_36_serves_them(mode: Any, whole: bool) -> None:
    assert await groups(Serving("v1alpha2", g=mode)).goes_whole("shop", "g") is whole


async def test_the_version_that_has_answered_is_asked_first_from_then_on() -> None:
    serving = Serving("v1alpha3", a=ALL, b=ALL)
    found = groups(serving)
    assert await found.goes_whole("shop", "a")
    assert await found.goes_whole("shop", "b")
    assert serving.asked == ["v1beta1", "v1alpha3", "v1alpha3"]


async def test_so_is_one_that_has_answered_that_there_is_none_of_the_name() -> None:
    serving = Serving("v1alpha2", b=ALL)
    found = groups(serving)
    assert not await found.goes_whole("shop", "a")
    assert await found.goes_whole("shop", "b")
    assert serving.asked == ["v1beta1", "v1alpha3", "v1alpha2", "v1alpha2"]


class Held(Serving):
    """Answers about the group `held` only once it is told to."""

    def __init__(self, version: str, **modes: Any) -> None:
        super().__init__(version, **modes)
        self.go = asyncio.Event()

    async def get(self, resource: Resource[Any], name: str, namespace: str) -> PodGroup:
        if name == "held":
            await self.go.wait()
        return await super().get(resource, name, namespace)


async def test_who_asks_meanwhile_is_asked_for_in_every_version_all_the_same() -> None:
    serving = Held("v1alpha2", held=ALL, b=ALL)
    found = groups(serving)
    held = asyncio.create_task(found.goes_whole("shop", "held"))
    await asyncio.sleep(0)
    assert await found.goes_whole("shop", "b"), "from now on that version stands first"
    serving.go.set()
    assert await held


async def test_where_that_is_served_no_longer_the_others_are_asked() -> None:
    serving = Serving("v1alpha2", a=ALL, b=ALL)
    found = groups(serving)
    assert await found.goes_whole("shop", "a")
    serving.version = "v1alpha3"
    assert await found.goes_whole("shop", "b")
    assert serving.asked[3:] == ["v1alpha2", "v1beta1", "v1alpha3"], "the others in their order"


async def test_where_there_is_none_of_the_name_or_none_are_served_nothing_goes_whole() -> None:
    assert not await groups(Serving("v1alpha3")).goes_whole("shop", "g")
    assert not await groups(Serving("v9", g=ALL)).goes_whole("shop", "g")


async def test_it_is_believed_for_five_seconds() -> None:
    clock, serving = ManualClock(), Serving("v1beta1", g=ALL)
    found = groups(serving, clock)
    assert await found.goes_whole("shop", "g")
    serving.modes["g"] = SINGLE
    assert await found.goes_whole("shop", "g")
    clock.advance(5)
    assert not await found.goes_whole("shop", "g")


async def test_what_may_not_be_read_says_which_permission_it_takes() -> None:
    serving = Serving("v1beta1", g=ALL)
    serving.error = ForbiddenError("no", status=403)
    with pytest.raises(MayNotError, match=r"get podgroups\.scheduling\.k8s\.io"):
        await groups(serving).goes_whole("shop", "g")
