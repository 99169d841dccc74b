"""The REST API, asked with `await`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

from bailiff.client import rest_words
from bailiff.client.async_asking import AsyncAsking
from bailiff.client.calls import AsyncCalls
from bailiff.client.settings import settings_of
from bailiff.v1 import eviction_decision_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bailiff.client.questions import A, Json, Q, Question
    from bailiff.client.rest_words import Words
    from bailiff.client.settings import ClientSettings


class AsyncRestClient(AsyncAsking):
    """Asks over REST, and looks objects up in the server's cluster, in one event loop."""

    def __init__(self, url: str, settings: ClientSettings | None = None) -> None:
        """Nothing is sent yet.

        Args:
            url: of the server, as `https://bailiff.example:8080`.
            settings: see there.

        Raises:
            TypeError: an address or settings of another type.
            ValueError: no such address, a token that would go there in the clear, or a file of TLS
                that cannot be read.
        """
        settings = settings_of(settings)
        self._words: Words = rest_words.Words(url, settings)
        self._client = httpx2.AsyncClient(**self._words.arguments)
        self._calls = AsyncCalls(settings, self._words.bearer)

    async def close(self) -> None:
        """See AsyncAsking."""
        self._calls.loop()
        self._calls.close()
        await self._client.aclose()

    async def ask(
        self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None
    ) -> A:
        """See AsyncAsking."""
        body = rest_words.body_of(facts, question.asked)
        return await self._call(question.answer, question.path, body, timeout)

    async def ask_in_parts(
        self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None
    ) -> AsyncIterator[A]:
        """See AsyncAsking."""
        yield await self.ask(question, facts, timeout)

    async def decide_pod(
        self,
        namespace: str,
        name: str,
        *,
        explain: bool | None = None,
        timeout: float | None = None,
    ) -> pb.DecideResponse:
        """Should this pod of the server's cluster be evicted, and when?"""
        path = rest_words.pod_path(namespace, name, explain)
        return await self._call(pb.DecideResponse, path, None, timeout)

    async def decide_node(
        self, name: str, *, explain: bool | None = None, timeout: float | None = None
    ) -> pb.DecideBatchResponse:
        """Which pods of this node of the server's cluster should be evicted, and when?"""
        path = rest_words.node_path(name, explain)
        return await self._call(pb.DecideBatchResponse, path, None, timeout)

    async def _call(self, kind: type[A], path: str, body: bytes | None, timeout: float | None) -> A:
        async def attempt(seconds: float) -> A:
            return await self._attempt(kind, path, body, seconds)

        return await self._calls.make(attempt, timeout)

    async def _attempt(self, kind: type[A], path: str, body: bytes | None, seconds: float) -> A:
        request = self._words.request(self._client, path, body, seconds)
        try:
            async with self._calls.within(seconds):
                response = await self._client.send(request, stream=True)
                try:
                    content = await _content(response)
                finally:
                    await response.aclose()
        except (httpx2.HTTPError, TimeoutError) as error:
            raise rest_words.unsent(error, request) from error
        return rest_words.answer_of(kind, response, content)


async def _content(response: httpx2.Response) -> bytes:
    content = bytearray()
    async for part in response.aiter_bytes():
        content += part
        if len(content) > rest_words.MAX_ANSWER_BYTES:
            raise rest_words.too_long(response)
    return bytes(content)
