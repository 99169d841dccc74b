"""Options of how Bailiff decides, the same for every command that does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from bailiff.cli.errors import InputError
from bailiff.cli.option_groups import with_options
from bailiff.cli.options import DECISIONS, setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.decisions import Options

# By the field of Options that each sets.
_OPTIONS = {
    "comparison_operators": setting(
        "--comparison-operators",
        "Feature gate TaintTolerationComparisonOperators: operators Lt and Gt.",
        DECISIONS,
    ),
    "evict_ended_pods": setting(
        "--evict-ended-pods",
        "Evict finished and terminating pods too, as kube-controller-manager does.",
        DECISIONS,
    ),
    "extended_resource_claims": setting(
        "--extended-resource-claims/--no-extended-resource-claims",
        "Taints count on devices behind extended resources too, unlike upstream; default: they do.",
        DECISIONS,
    ),
    "pod_group_claims": setting(
        "--pod-group-claims",
        "Feature gate DRAWorkloadResourceClaims: a PodGroup's claims are its pods', too.",
        DECISIONS,
    ),
    "device_taint_eviction": setting(
        "--device-taint-eviction/--no-device-taint-eviction",
        "Feature gate DRADeviceTaintEviction: taints of devices count; default: they do.",
        DECISIONS,
    ),
}


def deciding(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes its parameter `options` from the command line, one option a field.

    What is not said stays as Options has it, which is not loaded before a command runs.
    """
    options = {name: Annotated[bool | None, option] for name, option in _OPTIONS.items()}
    return with_options(command, "options", options, _gather)


def _gather(said: dict[str, Any]) -> Options:
    from bailiff.decisions import Options  # noqa: PLC0415 - see above

    return Options(**{name: value for name, value in said.items() if value is not None})


def check_look_ups(cluster: ClusterChoice, *, pressure: bool, node_loss: bool) -> None:
    """Refuse to have a cluster looked into that nobody has named; raises InputError."""
    said = {"--pressure-look-ups": pressure, "--node-loss-look-ups": node_loss}
    for option in (name for name, is_said in said.items() if is_said and not cluster.chosen):
        raise InputError(f"{option} needs a cluster: --kubeconfig or --in-cluster")
