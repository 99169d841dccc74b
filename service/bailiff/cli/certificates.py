"""`bailiff certificates renew`: the serving certificate that Bailiff makes for itself."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated

import typer

from bailiff.cli.errors import InputError, told
from bailiff.cli.help import Command
from bailiff.cli.options import CONTEXT, IN_CLUSTER, KUBECONFIG, setting, usual_cluster

if TYPE_CHECKING:
    from bailiff.certificates import Place, Plan

app = typer.Typer(help="The serving certificate that Bailiff makes for itself.")

_NAMESPACE = setting(
    "--namespace",
    "Namespace of the Secret; default: the pod's own, else kube-system.",
    show_default=False,
)
_SECRET = setting("--secret", "Name of the Secret, which has to be there, if empty.")
_DNS_NAMES = setting("--dns-name", "A name that the server is called by; may be given repeatedly.")
_MUTATING = setting(
    "--mutating-webhook-configuration",
    "One whose webhooks are to believe the certificate; may be given repeatedly.",
)
_VALIDATING = setting(
    "--validating-webhook-configuration",
    "A validating webhook configuration; may be given repeatedly.",
)
_DAYS = setting("--days", "For which a certificate is valid.", min=1, max=3650)
_RENEW_BEFORE = setting(
    "--renew-before-days", "Replace the certificate this many days before it ends.", min=0, max=3649
)
_KEEP = setting(
    "--keep-seconds",
    "Seconds for which webhooks also believe the authority of the replaced certificate, until all "
    "pods serve the new one.",
    min=0,
    max=7 * 86_400,
)
_SETTLE = setting(
    "--settle-seconds",
    "Between the moment that webhook configurations name a new authority and the one that its "
    "certificate is served: until all API servers know of it.",
    min=0,
    max=45,
)
_FORCE = typer.Option("--force", help="Replace it whatever its age.")
_MOST_NAMES = 100


@app.callback()
def certificates() -> None:
    """The serving certificate that Bailiff makes for itself."""


@app.command(cls=Command)
def renew(
    secret: Annotated[str, _SECRET],
    dns_name: Annotated[list[str], _DNS_NAMES],
    namespace: Annotated[str | None, _NAMESPACE] = None,
    mutating_webhook_configuration: Annotated[list[str] | None, _MUTATING] = None,
    validating_webhook_configuration: Annotated[list[str] | None, _VALIDATING] = None,
    days: Annotated[int, _DAYS] = 90,
    renew_before_days: Annotated[int, _RENEW_BEFORE] = 30,
    keep_seconds: Annotated[int, _KEEP] = 3600,
    settle_seconds: Annotated[float, _SETTLE] = 30.0,
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
    force: Annotated[bool, _FORCE] = False,
) -> None:
    """Make the certificate in a Secret, or replace it where that is due; webhooks are told first.

    To be run again and again, as by a CronJob: each run does what is due, and no more.
    """
    from bailiff.bootstrap.certificates import renew_certificate  # noqa: PLC0415 - loads a client
    from bailiff.certificates import Place, Terms  # noqa: PLC0415 - as above

    with told():
        _check(secret, dns_name, days, renew_before_days)
        place = Place(
            namespace=namespace or "",
            secret=secret,
            webhooks=(
                *_each("MutatingWebhookConfiguration", mutating_webhook_configuration),
                *_each("ValidatingWebhookConfiguration", validating_webhook_configuration),
            ),
        )
        terms = Terms(
            names=tuple(dict.fromkeys(dns_name)),
            life=timedelta(days=days),
            renewed_before=timedelta(days=renew_before_days),
            kept=timedelta(seconds=keep_seconds),
        )
        chosen = usual_cluster(kubeconfig, context, in_cluster=in_cluster)
        done = renew_certificate(chosen, place, terms, settle_seconds, force=force)
    typer.echo(_told(done, place))


def _each(kind: str, names: list[str] | None) -> list[tuple[str, str]]:
    return [(kind, name) for name in names or ()]


def _check(secret: str, names: list[str], days: int, renew_before_days: int) -> None:
    from bailiff.kinds.names import is_dns_subdomain  # noqa: PLC0415 - as above

    if not is_dns_subdomain(secret):
        raise InputError(f"--secret: {secret!r} is no name of a Secret")
    if not 1 <= len(names) <= _MOST_NAMES:
        raise InputError(f"--dns-name: expected 1 to {_MOST_NAMES} of them")
    for name in names:
        if not is_dns_subdomain(name.removeprefix("*.")):
            raise InputError(f"--dns-name: {name!r} is no DNS name")
    if renew_before_days >= days:
        raise InputError("--renew-before-days: expected less than --days")


def _told(done: Plan, place: Place) -> str:
    word = {"issue": "issued", "prune": "old authority taken away", "none": "nothing to do"}
    said = f"Secret {place.secret}: {word[done.step]}: {done.why}"
    return "; ".join((said, *(f"caBundle written in {one}" for one in done.told)))
