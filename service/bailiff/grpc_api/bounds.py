"""How long a message may be, and how many long ones are answered at a time."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from bailiff.decisions import Size
from bailiff.grpc_api.errors import AnswerTooLargeError, OverloadedError, TooLargeError
from bailiff.serving import ByteBudget
from bailiff.serving.byte_budget import SMALL
from bailiff.turns import is_long_protobuf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from bailiff.grpc_api.settings import GrpcSettings

_FREE = nullcontext()


class MessageBounds:
    """The bounds of requests and answers, for the whole server.

    Attributes:
        max_answer_bytes: of an answer in one message.
    """

    def __init__(self, settings: GrpcSettings, budget: ByteBudget | None = None) -> None:
        """Prepare; the settings say what is allowed, the budget what the process may hold."""
        self._usual = settings.max_message_bytes
        self._batch = max(settings.max_message_bytes, settings.max_batch_message_bytes)
        self._most = settings.max_long_messages
        self._taken = 0
        self._budget = budget or ByteBudget()
        self.max_answer_bytes = settings.max_answer_bytes

    def longest(self, size: Size) -> int:
        """Bytes that a question of some size may have."""
        return self._usual if size is Size.ONE else self._batch

    def admit(self, data: bytes, most: int) -> AbstractContextManager[None]:
        """Hold a place for a question for as long as it is answered; short ones need none.

        What is answered where it was read holds nothing beside others; what waits for a thread has
        its bytes in the budget.

        Raises:
            TooLargeError: longer than `most`.
            OverloadedError: it is long, and enough long ones are being answered, or enough bytes of
                them; raised on entry.
        """
        self.check(data, most)
        if len(data) > self._usual:
            return self._place(len(data))
        return self._bytes(len(data)) if is_long_protobuf(len(data)) else _FREE

    @contextmanager
    def _place(self, length: int) -> Iterator[None]:
        if self._taken >= self._most:
            raise OverloadedError(
                f"{self._most} requests above {self._usual} bytes are being answered already"
            )
        self._taken += 1
        try:
            with self._bytes(length):
                yield
        finally:
            self._taken -= 1

    @contextmanager
    def _bytes(self, length: int) -> Iterator[None]:
        if not self._budget.take(length, long=length > SMALL):
            raise OverloadedError("too many bytes of requests are being answered already")
        try:
            yield
        finally:
            self._budget.give_back(length)

    def check(self, data: bytes, most: int) -> None:
        """Refuse a request that is too long.

        Raises:
            TooLargeError: longer than `most`.
        """
        if len(data) > most:
            raise TooLargeError(f"the request has {len(data)} bytes, at most {most} are allowed")

    def check_answer(self, data: bytes, in_parts: str) -> None:
        """Refuse an answer that is too long for one message.

        Args:
            data: the answer.
            in_parts: the method that gives it in several; empty: none does.

        Raises:
            AnswerTooLargeError: longer than the settings allow.
        """
        most = self.max_answer_bytes
        if len(data) <= most:
            return
        advice = f"call {in_parts}" if in_parts else "ask for less, or without a trace"
        raise AnswerTooLargeError(
            f"the answer has {len(data)} bytes, at most {most} are sent in one message: {advice}"
        )
