"""Options of the worker's node-loss mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bailiff.bootstrap.choices import NodeLossChoice
from bailiff.cli.errors import InputError, told
from bailiff.cli.option_groups import with_options
from bailiff.cli.options import setting

if TYPE_CHECKING:
    from collections.abc import Callable

NODE_LOSS = "Nodes that do not come back"
_MODE = "--node-loss"
# The option of each, and of those below the field of NodeLossChoice; all others are settings.
_FIELDS = {
    "node_loss_fence": "fence",
    "node_loss_taint_fenced": "taints_fenced",
    "node_loss_mark_not_ready": "marks_not_ready",
}


def _seconds(option: str, text: str) -> Any:  # noqa: ANN401 - as Typer takes it
    return Annotated[float | None, setting(option, text, NODE_LOSS)]


def _switch(option: str, text: str) -> Any:  # noqa: ANN401 - likewise
    return Annotated[bool | None, setting(option, text, NODE_LOSS)]


_OPTIONS: dict[str, Any] = {
    "node_loss": _switch(
        _MODE,
        "Evict the pods of nodes that are not ready, or silent, for too long. For clusters whose "
        "nodes are not tainted for that: see docs/node-loss/index.md.",
    ),
    "node_loss_after": _seconds(
        "--node-loss-after",
        "Seconds for which a node is not ready, or silent, before its pods go; default: 300.",
    ),
    "node_loss_silent_after": _seconds(
        "--node-loss-silent-after",
        "Seconds without a sign of life after which a node is silent, 1 and up; default: 50.",
    ),
    "node_loss_rate": _seconds(
        "--node-loss-rate",
        "Nodes a second of which the pods begin to go, in each zone; default: 0.1.",
    ),
    "node_loss_reduced_rate": _seconds(
        "--node-loss-reduced-rate",
        "The same where a zone is partially disrupted and large; default: 0.01.",
    ),
    "node_loss_large_zone": Annotated[
        int | None,
        setting(
            "--node-loss-large-zone",
            "A zone of more nodes is large; smaller ones stop where they are partially disrupted; "
            "default: 50.",
            NODE_LOSS,
        ),
    ],
    "node_loss_unhealthy_fraction": _seconds(
        "--node-loss-unhealthy-fraction",
        "Fraction of a zone's nodes that are not ready, from which on the zone is partially "
        "disrupted, if more than two are not ready; above 0, up to 1; default: 0.55.",
    ),
    "node_loss_lost_zone": Annotated[
        str | None,
        setting(
            "--node-loss-lost-zone",
            "Stop or Normal: what is done where no node of a zone is ready while other zones have "
            "some; default: Stop, unlike kube-controller-manager.",
            NODE_LOSS,
        ),
    ],
    "node_loss_reason": Annotated[
        str | None,
        setting(
            "--node-loss-reason",
            "NodeLost or NodeUnreachable, for the status of pods; default: NodeLost.",
            NODE_LOSS,
        ),
    ],
    "node_loss_beside_taints": _switch(
        "--node-loss-beside-taints",
        "Pods go by this, too, where the taints not-ready or unreachable evict from the node; "
        "default: taints alone decide there.",
    ),
    "node_loss_forces": _switch(
        "--node-loss-forces/--no-node-loss-forces",
        "Pods of a node whose machine is proven off are deleted at once; default: they are.",
    ),
    "node_loss_fence": Annotated[
        Path | None,
        setting(
            "--node-loss-fence",
            "File by which machines are asked whether they are off, see docs/node-loss/fencing.md; "
            "default: none is.",
            NODE_LOSS,
        ),
    ],
    "node_loss_taint_fenced": _switch(
        "--node-loss-taint-fenced",
        "Put the taint node.kubernetes.io/out-of-service on nodes whose machine is off, so that "
        "their volumes can be used elsewhere; taken away when they are back.",
    ),
    "node_loss_mark_not_ready": _switch(
        "--node-loss-mark-not-ready/--no-node-loss-mark-not-ready",
        "Set the condition Ready of pods on lost nodes to False; default: do.",
    ),
}


def losing(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes its parameter `node_loss_mode` from the command line."""
    return with_options(command, "node_loss_mode", _OPTIONS, _gather)


def _gather(said: dict[str, Any]) -> NodeLossChoice | None:
    with told():
        wanted = said.pop("node_loss")
        given = {name: one for name, one in said.items() if one is not None}
        if not wanted and given:
            raise InputError(f"options of the node-loss mode need {_MODE}")
        own = {_FIELDS[name]: one for name, one in given.items() if name in _FIELDS}
        settings = {
            name.removeprefix("node_loss_"): one
            for name, one in given.items()
            if name not in _FIELDS
        }
        return NodeLossChoice(settings=settings, **own) if wanted else None
