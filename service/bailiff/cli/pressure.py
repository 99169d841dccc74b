"""The answer that `bailiff explain pressure` gives: who would go, and why in this order."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from bailiff.cli.asking import Asking, systems_of
from bailiff.cli.documents import check_standard_input
from bailiff.cli.errors import InputError, warn_all
from bailiff.cli.objects import Objects
from bailiff.cli.output import Format, printable, say
from bailiff.cli.pressure_files import (
    read_configuration,
    read_extensions,
    read_state,
    read_summary,
)
from bailiff.cli.pressure_shown import shown, shown_ranking
from bailiff.cli.targets import NODE, Target, one_word, parse_instant
from bailiff.decisions.pressure.extensions import MemoryInUse, PressureExtensions
from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.versions import told_version
from bailiff.kinds import Node, Pod
from bailiff.kinds.node_status import NodeSystemInfo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.decisions import Options
    from bailiff.decisions.pressure.report import PressureReport
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration
    from bailiff.kinds.meta import Value
    from bailiff.kinds.stats import Summary


class PressureArguments(NamedTuple):
    """What the user says, as it was typed.

    Attributes:
        summary: the file of what the kubelet answers to GET /stats/summary.
        configuration: the file of a KubeletConfiguration, or of the answer to GET /configz; None:
            the kubelet's defaults.
        extensions: the file of settings that no kubelet has; None: none.
        pods: files with the pods of the node.
        state: the file of the last round's state, of its whole report, or of what a worker keeps in
            the node's annotation; None: there was none.
        signal: rank for this one, low or not.
        now: the instant to decide for.
    """

    summary: Path | None
    configuration: Path | None
    extensions: Path | None
    pods: list[Path] | None
    state: Path | None
    signal: str | None
    now: str | None


class Explained(NamedTuple):
    """An answer.

    Attributes:
        text: as it is to be printed.
        goes: somebody goes in this round.
    """

    text: str
    goes: bool = False


def explain_pressure(
    asked: PressureArguments, options: Options, output: Format | None, systems: object
) -> Explained:
    """The answer about a node of which all is in files.

    Raises:
        InputError: what is asked makes no sense, or the files do not suffice.
    """
    if asked.summary is None or not asked.pods:
        raise InputError("explain pressure needs --summary FILE and --pods FILE")
    files = (asked.summary, asked.configuration, asked.extensions, asked.state)
    check_standard_input([*(one for one in files if one is not None), *asked.pods])
    pods = Objects(asked.pods, option="--pods")
    told = read_configuration(asked.configuration)
    if asked.signal is None:
        say(f"thresholds: {_whose(asked, 'no --config tells others')}")
    summary = read_summary(asked.summary)
    node = _node_of(summary, pods.of(Node))
    there = _there(pods.of(Pod), summary.node.node_name)
    seen = _Seen(summary=summary, configuration=told, pods=there, node=node)
    return _answer(asked, seen, options, output, systems)


def explain_node(
    target: Sequence[str],
    chosen: ClusterChoice,
    asked: PressureArguments,
    options: Options,
    output: Format | None,
    systems: object,
) -> Explained:
    """The same about a node of a cluster, whose kubelet is asked by way of the API server.

    Raises:
        InputError: what is asked makes no sense.
        ClusterUnusable, StartError: see `view_of`.
    """
    wanted = Target.parse(one_word(target)) if target else None
    if wanted is None or wanted.type != NODE:
        raise InputError("--pressure is of a node: say which, as node/node-a")
    if asked.summary is not None or asked.pods:
        raise InputError("--pressure reads summary and pods of the cluster, and no files of them")
    from bailiff.bootstrap.kubelet_view import view_of  # noqa: PLC0415 - loads a client of clusters

    told = read_configuration(asked.configuration)
    # To rank takes no thresholds.
    needless = told is not None or asked.signal is not None
    view = view_of(chosen, systems_of(systems), wanted.name, without_configuration=needless)
    told = view.configuration if told is None else told
    if asked.signal is None:
        own = "the kubelet's own, by its /configz"
        why = f"it does not tell its own: {printable(view.untold)}"
        say(f"thresholds: {_whose(asked, why) if view.configuration is None else own}")
    seen = _Seen(view.summary, told, view.pods, view.node)
    return _answer(asked, seen, options, output, systems)


def _whose(asked: PressureArguments, why: str) -> str:
    """Of which configuration they are: of a file, or, for this reason, of none."""
    if asked.configuration is not None:
        return f"of {printable(str(asked.configuration))}"
    return f"the kubelet's defaults, since {why}"


def _node_of(summary: Summary, nodes: tuple[Node, ...]) -> Node | None:
    """The one that the summary names; else any, with which the question says what is wrong."""
    named = (one for one in nodes if one.metadata.name == summary.node.node_name)
    return next(named, next(iter(nodes), None))


def _there(pods: tuple[Pod, ...], node: str) -> tuple[Pod, ...]:
    """Those on the summary's node: of others it says nothing, so that they would go first.

    All of them where no pod, or the summary, names a node.

    Raises:
        InputError: none of them is.
    """
    if not node or not any(one.spec.node_name for one in pods):
        return pods
    found = tuple(one for one in pods if one.spec.node_name == node)
    where = f"on {printable(node)}, the summary's node"
    if not found:
        raise InputError(f"--pods: none of {len(pods)} pods is {where}")
    if len(found) < len(pods):
        say(f"left out: {len(pods) - len(found)} of {len(pods)} pods, which are not {where}")
    return found


class _Seen(NamedTuple):
    """What an answer goes by, from files or a cluster."""

    summary: Summary
    configuration: KubeletConfiguration | None
    pods: tuple[Pod, ...]
    node: Node | None

    def of(self, kind: type[Value]) -> tuple[Value, ...]:
        """Its objects of one kind."""
        nodes = () if self.node is None else (self.node,)
        return tuple(one for one in (*self.pods, *nodes) if isinstance(one, kind))


def _answer(
    asked: PressureArguments,
    seen: _Seen,
    options: Options,
    output: Format | None,
    systems: object,
) -> Explained:
    asking = Asking(systems_of(systems), options, parse_instant(asked.now, "--now"))
    extensions = read_extensions(asked.extensions)
    if asked.signal is not None:
        signal = _signal(asked.signal)
        ranked = asking.ask(
            "rankForPressure",
            seen.of,
            signal=signal,
            summary=seen.summary,
            extensions=extensions,
        )
        return Explained(shown_ranking(ranked, signal, output))
    _check_told(extensions, seen.node)
    status = None if seen.node is None else seen.node.status
    node_info = NodeSystemInfo() if status is None else status.node_info
    facts = PressureFacts(
        summary=seen.summary,
        configuration=seen.configuration,
        kubelet_version=told_version(node_info.kubelet_version),
        operating_system=node_info.operating_system,
        state=read_state(asked.state, asking.now or datetime.now(UTC)),
        extensions=extensions,
        huge_pages_bytes=None if status is None else status.huge_pages,
    )
    found = asking.ask("planPressureRound", seen.of, pressure=facts, node=seen.node, pods=seen.pods)
    warn_all(list(_of_no_effect(asked, extensions, found.report)))
    return Explained(shown(found, output), bool(found.report.victims))


def _of_no_effect(
    asked: PressureArguments, extensions: PressureExtensions, report: PressureReport
) -> Iterator[str]:
    """Settings that name a signal without such a threshold: another one was meant, most likely."""
    thresholds = [one.threshold for one in report.thresholds]
    dry = {one.signal.value for one in thresholds if one.dry_run}
    stopping = {one.signal.value for one in thresholds if one.stop_at is not None}
    named = [signal.value for signal in (*extensions.dry_run_hard, *extensions.dry_run_soft)]
    for setting, signals, known in (
        ("dryRun", named, dry),
        ("stopAt", extensions.stop_at, stopping),
    ):
        for signal in signals:
            if signal not in known:
                yield (
                    f"--extensions {asked.extensions}: {setting} of {signal}: "
                    "there is no such threshold, so it has no effect"
                )


def _check_told(extensions: PressureExtensions, node: Node | None) -> None:
    """Whether all is there that they go by; the core's errors name fields of a question."""
    if extensions.subtract_huge_pages and node is None:
        raise InputError(
            "--extensions: subtractHugePages goes by the node's version and capacity: add the node "
            "to --pods, as kubectl get node NAME -o yaml prints it"
        )
    if extensions.memory_in_use is MemoryInUse.MEM_AVAILABLE:
        raise InputError(
            "--extensions: memoryInUse: MemAvailable stands in /proc/meminfo and in no summary: "
            "ask over REST or gRPC, which take it as memAvailable"
        )


def _signal(text: str) -> Signal:
    try:
        return Signal(text)
    except ValueError as error:
        known = ", ".join(Signal)
        raise InputError(f"--signal: must be one of {known}, got {text!r}") from error
