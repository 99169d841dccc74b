"""A collector that is away, slow, hostile or full: nobody waits for it, and nothing grows."""

from __future__ import annotations

import asyncio
import threading
import time
import tracemalloc

import pytest
import requests
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from requests.adapters import HTTPAdapter

from bailiff.tracing.sending import Tracing, _Adapter
from bailiff.tracing.settings import TracingUnusableError, tracing_settings
from tests.harness.kube.programs import free_port
from tests.harness.tracing import Collector, Ledger, busy, taken

SECRET = "s3cret"


@pytest.fixture
def collector():
    with Collector().serving() as serving:
        yield serving


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Sent every 20 ms, and given up after half a second."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Bearer%20{SECRET}")


def tracing_to(url, ledger, per_million=None):
    return Tracing(tracing_settings(url, per_million), "bailiff-test", ledger.told())


def spans(tracing, count, name="one"):
    """How many seconds so many spans take whoever makes them."""
    began = time.perf_counter()
    for number in range(count):
        with tracing.tracer.span(name, {"bailiff.pods": number}):
            pass
    return time.perf_counter() - began


async def until(holds, within=10.0):
    async with asyncio.timeout(within):
        while not holds():
            await asyncio.sleep(0.01)


async def test_spans_reach_a_collector_with_its_headers_and_who_sends_them(collector):
    ledger = Ledger()
    tracing = tracing_to(collector.url, ledger)
    spans(tracing, 3)
    await until(lambda: ledger.fates["exported"] == 3)
    await tracing.close(1)
    assert [one.attributes["bailiff.pods"] for one in collector.spans()] == [0, 1, 2]
    assert {one.service for one in collector.spans()} == {"bailiff-test"}
    assert collector.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert ledger.lines == []


async def test_the_service_is_called_as_the_environment_says(collector, monkeypatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")
    tracing = tracing_to(collector.url, Ledger())
    spans(tracing, 1)
    await tracing.close(5)
    assert collector.spans()[0].service == "mine"


async def test_what_waits_is_sent_when_the_process_ends(collector, monkeypatch):
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
    ledger = Ledger()
    tracing = tracing_to(collector.url, ledger)
    spans(tracing, 1000)
    assert collector.spans() == [] or len(collector.spans()) == 512
    await tracing.close(5)
    assert len(collector.spans()) == 1000
    assert ledger.fates == {"exported": 1000}


async def test_a_collector_that_is_away_is_told_of_once_in_a_while_and_without_secrets(caplog):
    ledger = Ledger()
    tracing = tracing_to(f"http://127.0.0.1:{free_port()}", ledger)
    for wave in range(1, 4):
        spans(tracing, 10)
        await until(lambda wave=wave: ledger.fates["failed"] >= 10 * wave)
    await tracing.close(1)
    assert ledger.fates == {"failed": 30}
    [(event, facts)] = ledger.lines
    assert (event, facts["why"]) == ("spans not taken", "ConnectionError")
    assert caplog.records == []


async def test_what_a_collector_says_is_not_repeated(collector, caplog, capfd):
    collector.answer = busy
    ledger = Ledger()
    tracing = tracing_to(collector.url, ledger)
    spans(tracing, 1)
    await until(lambda: ledger.fates["failed"])
    await tracing.close(1)
    assert [facts["why"] for _, facts in ledger.lines] == ["HTTP 400"]
    assert SECRET not in str(ledger.lines) + caplog.text + str(capfd.readouterr())


async def test_one_that_hangs_keeps_neither_who_makes_spans_nor_the_end(collector, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "60")
    hangs = threading.Event()
    collector.answer = lambda _: hangs.wait()
    ledger = Ledger()
    tracing = tracing_to(collector.url, ledger)
    try:
        assert spans(tracing, 20_000) < 5
        began = time.monotonic()
        await tracing.close(0.3)
        assert time.monotonic() - began < 1
    finally:
        hangs.set()
    # Also what the collector has in hand.
    assert ledger.fates == {"dropped": 20_000}


async def test_what_is_answered_after_the_end_changes_no_count():
    goes_on, answered = threading.Event(), threading.Event()

    class Slow(InMemorySpanExporter):
        def export(self, spans):
            goes_on.wait(10)
            answered.set()
            return super().export(spans)

    ledger = Ledger()
    settings = tracing_settings("http://collector", None)
    tracing = Tracing(settings, "bailiff-test", ledger.told(), Slow())
    spans(tracing, 3)
    await tracing.close(0.2)
    assert ledger.fates == {"dropped": 3}
    goes_on.set()
    await until(answered.is_set)
    await tracing.close(5)
    assert ledger.fates == {"dropped": 3}


async def test_there_is_room_for_so_many_spans_and_the_rest_is_dropped_and_counted(
    collector, monkeypatch
):
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100")
    goes_on = threading.Event()

    def slow(request):
        goes_on.wait(10)
        taken(request)

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "20")
    collector.answer = slow
    ledger = Ledger()
    tracing = tracing_to(collector.url, ledger)
    spans(tracing, 1)
    await until(lambda: len(collector.headers) == 1)
    spans(tracing, 500)
    assert ledger.fates == {"dropped": 400}
    goes_on.set()
    await tracing.close(10)
    assert ledger.fates == {"dropped": 400, "exported": 101}


