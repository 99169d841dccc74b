"""From the bytes of a question to the bytes of its answer: parse, ask the core, serialise."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from bailiff.decisions import (
    FactsError,
    decide,
    decide_change,
    decide_devices,
    decide_node,
    preview_rule,
    summarize,
)
from bailiff.decisions.facts import has_devices
from bailiff.grpc_api.device_responses import write_device_decisions, write_preview
from bailiff.grpc_api.errors import RefusedError, from_core
from bailiff.grpc_api.requests import (
    read_change_facts,
    read_device_facts,
    read_facts,
    read_node_facts,
    read_node_taints_facts,
    read_rule_facts,
)
from bailiff.grpc_api.responses import (
    DecisionWriter,
    write_changes,
    write_decision,
    write_decisions,
)
from bailiff.turns import aside

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bailiff.clock import Clock
    from bailiff.decisions import Facts, Options
    from bailiff.grpc_api.bounds import MessageBounds
    from bailiff.grpc_api.metrics import GrpcMetrics

F = TypeVar("F")
T = TypeVar("T")


class Questions:
    """Each method answers one question; they differ in what they are told and in nothing else.

    All take and return serialised messages, and raise RefusedError where the question cannot be
    answered.

    Attributes:
        bounds: how long questions may be.
    """

    def __init__(
        self, clock: Clock, defaults: Options, bounds: MessageBounds, metrics: GrpcMetrics
    ) -> None:
        """Prepare.

        Args:
            clock: the instant of questions that name none.
            defaults: the options of questions that bring none.
            bounds: how long questions may be.
            metrics: where answers are counted.
        """
        self._clock = clock
        self._defaults = defaults
        # Many answers at once come without trace unless the caller asks for it.
        self._brief = replace(defaults, explain=False)
        self.bounds = bounds
        self._metrics = metrics

    async def decide(self, data: bytes) -> bytes:
        """DecideRequest to DecideResponse."""
        self.bounds.check(data)
        return await aside(len(data), self._decide, data, read_facts)

    async def decide_node_taints(self, data: bytes) -> bytes:
        """DecideNodeTaintsRequest to DecideNodeTaintsResponse."""
        self.bounds.check(data)
        return await aside(len(data), self._decide, data, read_node_taints_facts)

    async def decide_node(self, data: bytes) -> bytes:
        """DecideNodeRequest to DecideNodeResponse. Lets others run in between."""
        self.bounds.check(data)
        facts = await read_node_facts(data)
        size = len(data) if has_devices(facts) else 0
        decisions = await self._ask(size, decide_node, facts, self._brief)
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
        self.bounds.check(data)
        facts = await read_change_facts(data)
        changes = await self._ask(0, decide_change, facts, self._brief)
        after = DecisionWriter()
        answer = await write_changes(after, changes, summarize(changes))
        self._metrics.count_decisions(after.tally())
        return answer

    async def decide_device_taints(self, data: bytes) -> bytes:
        """DecideDeviceTaintsRequest to DecideDeviceTaintsResponse. Lets others run in between."""
        writer = DecisionWriter()
        with self.bounds.admit(data):
            facts = await aside(len(data), read_device_facts, data)
            found = await self._ask(len(data), decide_devices, facts, self._brief)
            answer = await write_device_decisions(writer, found)
        self._metrics.count_decisions(writer.tally())
        return answer

    async def preview_device_taint_rule(self, data: bytes) -> bytes:
        """PreviewDeviceTaintRuleRequest to its response. Lets others run in between."""
        writer = DecisionWriter()
        with self.bounds.admit(data):
            facts = await aside(len(data), read_rule_facts, data)
            found = await self._ask(len(data), preview_rule, facts, self._brief)
            answer = await write_preview(writer, found)
        self._metrics.count_decisions(writer.tally())
        return answer

    def _decide(self, data: bytes, read: Callable[[bytes], Facts]) -> bytes:
        facts = read(data)
        try:
            decision = decide(facts, self._clock.now(), self._defaults)
        except FactsError as error:
            raise from_core(error) from error
        writer = DecisionWriter()
        answer = write_decision(writer, decision)
        self._metrics.count_decisions(writer.tally())
        return answer

    async def _ask(
        self, size: int, ask: Callable[[F, datetime, Options], T], facts: F, defaults: Options
    ) -> T:
        """Ask the core; `size` as for `aside`, and 0 for what is never put aside."""
        try:
            return await aside(size, ask, facts, self._clock.now(), defaults)
        except FactsError as error:
            raise from_core(error) from error
