"""The worker's pressure mode, put together out of what the command line says."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from bailiff.bootstrap.choices import StartError
from bailiff.bootstrap.pressure_files import (
    FileUnusableError,
    WrongFileError,
    configuration_in,
    extensions_in,
    read_file,
)
from bailiff.cluster import ConfigError, Keep
from bailiff.cluster.kubelets import (
    KubeletSettings,
    ReaderSettings,
    ViaApiServer,
    check_seconds,
    connect_kubelets,
)
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, MemoryInUse
from bailiff.decisions.pressure.facts import LAYOUTS
from bailiff.decisions.pressure.findings import SYSTEM
from bailiff.worker.systems import HALVES
from bailiff.worker.systems.pressure.settings import PressureMode
from bailiff.worker.systems.pressure.system import PressureInWorker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from bailiff.bootstrap.choices import PressureChoice
    from bailiff.clock import Clock
    from bailiff.cluster import Cluster
    from bailiff.decisions.pressure.extensions import PressureExtensions
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration
    from bailiff.worker import MakeSystem


class PressureUnusableError(Exception):
    """What is said of the pressure mode cannot be; the message says what is allowed."""


@dataclass(frozen=True)
class Pressing:
    """The pressure mode.

    Attributes:
        mode: what the worker is to do.
        kubelets: how they are asked.
    """

    mode: PressureMode
    kubelets: KubeletSettings

    @property
    def keep(self) -> Keep:
        """What watches of pods and nodes have to keep for it."""
        labels = frozenset(self.mode.selector)
        return Keep(pod_resources=True, node_status=True, node_labels=labels)


def pressing_of(choice: PressureChoice | None) -> Pressing | None:
    """The pressure mode, if it is wanted.

    Raises:
        PressureUnusableError: a setting cannot be, or the file of thresholds has none.
    """
    if choice is None:
        return None
    try:
        _check(choice)
        return Pressing(_mode_of(choice), _kubelets_of(choice))
    except (ConfigError, FileUnusableError) as error:
        raise PressureUnusableError(str(error)) from error


@asynccontextmanager
async def halves_with(
    pressing: Pressing | None, cluster: Cluster, clock: Clock
) -> AsyncIterator[Mapping[str, MakeSystem]]:
    """The worker's halves, and that of pressure where it is wanted.

    Raises:
        StartError: what is to be shown to kubelets cannot be used.
    """
    if pressing is None:
        yield HALVES
        return
    try:
        client = await connect_kubelets(cluster, pressing.kubelets, clock)
    except ConfigError as error:
        raise StartError(str(error)) from error
    async with client:
        yield {**HALVES, SYSTEM: partial(PressureInWorker, kubelets=client, mode=pressing.mode)}


def _check(choice: PressureChoice) -> None:
    """What settings would refuse by names that nobody has typed is refused by the option here.

    Raises:
        ConfigError: the message names the option and what is allowed.
    """
    check_seconds("--pressure-interval", choice.interval, least=1.0)
    check_seconds("--pressure-stale-after", choice.stale_after)
    if choice.layout and choice.layout not in LAYOUTS:
        raise ConfigError(
            f"--pressure-layout: must be one of {', '.join(LAYOUTS)}, got {choice.layout[:64]!r}"
        )
    if choice.via_api_server not in set(ViaApiServer):
        allowed = ", ".join(ViaApiServer)
        told = f"must be one of {allowed}, got {choice.via_api_server!r}"
        raise ConfigError(f"--kubelet-via-api-server: {told}")
    if choice.key_file is not None and choice.certificate_file is None:
        raise ConfigError("--kubelet-client-key: needs --kubelet-client-certificate")


def _mode_of(choice: PressureChoice) -> PressureMode:
    return PressureMode(
        selector=dict(choice.selector),
        configuration=None if choice.config is None else _configuration(choice.config),
        extensions=NO_EXTENSIONS if choice.extensions is None else _extensions(choice.extensions),
        reader=ReaderSettings(interval=choice.interval),
        stale_after=choice.stale_after,
        layout=LAYOUTS.get(choice.layout),
        keeps_pods=choice.keeps_pods,
        hard_overrides_policies=choice.hard_overrides_policies,
        publishes=choice.publishes,
    )


def _kubelets_of(choice: PressureChoice) -> KubeletSettings:
    return KubeletSettings(
        ca_file=choice.ca_file,
        insecure=choice.insecure,
        token_file=choice.token_file,
        certificate_file=choice.certificate_file,
        key_file=choice.key_file,
        via_api_server=ViaApiServer(choice.via_api_server),
    )


def _configuration(path: Path) -> KubeletConfiguration:
    return read_file("--pressure-config", path, configuration_in)


def _extensions(path: Path) -> PressureExtensions:
    return read_file("--pressure-extensions", path, _extensions_by_summaries)


def _extensions_by_summaries(document: object) -> PressureExtensions:
    found = extensions_in(document)
    if found.memory_in_use is MemoryInUse.MEM_AVAILABLE:
        why = "must be WorkingSet or RSS: no summary says MemAvailable"
        raise WrongFileError([f"$.memoryInUse: {why}"])
    return found
