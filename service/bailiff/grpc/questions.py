"""From the bytes of a question to the bytes of its answer: parse, ask the core, serialise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions import FactsError, decide, decide_change, decide_node, summarize
from bailiff.grpc.errors import RefusedError, TooLargeError, from_core
from bailiff.grpc.requests import (
    read_change_facts,
    read_facts,
    read_node_facts,
    read_node_taints_facts,
)
from bailiff.grpc.responses import DecisionWriter, write_changes, write_decision, write_decisions

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.decisions import Facts, Options
    from bailiff.grpc.metrics import GrpcMetrics


class Questions:
    """Each method answers one question; they differ in what they are told and in nothing else.

    All take and return serialised messages, and raise RefusedError where the question cannot be
    answered.
    """

    def __init__(
        self, clock: Clock, defaults: Options, max_bytes: int, metrics: GrpcMetrics
    ) -> None:
        """Prepare.

        Args:
            clock: the instant of questions that name none.
            defaults: the options of questions that bring none.
            max_bytes: longest question.
            metrics: where answers are counted.
        """
        self._clock = clock
        self._defaults = defaults
        # Many answers at once come without trace unless the caller asks for it.
        self._brief = replace(defaults, explain=False)
        self._max_bytes = max_bytes
        self._metrics = metrics

    async def decide(self, data: bytes) -> bytes:
        """DecideRequest to DecideResponse."""
        self.check_size(data)
        return self._decide(read_facts(data))

    async def decide_node_taints(self, data: bytes) -> bytes:
        """DecideNodeTaintsRequest to DecideNodeTaintsResponse."""
        self.check_size(data)
        return self._decide(read_node_taints_facts(data))

    async def decide_node(self, data: bytes) -> bytes:
        """DecideNodeRequest to DecideNodeResponse. Lets others run in between."""
        self.check_size(data)
        facts = await read_node_facts(data)
        try:
            decisions = decide_node(facts, self._clock.now(), self._brief)
        except FactsError as error:
            raise from_core(error) from error
        writer = DecisionWriter()
        answer = await write_decisions(writer, decisions)
        self._metrics.count_decisions(writer.tally())
        return answer

    async def decide_batch(self, data: bytes) -> bytes:
        """The same, where the question is the field `batch` of a stream's message."""
        try:
            return await self.decide_node(data)
        except RefusedError as error:
            error.move_under("batch")
            raise

    async def decide_taint_change(self, data: bytes) -> bytes:
        """DecideTaintChangeRequest to DecideTaintChangeResponse. Lets others run in between."""
        self.check_size(data)
        facts = await read_change_facts(data)
        try:
            changes = decide_change(facts, self._clock.now(), self._brief)
        except FactsError as error:
            raise from_core(error) from error
        after = DecisionWriter()
        answer = await write_changes(after, changes, summarize(changes))
        self._metrics.count_decisions(after.tally())
        return answer

    def check_size(self, data: bytes) -> None:
        """Refuse what is too long.

        Raises:
            TooLargeError: longer than the settings allow.
        """
        if len(data) > self._max_bytes:
            raise TooLargeError(
                f"the request has {len(data)} bytes, at most {self._max_bytes} are allowed"
            )

    def _decide(self, facts: Facts) -> bytes:
        try:
            decision = decide(facts, self._clock.now(), self._defaults)
        except FactsError as error:
            raise from_core(error) from error
        writer = DecisionWriter()
        answer = write_decision(writer, decision)
        self._metrics.count_decisions(writer.tally())
        return answer
