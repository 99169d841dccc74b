"""The worker's node-loss mode, put together out of what the command line says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from bailiff.cluster import Keep
from bailiff.decisions.node_loss.findings import SYSTEM
from bailiff.decisions.node_loss.settings import LostReason, LostZone, NodeLossSettings
from bailiff.decisions.node_loss.zones import EXCLUDED, LABEL_REGION
from bailiff.fencing import FenceFileError, FileFence, fence_in
from bailiff.file_watch import see
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from bailiff.worker.systems.node_loss.system import NodeLossInWorker

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum
    from pathlib import Path

    from bailiff.bootstrap.choices import NodeLossChoice
    from bailiff.clock import Clock
    from bailiff.worker import MakeSystem

KEEP = Keep(pod_bonds=True, node_status=True, node_labels=frozenset({EXCLUDED, LABEL_REGION}))


# Settings that are one of a few words.
_WORDS: Mapping[str, type[StrEnum]] = {"lost_zone": LostZone, "reason": LostReason}


class NodeLossUnusableError(Exception):
    """What is said of the node-loss mode cannot be; the message says what is allowed."""


@dataclass(frozen=True)
class Losing:
    """The node-loss mode.

    Attributes:
        mode: what the worker is to do, but for the fence, which needs a clock.
        fence: the file by which machines are asked; None: none is.
    """

    mode: NodeLossMode
    fence: Path | None

    def halves(self, clock: Clock) -> Mapping[str, MakeSystem]:
        """Of the worker, to be added to its others."""
        mode = self.mode
        if self.fence is not None:
            mode = replace(mode, fence=FileFence(self.fence, clock))
        return {SYSTEM: partial(NodeLossInWorker, mode=mode)}


def losing_of(choice: NodeLossChoice | None) -> Losing | None:
    """The node-loss mode, if it is wanted.

    Raises:
        NodeLossUnusableError: a setting cannot be, or the file of the fence says nothing usable.
    """
    if choice is None:
        return None
    if choice.taints_fenced and choice.fence is None:
        raise NodeLossUnusableError("--node-loss-taint-fenced: needs --node-loss-fence")
    if choice.fence is not None:
        _check_fence(choice.fence)
    mode = NodeLossMode(
        settings=_settings(choice.settings),
        taints_fenced=choice.taints_fenced,
        marks_not_ready=choice.marks_not_ready,
    )
    return Losing(mode, choice.fence)


def _settings(said: Mapping[str, object]) -> NodeLossSettings:
    """Each by itself, so that the option at fault can be named."""
    for name, value in said.items():
        option = "--node-loss-" + name.replace("_", "-")
        allowed = list(_WORDS.get(name, ()))
        if allowed and value not in allowed:
            told = f"must be one of {', '.join(allowed)}, got {str(value)[:64]!r}"
            raise NodeLossUnusableError(f"{option}: {told}")
        try:
            msgspec.convert({_json_name(name): value}, NodeLossSettings)
        except msgspec.ValidationError as error:
            why = str(error).partition(" - at ")[0]
            raise NodeLossUnusableError(f"{option}: {why[0].lower()}{why[1:]}") from error
    found = {_json_name(name): value for name, value in said.items()}
    return msgspec.convert(found, NodeLossSettings)


def _json_name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _check_fence(path: Path) -> None:
    """Once, at the start: later it is read with each question, and what is wrong is told then."""
    content = see(path)
    if isinstance(content, str):
        raise NodeLossUnusableError(f"--node-loss-fence: {path}: {content}")
    try:
        fence_in(content)
    except FenceFileError as error:
        raise NodeLossUnusableError(f"--node-loss-fence: {path}: {error}") from error
