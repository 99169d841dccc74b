"""What hooks work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.decisions.policies import NO_POLICIES, Policies

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.clock import Clock
    from bailiff.decisions import Options, Systems
    from bailiff.lookup import Source
    from bailiff.tally import Tally
    from bailiff.webhooks.hook import ObjectReader
    from bailiff.webhooks.settings import AdmissionSettings


def no_policies() -> Policies:
    """All are off."""
    return NO_POLICIES


@dataclass(frozen=True, kw_only=True)
class HookParts:
    """What each hook may use; a hook takes of it what it needs.

    Attributes:
        settings: how hooks answer.
        clock: for the instant that is decided for, and for deadlines.
        systems: who says whether a pod is to be evicted.
        options: how they decide.
        objects: reads the objects of requests.
        source: live objects of the cluster; None: there is no cluster to read.
        policies: those in force now.
        tally: counts evictions over time; None: there is no cluster to count in.
    """

    settings: AdmissionSettings
    clock: Clock
    systems: Systems
    options: Options
    objects: ObjectReader
    source: Source | None = None
    policies: Callable[[], Policies] = no_policies
    tally: Tally | None = None
