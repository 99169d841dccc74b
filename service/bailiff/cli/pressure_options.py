"""Options of the worker's pressure mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bailiff.bootstrap.choices import PressureChoice
from bailiff.cli.errors import InputError, told
from bailiff.cli.option_groups import with_options
from bailiff.cli.options import setting

if TYPE_CHECKING:
    from collections.abc import Callable

PRESSURE = "Pressure on nodes"
_MODE = "--pressure"

# The field of PressureChoice that each option sets.
_FIELDS = {
    "pressure_node_selector": "selector",
    "pressure_config": "config",
    "pressure_extensions": "extensions",
    "pressure_interval": "interval",
    "pressure_stale_after": "stale_after",
    "pressure_layout": "layout",
    "pressure_keep_pods": "keeps_pods",
    "pressure_hard_overrides_policies": "hard_overrides_policies",
    "pressure_conditions": "publishes",
    "kubelet_via_api_server": "via_api_server",
    "kubelet_certificate_authority": "ca_file",
    "kubelet_insecure_tls": "insecure",
    "kubelet_token_file": "token_file",
    "kubelet_client_certificate": "certificate_file",
    "kubelet_client_key": "key_file",
}
_OPTIONS: dict[str, Any] = {
    "pressure": Annotated[
        bool | None,
        setting(
            _MODE,
            "Read the summaries of nodes, and evict pods from those that run out of memory, disk "
            "or processes.",
            PRESSURE,
        ),
    ],
    "pressure_node_selector": Annotated[
        str | None,
        setting(
            "--pressure-node-selector",
            "Only of nodes with these labels, as pool=spot,tier=2; default: of all nodes.",
            PRESSURE,
        ),
    ],
    "pressure_config": Annotated[
        Path | None,
        setting(
            "--pressure-config",
            "KubeletConfiguration whose thresholds count on all these nodes; default: those of "
            "each kubelet, by its /configz.",
            PRESSURE,
        ),
    ],
    "pressure_extensions": Annotated[
        Path | None,
        setting(
            "--pressure-extensions",
            "File of settings that no kubelet has, as dry runs, release targets and signals of "
            "stalls, see docs/pressure/extensions.md; default: none.",
            PRESSURE,
        ),
    ],
    "pressure_interval": Annotated[
        float | None,
        setting(
            "--pressure-interval",
            "Seconds from one summary of a node to the next, 1 and up; default: 10.",
            PRESSURE,
        ),
    ],
    "pressure_stale_after": Annotated[
        float | None,
        setting(
            "--pressure-stale-after",
            "Seconds without anything newly measured after which a node is unknown, and nobody is "
            "evicted there; default: 120.",
            PRESSURE,
        ),
    ],
    "pressure_layout": Annotated[
        str | None,
        setting(
            "--pressure-layout",
            "File systems of all these nodes: single, dedicated (images and writable layers on "
            "another one), split (images alone); default: by their sizes, so that two disks of one "
            "size are taken for one.",
            PRESSURE,
        ),
    ],
    "pressure_keep_pods": Annotated[
        bool | None,
        setting(
            "--pressure-keep-pods",
            "Write Failed and Evicted into the status, as the kubelet does, and delete nothing; "
            "default: delete the pods too.",
            PRESSURE,
        ),
    ],
    "pressure_hard_overrides_policies": Annotated[
        bool | None,
        setting(
            "--pressure-hard-overrides-policies",
            "Pods that go by a hard threshold go whatever the policies say.",
            PRESSURE,
        ),
    ],
    "pressure_conditions": Annotated[
        bool | None,
        setting(
            "--pressure-conditions/--no-pressure-conditions",
            "Write MemoryPressure, DiskPressure and PIDPressure on nodes where nobody else does; "
            "default: do.",
            PRESSURE,
        ),
    ],
    "kubelet_via_api_server": Annotated[
        str | None,
        setting(
            "--kubelet-via-api-server",
            "never, where-unreachable or always: have the API server ask kubelets, which takes the "
            "right nodes/proxy, by which one may run commands in every container; default: never.",
            PRESSURE,
        ),
    ],
    "kubelet_certificate_authority": Annotated[
        Path | None,
        setting(
            "--kubelet-certificate-authority",
            "Certificates in PEM that vouch for kubelets; default: the cluster's.",
            PRESSURE,
        ),
    ],
    "kubelet_insecure_tls": Annotated[
        bool | None,
        setting(
            "--kubelet-insecure-tls",
            "Take whatever certificate a kubelet shows. The cluster's token is not shown then: a "
            "login by token needs --kubelet-token-file or --kubelet-client-certificate besides.",
            PRESSURE,
        ),
    ],
    "kubelet_token_file": Annotated[
        Path | None,
        setting("--kubelet-token-file", "A token for kubelets alone.", PRESSURE),
    ],
    "kubelet_client_certificate": Annotated[
        Path | None,
        setting(
            "--kubelet-client-certificate", "A client certificate for kubelets, in PEM.", PRESSURE
        ),
    ],
    "kubelet_client_key": Annotated[
        Path | None,
        setting("--kubelet-client-key", "Its private key, in PEM.", PRESSURE),
    ],
}


def pressing(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes its parameter `pressure_mode` from the command line."""
    return with_options(command, "pressure_mode", _OPTIONS, _gather)


def _gather(said: dict[str, Any]) -> PressureChoice | None:
    with told():
        wanted = said.pop("pressure")
        given = {_FIELDS[name]: one for name, one in said.items() if one is not None}
        if not wanted and given:
            raise InputError(f"options of the pressure mode need {_MODE}")
        selector = _labels(given.pop("selector", ""))
        return PressureChoice(selector=selector, **given) if wanted else None


def _labels(text: str) -> tuple[tuple[str, str], ...]:
    """Labels as `kubectl get -l` takes those that have to be equal."""
    found = []
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not key.strip() or not equals or key.strip().endswith("!"):
            raise InputError(f"--pressure-node-selector: expected key=value, got {part!r}")
        found.append((key.strip(), value.removeprefix("=").strip()))
        _check_label(part, *found[-1])
    return tuple(found)


def _check_label(part: str, key: str, value: str) -> None:
    """Refuse what no node can have, so that none would ever be watched."""
    # `--help` loads no kinds.
    from bailiff.kinds.names import (  # noqa: PLC0415
        KEY_RULE,
        VALUE_RULE,
        is_label_key,
        is_label_value,
    )

    if not is_label_key(key):
        raise InputError(f"--pressure-node-selector: the key in {part!r} {KEY_RULE}")
    if not is_label_value(value):
        raise InputError(f"--pressure-node-selector: the value in {part!r} {VALUE_RULE}")
