"""The REST API, asked without `await`."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import httpx2

from bailiff.client import rest_words
from bailiff.client.asking import Asking
from bailiff.client.calls import Calls
from bailiff.client.deadlines import Connections, keep_deadlines, within
from bailiff.client.settings import settings_of
from bailiff.v1 import eviction_decision_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.client.questions import A, Json, Q, Question
    from bailiff.client.rest_words import Words
    from bailiff.client.settings import ClientSettings


class RestClient(Asking):
    """Asks over REST, and looks objects up in the server's cluster. Threads may share it."""

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
        self._connections = Connections()
        client = httpx2.Client(**self._words.arguments)
        self._client = keep_deadlines(client, self._connections)
        self._calls = Calls(settings, self._words.bearer)

    def close(self) -> None:
        """See Asking."""
        self._calls.close()
        self._connections.close()
        self._client.close()

    def ask(self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None) -> A:
        """See Asking."""
        body = rest_words.body_of(facts, question.asked)
        return self._call(question.answer, question.path, body, timeout)

    def ask_in_parts(
        self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None
    ) -> Iterator[A]:
        """See Asking."""
        yield self.ask(question, facts, timeout)

    def decide_pod(
        self,
        namespace: str,
        name: str,
        *,
        explain: bool | None = None,
        timeout: float | None = None,
    ) -> pb.DecideResponse:
        """Should this pod of the server's cluster be evicted, and when?"""
        path = rest_words.pod_path(namespace, name, explain)
        return self._call(pb.DecideResponse, path, None, timeout)

    def decide_node(
        self, name: str, *, explain: bool | None = None, timeout: float | None = None
    ) -> pb.DecideBatchResponse:
        """Which pods of this node of the server's cluster should be evicted, and when?"""
        path = rest_words.node_path(name, explain)
        return self._call(pb.DecideBatchResponse, path, None, timeout)

    def _call(self, kind: type[A], path: str, body: bytes | None, timeout: float | None) -> A:
        return self._calls.make(lambda seconds: self._attempt(kind, path, body, seconds), timeout)

    def _attempt(self, kind: type[A], path: str, body: bytes | None, seconds: float) -> A:
        request = self._words.request(self._client, path, body, seconds)
        try:
            with within(seconds), closing(self._client.send(request, stream=True)) as response:
                content = _content(response)
        except httpx2.HTTPError as error:
            raise rest_words.unsent(error, request) from error
        return rest_words.answer_of(kind, response, content)


def _content(response: httpx2.Response) -> bytes:
    content = bytearray()
    for part in response.iter_bytes():
        content += part
        if len(content) > rest_words.MAX_ANSWER_BYTES:
            raise rest_words.too_long(response)
    return bytes(content)
