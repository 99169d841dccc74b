"""What whoever makes a change is told of it: what is evicted when, and whose budgets that breaks.

Numbers stand first: a warning may be cut at 120 characters, and is to say the same then. Who
speaks, and of which object, stands last: kubectl prints equal warnings of several objects once, and
there are more webhooks than this one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bailiff.decisions.admission.warnings import MAX_WARNING
from bailiff.decisions.budgets import Violation, Violations
from bailiff.decisions.decision import Decision, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bailiff.decisions.changes import ChangedPod, Consequences
    from bailiff.kinds import PodDisruptionBudget

# Instants that are told one by one, and budgets.
_MAX_INSTANTS, _MAX_BUDGETS = 3, 5
# Characters that what is said has at least, however long the name of the object.
_LEAST = 60


def warnings_of(
    consequences: Consequences, budgets: Sequence[PodDisruptionBudget], now: datetime, about: str
) -> tuple[str, ...]:
    """What is to be said of a change; nothing where it evicts nobody and all has been looked at.

    Args:
        consequences: of the change.
        budgets: of the namespaces of the pods that go, and maybe others.
        now: the instant from which seconds are counted.
        about: the object that is changed, as `node node-a`.
    """
    told = _told_counts(consequences.pods, now)
    violated = [_told_violation(one) for one in Violations(consequences.going_now, budgets).all]
    if told and len(violated) == 1:
        together = f"{told}; {violated[0]}"
        if len(together) + len(_signature(about)) <= MAX_WARNING:
            told, violated = together, []
    if len(violated) > _MAX_BUDGETS:
        more = len(violated) - _MAX_BUDGETS
        violated = [*violated[:_MAX_BUDGETS], f"{more} more PodDisruptionBudgets would be violated"]
    unseen = (*consequences.too_many, *consequences.uncounted, *consequences.not_seen)
    others = (*violated, *(f"not looked at: {one}" for one in unseen))
    counts = (signed(told, about, _causes(consequences)),) if told else ()
    return (*counts, *(signed(one, about) for one in others))


def signed(text: str, about: str, cause: str = "") -> str:
    """The same with who says it, and of what: `evicts 2 pods now (bailiff: node n, k:NoExecute)`.

    Args:
        text: what is said; cut where the rest would not fit.
        about: the object, as `node n`.
        cause: what it brings; left out where it does not fit, or is the object.
    """
    if cause and cause != about:
        full = text + _signature(f"{about}, {cause}")
        if len(full) <= MAX_WARNING:
            return full
    signature = _signature(about)
    room = max(_LEAST, MAX_WARNING - len(signature))
    if len(text) > room:
        text = f"{text[: room - 1].rstrip()}…"
    return text + signature


def _signature(names: str) -> str:
    return f" (bailiff: {names})"


def _causes(consequences: Consequences) -> str:
    """The first, and how many more there are."""
    found = [*dict.fromkeys(one.after.cause for one in consequences.pods)]
    return found[0] if len(found) == 1 else f"{found[0]} and {len(found) - 1} more"


def _told_counts(pods: Sequence[ChangedPod], now: datetime) -> str:
    """`evicts 37 pods now, 5 in 300 s`; empty for none."""
    waits = Counter(_seconds(one, now) for one in pods)
    at_once = waits.pop(None, 0)
    parts = [f"{at_once} now"] if at_once else []
    if len(waits) > _MAX_INSTANTS:
        first = min(one for one in waits if one is not None)
        parts.append(f"{waits.total()} later, the first in {first} s")
    else:
        parts += [f"{waits[one]} in {one} s" for one in sorted(waits, key=lambda s: s or 0)]
    if not parts:
        return ""
    number, _, when = parts[0].partition(" ")
    parts[0] = f"{number} {'pod' if number == '1' else 'pods'} {when}"
    return f"evicts {', '.join(parts)}"


def _seconds(one: ChangedPod, now: datetime) -> int | None:
    """In how many a pod goes; None: at once."""
    if one.goes_now or one.after.evict_at is None:
        return None
    return max(1, round((one.after.evict_at - now).total_seconds()))


def _told_violation(one: Violation) -> str:
    return f"PodDisruptionBudget {one.namespace}/{one.name} would be violated"


def warning_of(decision: Decision) -> str:
    """What is to be said of a pod that comes to a node which evicts it; empty where it stays."""
    if decision.verdict is Verdict.KEEP:
        return ""
    if decision.verdict is Verdict.EVICT_NOW or decision.evict_at is None:
        return f"evicted at once from node {decision.node}: {decision.message}"
    wait = (decision.evict_at - decision.decided_at).total_seconds()
    # The message has tolerations and instants, and would be cut.
    causes = (one.cause for one in decision.findings if one.system == decision.decided_by)
    why = next(causes, "") or decision.message
    return f"evicted in {max(1, round(wait))} s from node {decision.node} by {why}"
