"""The hooks of the decision API, from what the command line says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.admission import Mutation, Mutations
from bailiff.webhooks import (
    Admission,
    AdmissionMetrics,
    AdmissionSettings,
    HookParts,
    ObjectReader,
    hooks_of,
)

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from bailiff.bootstrap.choices import AdmissionChoice
    from bailiff.clock import Clock
    from bailiff.decisions import Options, Systems
    from bailiff.lookup import Source
    from bailiff.serving import Threads


def admission_of(
    choice: AdmissionChoice,
    clock: Clock,
    registry: CollectorRegistry,
    options: Options,
    source: Source | None,
    systems: Systems,
    threads: Threads,
) -> Admission:
    """The hooks of a process.

    Args:
        choice: of the command line.
        clock: for deadlines, and for the instant that is decided for.
        registry: for metrics.
        options: how systems decide.
        source: the cluster to read; None: there is none.
        systems: who says whether a pod is to be evicted.
        threads: where long objects are read.
    """
    settings = settings_of(choice)
    parts = HookParts(
        settings=settings,
        clock=clock,
        systems=systems,
        options=options,
        objects=ObjectReader(threads),
        source=source,
    )
    return Admission(hooks_of(parts), settings, clock, AdmissionMetrics(registry))


def settings_of(choice: AdmissionChoice) -> AdmissionSettings:
    """What hooks are told of the command line."""
    return AdmissionSettings(
        mutations=Mutations(
            chosen=frozenset(map(Mutation, choice.mutations)),
            not_ready_seconds=choice.not_ready_seconds,
            unreachable_seconds=choice.unreachable_seconds,
        ),
        exempt_users=frozenset(choice.exempt_users),
        exempt_namespaces=frozenset(choice.exempt_namespaces),
    )