async def test_an_answer_without_end_is_not_read(collector):
    sent: list[int] = []

    def endless(request):
        request.send_response(200)
        request.end_headers()
        request.close_connection = True
        while len(sent) < 4096:
            request.wfile.write(b"x" * 65536)
            sent.append(1)

    collector.answer = endless
    ledger = Ledger()
    tracing = tracing_to(collector.url, ledger)
    tracemalloc.start()
    spans(tracing, 1)
    await until(lambda: ledger.fates["exported"])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    await tracing.close(1)
    assert most < 8 * 2**20
    assert len(sent) < 4096


async def test_an_answer_that_breaks_off_counts_by_its_status(collector):
    def breaks_off(request):
        request.send_response(200)
        request.send_header("content-length", "10")
        request.end_headers()
        request.wfile.write(b"abc")
        request.close_connection = True

    collector.answer = breaks_off
    ledger = Ledger()
    tracing = tracing_to(collector.url, ledger)
    spans(tracing, 1)
    await tracing.close(5)
    assert ledger.fates == {"exported": 1}
    assert len(collector.spans()) == 1


def test_a_fault_while_an_answer_is_read_is_not_hidden(monkeypatch):
    response = requests.Response()
    response.status_code, response.raw = 200, None
    monkeypatch.setattr(HTTPAdapter, "send", lambda *_, **__: response)
    with pytest.raises(AttributeError):
        _Adapter().send(requests.PreparedRequest())


async def test_a_redirect_carries_no_header_elsewhere(collector):
    with Collector().serving() as elsewhere:

        def moved(request):
            request.send_response(307)
            request.send_header("location", f"{elsewhere.url}/v1/traces")
            request.send_header("content-length", "0")
            request.end_headers()

        collector.answer, ledger = moved, Ledger()
        tracing = tracing_to(collector.url, ledger)
        spans(tracing, 1)
        await until(lambda: collector.headers)
        await tracing.close(2)
        assert elsewhere.headers == []
        # Nobody has taken them.
        assert ledger.fates == {"failed": 1}


@pytest.mark.parametrize(("rate", "kept"), [(0, 0), (1_000_000, 200)])
async def test_so_many_of_a_million_are_kept(collector, rate, kept):
    tracing = tracing_to(collector.url, Ledger(), per_million=rate)
    spans(tracing, 200)
    reserved = tracing.tracer.reserve()
    tracing.tracer.write(reserved, "root", 1.0, {})
    await tracing.close(5)
    assert len(collector.spans()) == (kept + 1 if kept else 0)


async def test_a_reserved_span_is_the_parent_that_was_promised(collector):
    tracing = tracing_to(collector.url, Ledger(), per_million=500_000)
    for _ in range(100):
        reserved = tracing.tracer.reserve()
        tracing.tracer.past("child", reserved, 0.5, {})
        tracing.tracer.write(reserved, "root", 1.0, {})
    await tracing.close(5)
    roots = {one.span: one for one in collector.spans() if one.name == "root"}
    children = [one for one in collector.spans() if one.name == "child"]
    assert 20 < len(roots) < 80
    assert {one.parent for one in children} == set(roots)
    assert {one.trace for one in children} == {one.trace for one in roots.values()}
    assert all(one.parent == "" for one in roots.values())


def test_what_the_sdk_refuses_is_told_as_unusable_and_no_thread_is_left(collector, monkeypatch):
    settings = tracing_settings(collector.url, None)
    monkeypatch.setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "abc")
    before = threading.active_count()
    with pytest.raises(TracingUnusableError, match="OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"):
        Tracing(settings, "bailiff-test", Ledger().told())
    assert threading.active_count() == before


async def test_its_threads_end_with_it(collector):
    before = set(threading.enumerate())
    tracing = tracing_to(collector.url, Ledger())
    begun = set(threading.enumerate()) - before
    assert begun
    await tracing.close(5)
    await until(lambda: not [one for one in begun if one.is_alive()])
