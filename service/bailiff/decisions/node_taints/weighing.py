"""What it costs to hold a node's taints against the tolerations of pods, and to tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import Cost
from bailiff.decisions.lengths import (
    CHARACTER,
    ROUGH_BYTES,
    length,
    words_of_taint,
    words_of_toleration,
)
from bailiff.decisions.node_taints.built_in import BUILT_IN_TAINTS, built_in_taint
from bailiff.kinds import NO_EXECUTE
from bailiff.kinds.names import MAX_LABEL, MAX_SUBDOMAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.kinds import Pod, Taint, Toleration

PATH = "$.node.spec.taints"
# A step of a trace is made as well as compared: that takes as long as this many comparisons.
_TRACE_STEPS = 10
# Bytes of a finding, with the decision and the Event that repeat it, besides taints and
# tolerations; of a step of its trace.
_FINDING, _STEP = 500, 600
# A decision names the taint and the toleration that decide three times (its own message, the
# Event's and the finding's), and the taint once more as the cause; a step names each twice.
_NAMED, _NAMED_IN_STEP = 4, 2
# The longest taint and the longest toleration: a key (PREFIX/NAME) and three words.
_LONGEST = CHARACTER * (MAX_SUBDOMAIN + 1 + 4 * MAX_LABEL) + 20


# The longest of what a step tells of a built-in taint, besides its own words.
_BUILT_IN = max(length(one) for one in BUILT_IN_TAINTS)


def weigh(taints: Sequence[Taint], pods: Sequence[Pod], *, explain: bool) -> Cost:
    """The cost of deciding for these pods, whether or not any toleration matches.

    The length of the answer is counted from the longest that there can be, which costs nothing;
    only where that would be too long are the taints and tolerations looked at.
    """
    evicting = [taint for taint in taints if taint.effect == NO_EXECUTE]
    number, compared = len(evicting), len(pods) * (_TRACE_STEPS + 1 if explain else 1)
    for pod in pods:
        compared += len(pod.spec.tolerations)
    steps, told = (
        number * compared,
        len(pods) * _told(2 * _LONGEST, 2 * _LONGEST * number, number, explain),
    )
    if told > ROUGH_BYTES:
        told = _measured(evicting, pods, explain=explain)
    if explain:
        built_in = [taint for taint in taints if built_in_taint(taint) is not None]
        steps += len(pods) * len(built_in)
        told += len(pods) * sum(map(_told_of_built_in, built_in))
    return Cost(steps, told, PATH)


def _told_of_built_in(taint: Taint) -> int:
    """What it means; and of one that evicts nobody the step itself, which has not been counted."""
    if taint.effect == NO_EXECUTE:
        return _BUILT_IN
    return _BUILT_IN + _STEP + _NAMED_IN_STEP * words_of_taint(taint)


def _told(longest: int, together: int, steps: int, explain: bool) -> int:
    told = _FINDING + _NAMED * longest
    return told + steps * _STEP + _NAMED_IN_STEP * together if explain else told


def _measured(taints: Sequence[Taint], pods: Sequence[Pod], *, explain: bool) -> int:
    lengths = [words_of_taint(taint) for taint in taints]
    longest, together, number = max(lengths, default=0), sum(lengths), len(taints)
    told = 0
    for pod in pods:
        toleration = _longest(pod.spec.tolerations, exactly=explain)
        told += _told(longest + toleration, together + number * toleration, number, explain)
    return told


def _longest(tolerations: Sequence[Toleration], *, exactly: bool) -> int:
    """At most so long; all of them together are quickly measured, and mostly two or three."""
    if not exactly:
        return length(tolerations)
    return max(map(words_of_toleration, tolerations), default=0)
