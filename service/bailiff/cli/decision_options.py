"""Options of how Bailiff decides, the same for every command that does."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Annotated

from bailiff.cli.options import DECISIONS, setting

if TYPE_CHECKING:
    from collections.abc import Callable

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

    Typer reads options from a signature, so the fields' options are written into that. What is not
    said stays as Options has it, which is not loaded before a command runs.
    """
    command.__annotations__.pop("options")
    given = inspect.signature(command, eval_str=True)
    own = [one for one in given.parameters.values() if one.name != "options"]
    added = [_parameter(name, option) for name, option in _OPTIONS.items()]

    @functools.wraps(command)
    def run(**values: object) -> None:
        from bailiff.decisions import Options  # noqa: PLC0415 - see above

        said = {name: values.pop(name) for name in _OPTIONS}
        chosen = {name: value for name, value in said.items() if value is not None}
        command(**values, options=Options(**chosen))  # type: ignore[arg-type]  # bool, by Typer

    run.__dict__["__signature__"] = given.replace(parameters=[*own, *added])
    run.__annotations__ = {one.name: one.annotation for one in (*own, *added)}
    return run


def _parameter(name: str, option: object) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    annotation = Annotated[bool | None, option]
    return inspect.Parameter(name, kind, default=None, annotation=annotation)
