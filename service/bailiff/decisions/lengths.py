r"""How long an answer can become, counted from the texts of the question before it is answered.

A text is repeated in several places: what a finding says stands in the decision and in its Event,
too. JSON writes a control character as six, such as `\u0001`. So lengths are counted as JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bailiff.decisions.cost import MAX_ANSWER_BYTES, Cost
from bailiff.kinds.names import MAX_LABEL, MAX_SUBDOMAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.kinds import Node, Pod, Taint, Toleration

# Up to here a rough count is good enough, from the longest texts that Kubernetes allows; what is
# roughly longer is measured. A part of what is allowed, since several systems count so.
ROUGH_BYTES = MAX_ANSWER_BYTES // 4
# JSON writes one character as up to so many.
CHARACTER = 6

# Bytes of an answer besides its decisions; of a decision besides names and what systems find.
_ANSWER, _DECISION = 200, 400
# A decision names its pod in `pod` and in the Event; or the pod's node in two messages and in a
# step of the trace, where that is another than the one asked about.
_NAMED = 3
# A decision is made and written, whatever it says: that takes as long as so many steps.
_STEPS = 10
_LONGEST_NAMES = CHARACTER * (MAX_LABEL + 3 * MAX_SUBDOMAIN) + 20


def length(*values: object) -> int:
    """The bytes of these values as JSON."""
    return len(msgspec.json.encode(values))


def words_of_taint(taint: Taint) -> int:
    """The bytes of a taint where a message names it; the names of its fields are not counted."""
    return length(taint.key, taint.value, taint.effect)


def words_of_toleration(toleration: Toleration) -> int:
    """The same of a toleration, without its seconds."""
    return length(toleration.key, toleration.operator, toleration.value, toleration.effect)


def weigh_decisions(pods: Sequence[Pod], node: Node | None = None) -> Cost:
    """What an answer for pods tells besides what systems find: whom it concerns, and when."""
    told = len(pods) * (_DECISION + (_NAMED + 1) * _LONGEST_NAMES)
    if told > ROUGH_BYTES:
        names = sum(
            length(pod.metadata.namespace, pod.metadata.name, pod.metadata.uid, pod.spec.node_name)
            for pod in pods
        )
        where = 0 if node is None else length(node.metadata.name)
        told = len(pods) * (_DECISION + where) + _NAMED * names
    return Cost(_STEPS * len(pods), _ANSWER + told, "$.pods")
