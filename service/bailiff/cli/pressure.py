"""The answer that `bailiff explain pressure` gives: who would go, and why in this order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bailiff.cli.asking import Asking, systems_of
from bailiff.cli.documents import check_standard_input, read_document
from bailiff.cli.errors import InputError
from bailiff.cli.objects import Objects
from bailiff.cli.output import Format, printable, say
from bailiff.cli.pressure_shown import shown, shown_ranking
from bailiff.cli.targets import NODE, Target, one_word, parse_instant
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, PressureExtensions
from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.state import PressureState
from bailiff.kinds import DecodeError, Node, Pod, decode, decode_yaml_value
from bailiff.kinds.kubelet_configuration import Configz, KubeletConfiguration
from bailiff.kinds.node_status import NodeSystemInfo
from bailiff.kinds.stats import Summary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.bootstrap.kubelet_view import KubeletView
    from bailiff.decisions import Options
    from bailiff.kinds.meta import Value


class PressureArguments(NamedTuple):
    """What the user says, as it was typed.

    Attributes:
        summary: the file of what the kubelet answers to GET /stats/summary.
        configuration: the file of a KubeletConfiguration, or of the answer to GET /configz; None:
            the kubelet's defaults.
        extensions: the file of settings that no kubelet has; None: none.
        pods: files with the pods of the node.
        state: the file of the last round's state, or of its whole report; None: there was none.
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


def explain_pressure(
    asked: PressureArguments, options: Options, output: Format | None, systems: object
) -> str:
    """The answer, as it is to be printed.

    Raises:
        InputError: what is asked makes no sense, or the files do not suffice.
    """
    if asked.summary is None or not asked.pods:
        raise InputError("explain pressure needs --summary FILE and --pods FILE")
    files = (asked.summary, asked.configuration, asked.extensions, asked.state)
    check_standard_input([*(one for one in files if one is not None), *asked.pods])
    pods = Objects(asked.pods, option="--pods")
    seen = _Seen(
        summary=_read(asked.summary, "--summary", Summary),
        configuration=_configuration(asked),
        pods=pods.of(Pod),
        node=next(iter(pods.of(Node)), None),
    )
    return _answer(asked, seen, options, output, systems)


def explain_node(
    target: Sequence[str],
    chosen: ClusterChoice,
    asked: PressureArguments,
    options: Options,
    output: Format | None,
    systems: object,
) -> str:
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

    told = _configuration(asked)
    # To rank takes no thresholds.
    needless = told is not None or asked.signal is not None
    view = view_of(chosen, systems_of(systems), wanted.name, configured=needless)
    if view.configuration is not None:
        told = _told_by_kubelet(view.configuration)
    if asked.signal is None:
        say(f"thresholds: {_whose(asked, view)}")
    seen = _Seen(view.summary, told, view.pods, view.node)
    return _answer(asked, seen, options, output, systems)


def _whose(asked: PressureArguments, view: KubeletView) -> str:
    """Of which configuration they are."""
    if asked.configuration is not None:
        return f"of {printable(str(asked.configuration))}"
    if view.configuration is not None:
        return "the kubelet's own, by its /configz"
    return f"the kubelet's defaults, since it does not tell its own: {printable(view.untold)}"


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
) -> str:
    asking = Asking(systems_of(systems), options, parse_instant(asked.now, "--now"))
    extensions = _extensions(asked.extensions)
    if asked.signal is not None:
        signal = _signal(asked.signal)
        ranked = asking.ask(
            "rankForPressure",
            seen.of,
            signal=signal,
            summary=seen.summary,
            extensions=extensions,
        )
        return shown_ranking(ranked, output)
    status = None if seen.node is None else seen.node.status
    node_info = NodeSystemInfo() if status is None else status.node_info
    facts = PressureFacts(
        summary=seen.summary,
        configuration=seen.configuration,
        kubelet_version=node_info.kubelet_version,
        operating_system=node_info.operating_system,
        state=_state(asked.state),
        extensions=extensions,
        huge_pages_bytes=None if status is None else status.huge_pages,
    )
    found = asking.ask("planPressureRound", seen.of, pressure=facts, node=seen.node, pods=seen.pods)
    return shown(found, output)


def _told_by_kubelet(body: bytes) -> KubeletConfiguration:
    """Of the answer to GET /configz."""
    try:
        return decode(body, Configz).kubeletconfig
    except DecodeError as error:
        raise InputError(f"/configz is no configuration: {error.path}: {error.reason}") from error


def _configuration(asked: PressureArguments) -> KubeletConfiguration | None:
    if asked.configuration is None:
        return None
    document = read_document(asked.configuration, "--config")
    if isinstance(document, dict) and "kubeletconfig" in document:
        document = document["kubeletconfig"]
    found: KubeletConfiguration = _converted(document, "--config", KubeletConfiguration)
    return found


def _extensions(path: Path | None) -> PressureExtensions:
    if path is None:
        return NO_EXTENSIONS
    found: PressureExtensions = _read(path, "--extensions", PressureExtensions)
    return found


def _state(path: Path | None) -> PressureState:
    if path is None:
        return PressureState()
    document: Any = read_document(path, "--state")
    for name in ("report", "next"):
        if isinstance(document, dict) and name in document:
            document = document[name]
    found: PressureState = _converted(document, "--state", PressureState)
    return found


def _signal(text: str) -> Signal:
    try:
        return Signal(text)
    except ValueError as error:
        known = ", ".join(Signal)
        raise InputError(f"--signal: must be one of {known}, got {text!r}") from error


def _read(path: Path, option: str, kind: type[Any]) -> Any:  # noqa: ANN401 - of the kind
    return _converted(read_document(path, option), option, kind)


def _converted(document: object, option: str, kind: type[Any]) -> Any:  # noqa: ANN401 - of the kind
    try:
        return decode_yaml_value(document, kind)
    except DecodeError as error:
        raise InputError(f"{option}: {error.path}: {error.reason}") from error
