"""What is kept over a restart, put together from those who know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from bailiff.agent.fates import Answer
from bailiff.agent.state_file import Untold
from bailiff.decisions.decision import Verdict
from bailiff.decisions.pressure.findings import SYSTEM, PressureEviction, by_status_alone
from bailiff.kinds import Pod
from bailiff.kinds.meta import ObjectMeta

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.agent.evicting import Evictor
    from bailiff.agent.state_file import Remembered
    from bailiff.decisions.decision import Finding

# More pods than run on a node.
_MOST_UNTOLD = 256


class Kept(Protocol):
    """Where it is kept; see StateFile."""

    def read(self) -> Remembered:
        """What was kept before."""
        ...

    def write(self, remembered: Remembered) -> None:
        """Keep this."""
        ...


class Remembering:
    """Owns what is kept."""

    def __init__(self, file: Kept, *, on_paper: bool = False) -> None:
        """Read what was kept; on paper nobody is told."""
        self._file = file
        self._on_paper = on_paper
        self._kept = file.read()

    @property
    def pressure(self) -> str:
        """As of Remembered."""
        return self._kept.pressure

    @property
    def images(self) -> bytes:
        """As of Remembered."""
        return bytes(self._kept.images)

    @property
    def untold(self) -> tuple[Untold, ...]:
        """As of Remembered."""
        return self._kept.untold

    def note(self, pressure: str) -> None:
        """A round was; see Judge.note."""
        self._write(pressure=pressure)

    def note_images(self, images: bytes) -> None:
        """What is known of images, as JSON."""
        self._write(images=msgspec.Raw(images))

    def stopped(self, pod: Pod, found: Finding, at: datetime) -> None:
        """The containers of this pod were stopped now, and the API server does not know."""
        told = Untold(
            namespace=pod.metadata.namespace,
            name=pod.metadata.name,
            uid=pod.metadata.uid,
            message=found.message,
            cause=found.cause,
            grace_period_seconds=found.grace_period_seconds or 1,
            keeps_pod=found.terms is not None and found.terms.keeps_pod,
            at=at,
        )
        others = tuple(one for one in self._kept.untold if one.uid != told.uid)
        self._write(untold=(*others, told)[-_MOST_UNTOLD:])

    async def tell(self, evictor: Evictor, now: datetime) -> None:
        """Tell the API server of those that were stopped; where it is away they are kept."""
        if self._on_paper:
            return
        for one in self._kept.untold:
            pod = Pod(metadata=ObjectMeta(name=one.name, namespace=one.namespace, uid=one.uid))
            answer = await evictor.tell(pod, _finding(one), one.at or now)
            if answer in (Answer.AWAY, Answer.BUSY):
                return
            if answer is Answer.UNCLEAR:
                # It may pass, and is of this pod alone.
                continue
            # Who is refused once is refused again: the log has said so.
            self._write(untold=tuple(o for o in self._kept.untold if o.uid != one.uid))

    def _write(self, **changed: object) -> None:
        self._kept = msgspec.structs.replace(self._kept, **changed)
        self._file.write(self._kept)


def _finding(one: Untold) -> Finding:
    found = PressureEviction(
        system=SYSTEM,
        verdict=Verdict.EVICT_NOW,
        reason="NodePressure",
        message=one.message,
        cause=one.cause,
        grace_period_seconds=one.grace_period_seconds,
    )
    return by_status_alone(found) if one.keeps_pod else found
