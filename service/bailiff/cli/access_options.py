"""Options that say who may ask a process, and how its connections are secured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from bailiff.bootstrap.access import AccessChoice, is_loopback
from bailiff.cli.errors import InputError, told, warn
from bailiff.cli.option_groups import with_options
from bailiff.cli.options import setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.bootstrap.choices import ClusterChoice

ACCESS = "Who may ask"
# Options by any of which callers are known.
_WAYS = ("--authentication-token-webhook", "--token-auth-file", "--client-ca-file")

# By the field of AccessChoice that each sets, or by its own name where _FIELDS has that one.
_FIELDS = {"authentication_token_webhook": "token_webhook"}
_OPTIONS: dict[str, Any] = {
    "tls_cert_file": Annotated[
        Path | None,
        setting(
            "--tls-cert-file",
            "Serve with TLS: the certificate and its chain, in PEM; read again when it changes.",
            ACCESS,
        ),
    ],
    "tls_private_key_file": Annotated[
        Path | None,
        setting("--tls-private-key-file", "The certificate's private key, in PEM.", ACCESS),
    ],
    "client_ca_file": Annotated[
        Path | None,
        setting(
            "--client-ca-file",
            "Know callers by certificates that one of these signs, in PEM: the common name is the "
            "user, organizations are groups.",
            ACCESS,
        ),
    ],
    "token_auth_file": Annotated[
        Path | None,
        setting(
            "--token-auth-file",
            'Know callers by the tokens in this file: lines of token,user,uid,"group1,group2"; '
            "read again when it changes.",
            ACCESS,
        ),
    ],
    "authentication_token_webhook": Annotated[
        bool | None,
        setting(
            "--authentication-token-webhook",
            "Know callers by tokens for the audience bailiff, as the cluster does (TokenReview), "
            "and let them ask what they may read there (SubjectAccessReview).",
            ACCESS,
        ),
    ],
    "insecure": Annotated[
        bool | None,
        setting(
            "--insecure",
            "Listen elsewhere than on loopback though no caller is asked who it is.",
            ACCESS,
        ),
    ],
}


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes its parameter `access` from the command line, one option a field."""
    return with_options(command, "access", _OPTIONS, _gather)


def check_cluster(access: AccessChoice, cluster: ClusterChoice) -> None:
    """Refuse to ask a cluster that nobody has named; raises InputError."""
    if access.token_webhook and not cluster.chosen:
        raise InputError(
            "--authentication-token-webhook asks a cluster: say which, by --kubeconfig FILE or "
            "--in-cluster"
        )


def check_listening(host: str, access: AccessChoice) -> None:
    """Refuse to let everybody ask, unless told to; warn of what can be read under way.

    Raises:
        InputError: others than this machine reach the port, and nothing says who may ask; or
            nobody knows such a host.
    """
    if is_only_here(host):
        return
    if not access.asks_who and not access.insecure:
        raise InputError(
            f"--host {host}: whoever reaches it could ask; know callers by {' or '.join(_WAYS)}, "
            "listen on 127.0.0.1, or say --insecure"
        )
    if access.asks_for_tokens and access.tls_cert_file is None:
        warn("without --tls-cert-file whoever is on the way can read the callers' tokens")


def is_only_here(host: str) -> bool:
    """Whether nobody but this machine reaches who listens on `host`.

    Raises:
        InputError: nobody knows such a name. Were that left to who listens, the name might be
            known by then, and be another machine's way in.
    """
    try:
        return is_loopback(host)
    except OSError as error:
        raise InputError(f"--host {host}: {error.strerror or error}") from error


def _gather(said: dict[str, Any]) -> AccessChoice:
    with told():
        try:
            given = {name: one for name, one in said.items() if one is not None}
            return AccessChoice(**{_FIELDS.get(name, name): one for name, one in given.items()})
        except ValueError as error:
            raise InputError(str(error)) from error
