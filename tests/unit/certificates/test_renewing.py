"""How a certificate is replaced beside others who do the same, on virtual time."""

from __future__ import annotations

import asyncio
import base64
import copy
import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from bailiff.certificates import Issued, Place, Renewal, Step
from bailiff.certificates.renewing import BUNDLED, SECRETS
from bailiff.cluster import ConflictError, InvalidError, NotFoundError
from tests.harness.certificates import NOW, TERMS, holding, made

pytestmark = pytest.mark.looptime

KIND = "ValidatingWebhookConfiguration"
PLACE = Place(namespace="b", secret="tls", webhooks=((KIND, "b"),))


class Clock:
    def latest(self) -> dt.datetime:
        return NOW


class FakeCluster:
    """One Secret and one webhook configuration; what is written over an old version is refused.

    Attributes:
        secret: as it is.
        webhooks: whom each believes, by name.
        latency: seconds that it takes to read the Secret.
    """

    def __init__(self, held: dict[str, bytes], believed: bytes) -> None:
        data = {name: base64.b64encode(one).decode() for name, one in held.items()}
        self.secret: Any = {"metadata": {"resourceVersion": "1"}, "data": data}
        self.webhooks = {"a": believed, "b": believed}
        self.latency = 0.0

    @property
    def bundle(self) -> bytes:
        """Whom all of them believe."""
        (found,) = set(self.webhooks.values())
        return found

    @bundle.setter
    def bundle(self, authorities: bytes) -> None:
        self.webhooks = dict.fromkeys(self.webhooks, authorities)

    async def get(self, resource: Any, name: str, _namespace: str = "") -> Any:
        if resource is SECRETS:
            seen = copy.deepcopy(self.secret)
            await asyncio.sleep(self.latency)
            return seen
        if name == "gone":
            raise NotFoundError("deleted", status=404)
        return {"webhooks": [written(*one) for one in self.webhooks.items()]}

    async def patch(self, resource: Any, _name: str, _namespace: str, body: Any, **_: Any) -> Any:
        if resource is BUNDLED[KIND]:
            self._change(body)
            return {}
        if body["metadata"]["resourceVersion"] != self.secret["metadata"]["resourceVersion"]:
            raise ConflictError("written meanwhile", status=409)
        self.secret["metadata"]["resourceVersion"] += "1"
        self.secret["data"] |= body["data"]
        return copy.deepcopy(self.secret)

    def _change(self, patch: list[dict[str, Any]]) -> None:
        """As RFC 6902 has it, of what is written of webhooks: all of it, or nothing."""
        changed, names = dict(self.webhooks), list(self.webhooks)
        for operation in patch:
            index, field = operation["path"].removeprefix("/webhooks/").split("/", 1)
            name = names[int(index)]
            match operation["op"], field:
                case "test", "name":
                    if operation["value"] != name:
                        raise InvalidError("the server rejected our request", status=422)
                case "add", "clientConfig/caBundle":
                    changed[name] = base64.b64decode(operation["value"])
                case other:
                    raise AssertionError(other)
        self.webhooks = changed


def written(name: str, believed: bytes) -> dict[str, Any]:
    """A webhook as JSON."""
    return {"name": name, "clientConfig": {"caBundle": base64.b64encode(believed).decode()}}


def renewal(cluster: FakeCluster, place: Place = PLACE) -> Renewal:
    return Renewal(cluster, Clock(), place, 30.0)  # type: ignore[arg-type]  # their stand-ins


@pytest.fixture
def one() -> Issued:
    return made()


async def test_nobody_serves_what_is_not_believed_whoever_takes_it_away_meanwhile(
    one: Issued,
) -> None:
    cluster = FakeCluster(holding(one), one.authority)
    run = asyncio.create_task(renewal(cluster).run(TERMS, force=True))
    await asyncio.sleep(20)
    assert one.authority in cluster.bundle
    assert cluster.bundle != one.authority
    cluster.bundle = one.authority
    await asyncio.sleep(20)
    assert base64.b64decode(cluster.secret["data"]["tls.crt"]) == one.certificate
    await run
    assert base64.b64decode(cluster.secret["data"]["tls.crt"]) != one.certificate
    assert cluster.bundle == base64.b64decode(cluster.secret["data"]["ca.crt"])


async def test_a_run_that_has_nothing_to_do_takes_nothing_away(one: Issued) -> None:
    cluster = FakeCluster(holding(one), one.authority)
    cluster.latency = 5.0
    idle = asyncio.create_task(renewal(cluster).run(TERMS))
    cluster.bundle = one.authority + made().authority
    both = cluster.bundle
    done = await idle
    assert (done.step, done.told) == (Step.NONE, ())
    assert cluster.bundle == both
    cluster.bundle = made().authority
    done = await renewal(cluster).run(TERMS)
    assert (done.step, done.told) == (Step.NONE, (f"{KIND} b",))
    assert cluster.bundle == one.authority


async def test_the_old_authority_is_not_taken_away_over_what_somebody_has_written(
    one: Issued,
) -> None:
    later = made(NOW - dt.timedelta(days=1))
    cluster = FakeCluster(holding(later, one), one.authority + later.authority)
    cluster.latency = 5.0
    prunes = asyncio.create_task(renewal(cluster).run(TERMS))
    await asyncio.sleep(1)
    cluster.secret["metadata"]["resourceVersion"] = "another"
    with pytest.raises(ConflictError):
        await prunes
    assert cluster.bundle == one.authority + later.authority


async def test_whoever_fights_over_the_authorities_is_told_so(one: Issued) -> None:
    cluster = FakeCluster(holding(one), one.authority)

    async def takes_away() -> None:
        while True:
            cluster.bundle = one.authority
            await asyncio.sleep(7)

    other, began = asyncio.create_task(takes_away()), asyncio.get_running_loop().time()
    with pytest.raises(ConflictError, match="somebody else changes"):
        await renewal(cluster).run(TERMS, force=True)
    other.cancel()
    assert asyncio.get_running_loop().time() - began == pytest.approx(5 * 30)
    assert base64.b64decode(cluster.secret["data"]["tls.crt"]) == one.certificate


async def test_no_webhook_is_told_to_believe_what_is_meant_for_another(one: Issued) -> None:
    cluster = FakeCluster(holding(one), one.authority)
    mine, theirs = made().authority, made().authority
    cluster.webhooks = {"ours": mine, "another's": theirs}
    patch = cluster.patch

    async def overtaken(*request: Any, **how: Any) -> Any:
        # The list has changed since it was read.
        cluster.webhooks = {"another's": theirs, "ours": mine}
        return await patch(*request, **how)

    cluster.patch = overtaken  # type: ignore[method-assign]  # somebody is quicker
    with pytest.raises(InvalidError):
        await renewal(cluster)._believe((one.authority,))
    assert cluster.webhooks == {"another's": theirs, "ours": mine}


async def test_a_configuration_that_was_deleted_keeps_the_others_from_nothing(one: Issued) -> None:
    cluster = FakeCluster(holding(one), one.authority)
    place = replace(PLACE, webhooks=((KIND, "gone"), (KIND, "b")))
    with pytest.raises(NotFoundError):
        await renewal(cluster, place).run(TERMS, force=True)
    assert base64.b64decode(cluster.secret["data"]["tls.crt"]) != one.certificate
    assert cluster.bundle == base64.b64decode(cluster.secret["data"]["ca.crt"])
