"""Options of the hooks that admission webhooks call."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bailiff.bootstrap.choices import MUTATIONS, AdmissionChoice
from bailiff.cli.errors import InputError, told
from bailiff.cli.option_groups import with_options
from bailiff.cli.options import setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.bootstrap.access import AccessChoice
    from bailiff.bootstrap.choices import ClusterChoice

ADMISSION = "Admission webhooks"
_MODE, _PORT, _CLIENT_CA = "--admission", "--admission-port", "--admission-client-ca-file"

# The field of AdmissionChoice that each option sets.
_FIELDS = {
    "admission_port": "port",
    "admission_client_ca_file": "client_ca_file",
    "mutation": "mutations",
    "default_not_ready_toleration_seconds": "not_ready_seconds",
    "default_unreachable_toleration_seconds": "unreachable_seconds",
    "admission_exempt_user": "exempt_users",
    "admission_exempt_namespace": "exempt_namespaces",
    "policies": "policies",
    "gate_delete_user": "gate_delete_users",
}
OPTIONS: dict[str, Any] = {
    "admission": Annotated[
        bool | None,
        setting(_MODE, "Answer AdmissionReviews, on the REST port.", ADMISSION),
    ],
    "admission_port": Annotated[
        int | None,
        setting(
            _PORT,
            "Answer them on a port of their own instead, where nobody else is served and callers "
            "need no token; 0: any free.",
            ADMISSION,
            min=0,
            max=65535,
        ),
    ],
    "admission_client_ca_file": Annotated[
        Path | None,
        setting(
            _CLIENT_CA,
            "On that port answer only who shows a certificate that one of these signs, in PEM; "
            "default: whoever reaches it.",
            ADMISSION,
        ),
    ],
    "mutation": Annotated[
        list[str] | None,
        setting(
            "--mutation",
            f"A change to make to new pods: {', '.join(MUTATIONS)}; may be given several times. "
            "Default: all.",
            ADMISSION,
            metavar="<name>",
        ),
    ],
    "default_not_ready_toleration_seconds": Annotated[
        int | None,
        setting(
            "--default-not-ready-toleration-seconds",
            "For which a pod tolerates a node that is not ready, by default-toleration-seconds; "
            "default: 300.",
            ADMISSION,
        ),
    ],
    "default_unreachable_toleration_seconds": Annotated[
        int | None,
        setting(
            "--default-unreachable-toleration-seconds",
            "For which it tolerates one that is unreachable; default: 300.",
            ADMISSION,
        ),
    ],
    "admission_exempt_user": Annotated[
        list[str] | None,
        setting(
            "--admission-exempt-user",
            "Account whose requests are allowed unseen, as Bailiff's own; may be given several "
            "times.",
            ADMISSION,
            metavar="<name>",
        ),
    ],
    "admission_exempt_namespace": Annotated[
        list[str] | None,
        setting(
            "--admission-exempt-namespace",
            "Namespace whose objects are allowed unseen, as Bailiff's own; may be given several "
            "times.",
            ADMISSION,
            metavar="<name>",
        ),
    ],
    "policies": Annotated[
        Path | None,
        setting(
            "--policies",
            "File of the worker's policies, which hold for other evictors too; looked at again "
            "every few seconds. Default: all policies are off.",
            ADMISSION,
        ),
    ],
    "gate_delete_user": Annotated[
        list[str] | None,
        setting(
            "--gate-delete-user",
            "Account that may delete pods only where the policies let it evict them; may be given "
            "several times.",
            ADMISSION,
            metavar="<name>",
        ),
    ],
}


def hooking(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes its parameter `admission_choice` from the command line."""
    return with_options(command, "admission_choice", OPTIONS, _gather)


def check_hooks(
    choice: AdmissionChoice | None, access: AccessChoice, cluster: ClusterChoice
) -> None:
    """Refuse hooks that could not be called, or not answer; raises InputError."""
    if choice is None:
        return
    if choice.client_ca_file is not None and access.tls_cert_file is None:
        raise InputError(f"{_CLIENT_CA} needs --tls-cert-file and --tls-private-key-file")
    if choice.policies is not None and not cluster.chosen:
        raise InputError("--policies needs a cluster: --kubeconfig or --in-cluster")
    if choice.gate_delete_users:
        _check_gated(choice.gate_delete_users)


def _check_gated(users: tuple[str, ...]) -> None:
    # Loads all hooks and a client of clusters, which help and every other command do without.
    from bailiff.webhooks.validate_deletes import (  # noqa: PLC0415 - as said
        NeverGatedError,
        check_gated,
    )

    try:
        check_gated(users)
    except NeverGatedError as error:
        raise InputError(f"--gate-delete-user: {error}") from error


def _gather(said: dict[str, Any]) -> AdmissionChoice | None:
    with told():
        wanted = said.pop("admission")
        given = {_FIELDS[name]: _as_tuple(one) for name, one in said.items() if one is not None}
        if not wanted and "port" not in given:
            if given.keys() - ({"policies"} if _are_of_environment(said["policies"]) else set()):
                raise InputError(f"options of admission webhooks need {_MODE} or {_PORT}")
            return None
        if "client_ca_file" in given and "port" not in given:
            raise InputError(f"{_CLIENT_CA} needs {_PORT}")
        _check(given)
        return AdmissionChoice(**given)


def _are_of_environment(policies: Path | None) -> bool:
    """The environment of a worker beside it may have the policies; an option is meant for us."""
    return str(policies) == os.environ.get("BAILIFF_POLICIES")


def _as_tuple(one: Any) -> Any:  # noqa: ANN401 - as many types as there are options
    return tuple(one) if isinstance(one, list) else one


def _check(given: dict[str, Any]) -> None:
    for name in given.get("mutations", ()):
        if name not in MUTATIONS:
            raise InputError(f"--mutation: expected one of {', '.join(MUTATIONS)}, got {name!r}")
    for what in ("not_ready", "unreachable"):
        option = f"--default-{what.replace('_', '-')}-toleration-seconds"
        if not -(2**63) <= given.get(f"{what}_seconds", 0) < 2**63:
            raise InputError(f"{option}: must fit 64 bits")
