"""The hooks of the decision API, from what the command line says."""

from __future__ import annotations

import asyncio
import contextlib
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import structlog

from bailiff.decisions.admission import Mutation, Mutations
from bailiff.face_settings import SettingsError
from bailiff.policy_file import PoliciesUnusableError, PolicyFile
from bailiff.rest_api import RestServer, create_hook_app
from bailiff.tracing import NO_TRACER
from bailiff.webhooks import (
    Admission,
    AdmissionMetrics,
    AdmissionSettings,
    HookParts,
    ObjectReader,
    hooks_of,
)
from bailiff.webhooks.parts import no_policies

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import FastAPI
    from prometheus_client import CollectorRegistry

    from bailiff.bootstrap.choices import AdmissionChoice
    from bailiff.clock import Clock
    from bailiff.decisions import Options, Systems
    from bailiff.lookup import AllNodes, PodGroups, Source
    from bailiff.rest_api import RestSettings
    from bailiff.serving import Edge, ServingTls, Threads
    from bailiff.tally import Tally
    from bailiff.tracing import Tracer


log = structlog.get_logger(__name__)


class Live(NamedTuple):
    """What hooks read of the cluster; nothing where there is none.

    Attributes:
        source: its objects.
        nodes: all of them, listed once for hooks and for kube-scheduler.
        pod_groups: which of them go whole.
        tally: counts evictions over time.
        clock: goes by the API server's.
    """

    source: Source | None = None
    nodes: AllNodes | None = None
    pod_groups: PodGroups | None = None
    tally: Tally | None = None
    clock: Clock | None = None


def admission_of(
    choice: AdmissionChoice,
    clock: Clock,
    registry: CollectorRegistry,
    options: Options,
    live: Live,
    systems: Systems,
    threads: Threads,
    policies: PolicyFile | None = None,
    tracer: Tracer = NO_TRACER,
) -> Admission:
    """The hooks of a process.

    Args:
        choice: of the command line.
        clock: for deadlines, and for the instant that is decided for.
        registry: for metrics.
        options: how systems decide.
        live: the cluster to read, if there is one.
        systems: who says whether a pod is to be evicted.
        threads: where long objects are read.
        policies: their file; None: all policies are off.
        tracer: makes spans.

    Raises:
        NeverGatedError: an account that must never be held is named among those that are.
    """
    settings = settings_of(choice)
    parts = HookParts(
        settings=settings,
        clock=clock,
        systems=systems,
        options=options,
        objects=ObjectReader(threads),
        threads=threads,
        source=live.source,
        nodes=live.nodes,
        pod_groups=live.pod_groups,
        cluster_clock=live.clock,
        policies=no_policies if policies is None else lambda: policies.in_force.policies,
        tally=live.tally,
        tracer=tracer,
    )
    return Admission(hooks_of(parts), settings, clock, AdmissionMetrics(registry))


def hook_server(
    choice: AdmissionChoice,
    app: FastAPI,
    admission: Admission,
    settings: RestSettings,
    edge: Edge,
    tls: ServingTls | None,
) -> RestServer:
    """The port of the hooks alone.

    Args:
        choice: of the command line, with a port.
        app: on the REST port, whose services are shared.
        admission: the hooks.
        settings: of the REST port; this one bears the same.
        edge: shared with the other ports.
        tls: of all ports; whose certificates count is another matter.
    """
    if tls is None:
        log.warning("webhooks are served without TLS: no API server can call them")
    own = create_hook_app(app.state.services, admission)
    # All API servers may come from one address, with a connection for each call under way.
    update = {"port": choice.port, "max_connections_per_peer": settings.max_connections}
    bounds = settings.model_copy(update=update)
    return RestServer(own, bounds, edge, tls, choose=attrgetter("hooks"))


def policies_of(
    choice: AdmissionChoice | None, clock: Clock, registry: CollectorRegistry
) -> PolicyFile | None:
    """The policies of the hooks; None: there is no file.

    Raises:
        SettingsError: the file holds none.
    """
    if choice is None or choice.policies is None:
        return None
    try:
        return PolicyFile(choice.policies, clock, registry)
    except PoliciesUnusableError as error:
        raise SettingsError(f"--policies: {error}") from error


@contextlib.asynccontextmanager
async def following(policies: PolicyFile | None) -> AsyncIterator[None]:
    """Look at the file of policies meanwhile."""
    if policies is None:
        yield
        return
    async with asyncio.TaskGroup() as group:
        task = group.create_task(policies.run(lambda _: None), name="policies")
        try:
            yield
        finally:
            task.cancel()


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
        gate_delete_users=frozenset(choice.gate_delete_users),
    )
