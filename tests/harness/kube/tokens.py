"""Tokens of service accounts, as pods are given them, and ones that have expired."""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from bailiff.cluster import Request, Resource

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.cluster import Cluster
    from tests.harness.objects import Object

ACCOUNTS: Resource[Object] = Resource("", "v1", "serviceaccounts", dict)


async def token_of(cluster: Cluster, namespace: str, account: str, *audiences: str) -> str:
    """A token of an account that is there, for these audiences; none is the API server's own."""
    spec = {"audiences": list(audiences)} if audiences else {}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    path = ACCOUNTS.path(namespace, account, "token")
    answer = await cluster.send(Request("POST", path, body=json.dumps(body).encode()))
    token: str = json.loads(answer)["status"]["token"]
    return token


def expired(token: str, key: Path) -> str:
    """The same token, as it would be if it had been over for a minute.

    Args:
        token: of the API server.
        key: that it signs tokens with, in PEM; of the curve P-256.
    """
    head, payload, _ = token.split(".")
    claims = json.loads(_decoded(payload)) | {"exp": int(time.time()) - 60}
    signed = f"{head}.{_encoded(json.dumps(claims).encode())}"
    private: Any = load_pem_private_key(key.read_bytes(), None)
    r, s = utils.decode_dss_signature(private.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{signed}.{_encoded(r.to_bytes(32) + s.to_bytes(32))}"


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
