"""Options that say which share of the nodes a worker has, and whether it is elected to act."""

from __future__ import annotations

import re

import typer

from bailiff import bootstrap
from bailiff.worker import MAX_SHARDS, ElectionSettings, Shard

_DEFAULTS = ElectionSettings()
# A DNS subdomain (RFC 1123), with room for the number of the share.
_NAME = re.compile(r"(?=.{1,240}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?")

SHARDS = typer.Option(
    "--shards",
    min=1,
    max=MAX_SHARDS,
    help="Into how many shares the nodes are divided; the same for all workers.",
    envvar="BAILIFF_SHARDS",
)
SHARD = typer.Option(
    "--shard",
    min=0,
    help="The one share that is this worker's, from 0; default: any whose Lease is free.",
    envvar="BAILIFF_SHARD",
)
LEADER_ELECT = typer.Option(
    "--leader-elect/--no-leader-elect",
    help="Act only while holding a Lease, so that several workers may run. Default: yes with "
    "--in-cluster, else no.",
    envvar="BAILIFF_LEADER_ELECT",
    show_default=False,
)
LEASE_NAMESPACE = typer.Option(
    "--lease-namespace",
    help="Namespace of the Lease; default: the pod's own with --in-cluster, else kube-system.",
    envvar="BAILIFF_LEASE_NAMESPACE",
)
LEASE_NAME = typer.Option(
    "--lease-name",
    help="Name of the Lease; the share is appended, as in bailiff-worker-0-of-1, or of three "
    "shares bailiff-worker-2-of-3.",
    envvar="BAILIFF_LEASE_NAME",
)
IDENTITY = typer.Option(
    "--identity",
    help="Name to hold the Lease by; default: the hostname and something random.",
    envvar="BAILIFF_IDENTITY",
)
LEASE_DURATION = typer.Option(
    "--lease-duration",
    min=1,
    help="Seconds that others wait for a holder that is silent.",
    envvar="BAILIFF_LEASE_DURATION",
)
RENEW_DEADLINE = typer.Option(
    "--renew-deadline",
    help="Seconds that a holder acts without having renewed; below --lease-duration.",
    envvar="BAILIFF_RENEW_DEADLINE",
)
RETRY_PERIOD = typer.Option(
    "--retry-period",
    help="Seconds between two renewals, and two looks of those who wait.",
    envvar="BAILIFF_RETRY_PERIOD",
)


def choose_shards(
    shards: int, shard: int | None, *, elects: bool, shadow: bool
) -> tuple[Shard, ...]:
    """The shares that this process may look after, one at a time.

    Raises:
        ValueError: there is no such share, or nothing tells which of several it is.
    """
    if shard is not None:
        return (Shard(shard, shards),)
    if shadow:
        # It holds no Lease and harms nobody: it looks at all nodes.
        return (Shard(),)
    if shards > 1 and not elects:
        raise ValueError(
            f"which of {shards} shards? --leader-elect takes any that is free, --shard says which"
        )
    return Shard.all_of(shards)


def choose_lease(
    namespace: str | None,
    name: str,
    identity: str | None,
    duration: int,
    renew_deadline: float,
    retry_period: float,
) -> bootstrap.LeaseChoice:
    """The Lease to take part in the election for.

    Raises:
        ValueError: the times do not fit each other, or no Lease can have such a name.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"lease name: lower-case letters, digits, - and . only, got {name!r}")
    # A holder's request may take a third of what it has, so that it has three tries.
    timeout = min(_DEFAULTS.request_timeout, renew_deadline / 3)
    times = ElectionSettings(duration, renew_deadline, retry_period, timeout)
    return bootstrap.LeaseChoice(namespace, name, identity, times)
