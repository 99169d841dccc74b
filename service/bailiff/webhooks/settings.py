"""What the command line says of admission webhooks."""

from __future__ import annotations

from dataclasses import dataclass, field

from bailiff.decisions.admission import Mutations


@dataclass(frozen=True, kw_only=True)
class AdmissionSettings:
    """How hooks answer.

    Attributes:
        mutations: of pods.
        exempt_users: whose requests only `mutate` hooks look at: Bailiff's own accounts.
        exempt_namespaces: likewise of objects in these: Bailiff's own namespace.
        gate_delete_users: accounts that may delete pods only by the gate's leave.
    """

    mutations: Mutations = field(default_factory=Mutations)
    exempt_users: frozenset[str] = frozenset()
    exempt_namespaces: frozenset[str] = frozenset()
    gate_delete_users: frozenset[str] = frozenset()
