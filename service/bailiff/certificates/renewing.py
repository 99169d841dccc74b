"""Carries a plan out: the Secret, and the webhook configurations that name its authorities."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bailiff.certificates.issuing import issue
from bailiff.certificates.plan import Plan, Step, plan
from bailiff.cluster import ConflictError, NotFoundError, PatchType, Resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.certificates.plan import Terms
    from bailiff.clock import Clock
    from bailiff.cluster import Cluster

Object = dict[str, Any]

SECRETS: Resource[Object] = Resource("", "v1", "secrets", dict)
# Times that they are looked at until they stay as they are to be.
MOST_SETTLED = 5
_GROUP = ("admissionregistration.k8s.io", "v1")
# By the words of the command line.
BUNDLED: Mapping[str, Resource[Object]] = {
    "MutatingWebhookConfiguration": Resource(
        *_GROUP, "mutatingwebhookconfigurations", dict, namespaced=False
    ),
    "ValidatingWebhookConfiguration": Resource(
        *_GROUP, "validatingwebhookconfigurations", dict, namespaced=False
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where certificates are kept, and who believes them.

    Attributes:
        namespace: of the Secret.
        secret: its name. It has to be there, if empty: the right to make Secrets cannot be
            limited to one of them.
        webhooks: kind and name of each configuration, kinds as in BUNDLED.
    """

    namespace: str
    secret: str
    webhooks: tuple[tuple[str, str], ...] = ()


class Renewal:
    """One look at a certificate, and what follows from it. Every method raises ClusterError."""

    def __init__(self, cluster: Cluster, clock: Clock, place: Place, settle_seconds: float) -> None:
        """Prepare.

        Args:
            cluster: where the Secret is.
            clock: for the instant. It should go by the API server's: it is asked after an answer of
                it.
            place: see there.
            settle_seconds: between the moment that webhook configurations name a new authority and
                the one that its certificate is served: until all API servers know of it.
        """
        self._cluster = cluster
        self._clock = clock
        self._place = place
        self._settle_seconds = settle_seconds
        self._missing: NotFoundError | None = None
        self._told: dict[str, None] = {}

    async def run(self, terms: Terms, *, force: bool = False) -> Plan:
        """Do what is to be done; what that was.

        Raises:
            ConflictError: somebody else has written the Secret meanwhile; nothing of his is lost.
            NotFoundError: a webhook configuration is not there; all else was done.
        """
        self._missing, self._told = None, {}
        secret = await self._cluster.get(SECRETS, self._place.secret, self._place.namespace)
        held = _data(secret)
        if not held.get("ca.crt"):
            # Pods may still serve another certificate, of which this Secret knows nothing.
            held = held | {"ca.crt": await self._believed()}
        found = plan(held, terms, self._clock.latest(), force=force)
        match found.step:
            case Step.ISSUE:
                await self._issue(secret, found, terms)
            case Step.PRUNE:
                # First, so that nothing is taken from whoever has issued a new one meanwhile.
                await self._write(secret, {"ca.crt": b"".join(found.authorities)})
                await self._believe(found.authorities)
            case Step.NONE:
                await self._believe(found.authorities, alone=False)
        if self._missing is not None:
            raise self._missing
        return replace(found, told=tuple(self._told))

    async def _issue(self, secret: Object, found: Plan, terms: Terms) -> None:
        made = issue(terms.names, self._clock.latest(), terms.life)
        bundle = (*found.authorities, made.authority)
        files = {"ca.crt": b"".join(bundle), "tls.crt": made.certificate, "tls.key": made.key}
        if not _data(secret).get("tls.crt"):
            # Pods wait for their first one, and nobody is told whom to believe yet.
            await self._write(secret, files)
            await self._believe(bundle)
            return
        # Before anybody serves what the new authority vouches for.
        secret = await self._write(secret, {"ca.crt": files["ca.crt"]})
        await self._settle(bundle)
        await self._write(secret, files)

    async def _settle(self, bundle: tuple[bytes, ...]) -> None:
        """Until all API servers believe these.

        Another run, which began before ours, may take our authority away again meanwhile.
        """
        for _ in range(MOST_SETTLED):
            if not await self._believe(bundle):
                return
            await asyncio.sleep(self._settle_seconds)
        raise ConflictError(
            "somebody else changes the authorities of the webhooks, too", status=409
        )

    async def _believed(self) -> bytes:
        """Whom webhook configurations name now, as far as they are there."""
        named: dict[str, None] = {}
        for kind, name in self._place.webhooks:
            with contextlib.suppress(NotFoundError):
                found = await self._cluster.get(BUNDLED[kind], name)
                named |= dict.fromkeys(
                    one.get("clientConfig", {}).get("caBundle", "")
                    for one in found.get("webhooks") or ()
                )
        return b"\n".join(map(base64.b64decode, named))

    async def _believe(self, authorities: tuple[bytes, ...], *, alone: bool = True) -> bool:
        """Have webhook configurations name these; whether any of them had to be changed.

        Args:
            authorities: all of them, each in PEM.
            alone: and no others; else those that are named besides stay where none is missing.
        """
        has_changed = False
        for kind, name in self._place.webhooks:
            try:
                found = await self._cluster.get(BUNDLED[kind], name)
            except NotFoundError as error:
                # Deleted, as in an emergency: the certificate is for others, too.
                self._missing = self._missing or error
                continue
            changes = _changes(found, authorities, alone=alone)
            if changes:
                has_changed = True
                self._told[f"{kind} {name}"] = None
                await self._cluster.patch(
                    BUNDLED[kind], name, "", changes, patch_type=PatchType.JSON
                )
        return has_changed

    async def _write(self, secret: Object, files: Mapping[str, bytes]) -> Object:
        """Write these over the version that was read."""
        data = {name: base64.b64encode(content).decode() for name, content in files.items()}
        version = {"resourceVersion": secret["metadata"]["resourceVersion"]}
        return await self._cluster.patch(
            SECRETS,
            self._place.secret,
            self._place.namespace,
            {"metadata": version, "data": data},
            patch_type=PatchType.MERGE,
        )


def _changes(configuration: Object, authorities: tuple[bytes, ...], *, alone: bool) -> list[Object]:
    """Of a JSON patch: where a webhook names other authorities."""
    bundle = base64.b64encode(b"".join(authorities)).decode()
    changes: list[Object] = []
    for index, webhook in enumerate(configuration.get("webhooks") or []):
        named = webhook.get("clientConfig", {}).get("caBundle") or ""
        if named != bundle and (alone or not _names_all(named, authorities)):
            path = f"/webhooks/{index}"
            # The list may have changed since: then all of it is refused.
            changes.append({"op": "test", "path": f"{path}/name", "value": webhook["name"]})
            changes.append({"op": "add", "path": f"{path}/clientConfig/caBundle", "value": bundle})
    return changes


def _names_all(bundle: str, authorities: tuple[bytes, ...]) -> bool:
    named = base64.b64decode(bundle)
    return bool(authorities) and all(one.strip() in named for one in authorities)


def _data(secret: Object) -> dict[str, bytes]:
    try:
        return {name: base64.b64decode(text) for name, text in (secret.get("data") or {}).items()}
    except binascii.Error:
        return {}
