"""Objects of requests: long ones are read, and worked on, in a thread."""

import threading

from msgspec import Raw

from bailiff.decisions.admission import AdmittedPod
from bailiff.rest_api import RestSettings
from bailiff.serving import ByteBudget
from bailiff.turns import LONG_JSON
from bailiff.webhooks import ObjectReader

READER = ObjectReader(RestSettings().threads(ByteBudget()))


async def worked_in(pod: bytes) -> threading.Thread:
    return await READER.make(Raw(pod), AdmittedPod, lambda _: threading.current_thread())


async def test_a_short_one_is_read_here() -> None:
    assert await worked_in(b'{"kind": "Pod"}') is threading.main_thread()


async def test_a_long_one_in_a_thread() -> None:
    filling = b" " * LONG_JSON
    assert await worked_in(b'{"kind": "Pod"' + filling + b"}") is not threading.main_thread()
