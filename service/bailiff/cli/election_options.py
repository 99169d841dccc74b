"""Options that say which shard of the nodes a worker has, and whether it is elected to act."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.cli.errors import InputError
from bailiff.cli.options import setting

if TYPE_CHECKING:
    from bailiff.bootstrap.settings import LeaseChoice
    from bailiff.worker import Shard

ELECTION = "Shards and election"
DEFAULT_NAME = "bailiff-worker"
# A Lease's name leaves room for the number of the shard.
_SHARD = "-64-of-64"

SHARDS = setting(
    "--shards",
    "Into how many shards the nodes are divided; the same for all workers.",
    ELECTION,
    min=1,
)
SHARD = setting(
    "--shard",
    "The one shard that is this worker's, from 0; default: any whose Lease is free.",
    ELECTION,
    min=0,
)
LEADER_ELECT = setting(
    "--leader-elect/--no-leader-elect",
    "Act only while holding a Lease, so that several workers may run. Default: yes with "
    "--in-cluster, else no.",
    ELECTION,
    show_default=False,
)
LEASE_NAMESPACE = setting(
    "--lease-namespace",
    "Namespace of the Lease; default: the pod's own with --in-cluster, else kube-system.",
    ELECTION,
)
LEASE_NAME = setting(
    "--lease-name",
    "Name of the Lease; the shard is appended, as in bailiff-worker-0-of-1, or of three shards "
    "bailiff-worker-2-of-3.",
    ELECTION,
)
IDENTITY = setting(
    "--identity",
    "Name to hold the Lease by; default: the hostname and something random.",
    ELECTION,
)
LEASE_DURATION = setting(
    "--lease-duration", "Seconds that others wait for a holder that is silent.", ELECTION, min=1
)
RENEW_DEADLINE = setting(
    "--renew-deadline",
    "Seconds that a holder acts without having renewed; below --lease-duration.",
    ELECTION,
)
RETRY_PERIOD = setting(
    "--retry-period", "Seconds between two renewals, and two looks of those who wait.", ELECTION
)
LONGEST_LEASE = setting(
    "--longest-lease",
    "Seconds that a Lease is believed at most, whatever it says; not below any worker's "
    "--lease-duration.",
    ELECTION,
)


def choose_shards(
    shards: int, shard: int | None, *, elects: bool, shadow: bool
) -> tuple[Shard, ...]:
    """The shards that this process may look after, one at a time.

    Raises:
        InputError: there is no such shard, or nothing tells which of several it is.
    """
    from bailiff.worker import Shard  # noqa: PLC0415 - the worker alone needs it

    try:
        if shard is not None:
            return (Shard(shard, shards),)
        # A shadow holds no Lease and harms nobody: it looks at all nodes.
        every = (Shard(),) if shadow else Shard.all_of(shards)
    except ValueError as error:
        raise InputError(f"--shard, --shards: {error}") from error
    if len(every) > 1 and not elects:
        raise InputError(
            f"--shard: which of {shards} shards? --leader-elect takes any that is free, "
            "--shard says which"
        )
    return every


def check_count(shards: int) -> None:
    """Raises InputError if nodes cannot be divided so."""
    from bailiff.worker import Shard  # noqa: PLC0415 - as above

    try:
        Shard(0, shards)
    except ValueError as error:
        raise InputError(f"--shards: {error}") from error


def check_name(name: str) -> None:
    """Raises InputError if no Lease can have such a name with a shard appended."""
    from bailiff.kinds.names import (  # noqa: PLC0415 - as above
        MAX_SUBDOMAIN,
        SUBDOMAIN_RULE,
        is_dns_subdomain,
    )

    most = MAX_SUBDOMAIN - len(_SHARD)
    if not is_dns_subdomain(name) or len(name) > most:
        raise InputError(f"--lease-name: {SUBDOMAIN_RULE}; here {most}, got {name[:50]!r}")


def choose_lease(
    namespace: str | None,
    name: str,
    identity: str | None,
    duration: int,
    renew_deadline: float,
    retry_period: float,
    longest: float,
) -> LeaseChoice:
    """The Lease to take part in the election for.

    Raises:
        InputError: the times do not fit each other, or no Lease can have such a name.
    """
    from bailiff.bootstrap.settings import LeaseChoice  # noqa: PLC0415 - as above
    from bailiff.worker import ElectionSettings  # noqa: PLC0415

    check_name(name)
    # A holder's request may take a third of what it has, so that it has three tries.
    timeout = min(ElectionSettings().request_timeout, renew_deadline / 3)
    try:
        times = ElectionSettings(duration, renew_deadline, retry_period, timeout, longest)
    except ValueError as error:
        names = "--lease-duration, --renew-deadline, --retry-period, --longest-lease"
        raise InputError(f"{names}: {error}") from error
    return LeaseChoice(namespace, name, identity, times)
