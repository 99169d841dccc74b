"""What callers of secured ports have. A process of ours is told it by its environment."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Sequence
from dataclasses import asdict, dataclass

_VARIABLE = "ATTACK_ACCESS"


@dataclass(frozen=True)
class Access:
    """What is served with, and who is known.

    Attributes:
        ca: the file of the authority that has signed the certificate.
        token: of a caller who has the rights that it needs.
        guest: of one who is known and has none.
        fresh: further tokens of the former, which nobody has shown yet.
    """

    ca: str
    token: str
    guest: str
    fresh: Sequence[str] = ()

    @property
    def tls(self) -> ssl.SSLContext:
        """Of a client that looks at the certificate."""
        return ssl.create_default_context(cafile=self.ca)


def bearer(token: str) -> dict[str, str]:
    """The header that proves who asks."""
    return {"Authorization": f"Bearer {token}"}


def environment(access: Access | None) -> dict[str, str]:
    """Of a process that is to know it."""
    told = {_VARIABLE: json.dumps(asdict(access))} if access else {}
    return os.environ | told


def given() -> Access | None:
    """What this process was told; None: what it asks is not secured."""
    text = os.environ.get(_VARIABLE)
    return Access(**json.loads(text)) if text else None
