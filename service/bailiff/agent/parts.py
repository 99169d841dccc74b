"""Everything that a round needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from bailiff.agent.aging import Aging
    from bailiff.agent.evicting import Evictor
    from bailiff.agent.judge import Judge
    from bailiff.agent.log import Log
    from bailiff.agent.metrics import AgentMetrics
    from bailiff.agent.node_facts import NodeFacts
    from bailiff.agent.notices.notifier import Notifier
    from bailiff.agent.reading import Reclaimer
    from bailiff.agent.remembering import Remembering
    from bailiff.agent.settings import AgentSettings
    from bailiff.agent.standing import Standing
    from bailiff.agent.telling import Teller
    from bailiff.agent.wake import Wake
    from bailiff.clock import Clock
    from bailiff.tracing import Tracer


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything that a round needs.

    Attributes:
        settings: the operator's.
        clock: of the machine.
        source: measures the node; what is old in it is told.
        facts: what the API server, and the kubelet, say of it.
        judge: plans.
        reclaimer: frees what can be freed without a pod; None: nothing can be.
        evictor: evicts.
        teller: writes Events and conditions.
        notifier: of the kernel.
        remembering: for after a restart.
        standing: for who asks.
        metrics: are counted.
        wake: tells when a round is due before its time.
        log: hears what is done.
        tracer: makes spans of evictions.
    """

    settings: AgentSettings
    clock: Clock
    source: Aging
    facts: NodeFacts
    judge: Judge
    reclaimer: Reclaimer | None
    evictor: Evictor
    teller: Teller
    notifier: Notifier
    remembering: Remembering
    standing: Standing
    metrics: AgentMetrics
    wake: Wake
    log: Log
    tracer: Tracer = NO_TRACER
