"""What the command gives a renewal: the API server's clock, and time for all that it may wait."""

from __future__ import annotations

import base64
import datetime as dt
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509

from bailiff.bootstrap import certificates
from bailiff.bootstrap.choices import ClusterChoice
from bailiff.certificates import MOST_SETTLED, Place
from bailiff.cluster.exchanges import Exchange
from tests.harness.certificates import TERMS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bailiff.cluster.exchanges import Observer

CHOICE = ClusterChoice()
PLACE = Place(namespace="b", secret="tls")


class EmptySecret:
    """A cluster with one Secret that holds nothing yet, whose answers say this time."""

    def __init__(self, now: dt.datetime, observers: Sequence[Observer]) -> None:
        self._date = format_datetime(now.replace(microsecond=0), usegmt=True)
        self._observers = observers
        self.written: Any = None

    def _answer(self, method: str) -> Any:
        for observer in self._observers:
            observer(Exchange(method, "secrets", 200, 0.0, self._date))
        return {"metadata": {"resourceVersion": "1"}, "data": {}}

    async def get(self, *_: Any) -> Any:
        return self._answer("GET")

    async def patch(self, _kind: Any, _name: str, _namespace: str, body: Any, **_: Any) -> Any:
        self.written = body
        return self._answer("PATCH")


@pytest.mark.parametrize("skew", [dt.timedelta(days=61), dt.timedelta(days=-61)], ids=str)
async def test_a_certificate_is_valid_by_the_api_servers_clock(
    skew: dt.timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = dt.datetime.now(dt.UTC) - skew
    begun: list[tuple[EmptySecret, Awaitable[Any]]] = []

    def use(
        _choice: ClusterChoice,
        act: Callable[[Any], Awaitable[Any]],
        observers: Sequence[Observer],
        within: float,
    ) -> None:
        cluster = EmptySecret(theirs, observers)
        begun.append((cluster, act(cluster)))
        assert within > MOST_SETTLED * 30.0

    monkeypatch.setattr(certificates, "use_cluster", use)
    certificates.renew_certificate(CHOICE, PLACE, TERMS, 30.0, force=False)
    [(cluster, renewing)] = begun
    await renewing
    pem = base64.b64decode(cluster.written["data"]["tls.crt"])
    [served] = x509.load_pem_x509_certificates(pem)
    assert served.not_valid_before_utc <= theirs <= served.not_valid_after_utc
    assert abs(served.not_valid_after_utc - TERMS.life - theirs) < dt.timedelta(hours=2)
