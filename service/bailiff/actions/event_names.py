"""Names for Events, made from what they tell, so that the same one told twice is one object.

An Event whose answer was lost may be told again, and so may that of a worker which has lost its
lead to another meanwhile. A name at random would make two of it; client-go's (the pod's name and
the nanosecond, tools/events/event_recorder.go) would, too, from two processes.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.actions.event_bodies import Regarding
    from bailiff.decisions import EventNote

# Seconds within which two workers that tell the same of a pod tell of the same occurrence;
# client-go's span for counting Events as one (tools/record/events_cache.go). Later it is news.
_SPAN = 600
# Of a node nobody tells but who leads, and each occurrence once. What a worker tells of it after a
# restart has happened anew, however soon.
_SPAN_OF_A_NODE = 1
# An object's name may have 253 characters, the suffix takes 17.
_LONGEST_PREFIX = 236
# What is remembered of what was told: more than wait to be written at once.
_CAPACITY = 20_000


class EventNames:
    """What one worker has told lately, to tell an occurrence from its repetition.

    A pod may be marked, spared and marked again within the span: the third Event says what the
    first did and must not be taken for it. So the occurrences are numbered. Two workers number
    alike, each from one.
    """

    def __init__(self) -> None:
        self._told: OrderedDict[str, int] = OrderedDict()

    def next(self, about: Regarding, note: EventNote, at: datetime, component: str) -> str:
        """The name of an Event.

        Args:
            about: what it is about, by UID.
            note: what it says.
            at: when it was noted, by the wall clock.
            component: the controller that it comes from.
        """
        span = int(at.timestamp()) // (_SPAN_OF_A_NODE if about.kind == "Node" else _SPAN)
        told = _digest(about.uid, component, note.type, note.reason, note.message, span)
        number = self._told.pop(told, 0) + 1
        self._told[told] = number
        if len(self._told) > _CAPACITY:
            self._told.popitem(last=False)
        return f"{about.name[:_LONGEST_PREFIX]}.{_digest(told, number)}"


def _digest(*parts: str | int) -> str:
    """16 hexadecimal digits; whoever could find two alike may write Events anyway."""
    return hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=8).hexdigest()
