"""How the node stands, for who asks: what the last round said, who went, what the kubelet did."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from bailiff.decisions.pressure.findings import EVICTED
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.text import describe_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bailiff.agent.fates import Fate
    from bailiff.agent.judge import Judged
    from bailiff.clock import Clock
    from bailiff.decisions.decision import Finding
    from bailiff.decisions.pressure.report import PressureReport, ThresholdReport
    from bailiff.decisions.pressure.thresholds import Identity
    from bailiff.kinds import Pod

# So many are told, and so many more pods are known, more than go in a day.
_MOST_TOLD = 64
_MOST_KEPT = 1024
_NO_THRESHOLD = "none is set, so that nobody is ever evicted for the node"
NEVER_READ = "there was no round yet"
# Seconds. A round waits for a pod to leave for half a minute, and before it for each request and
# each image that is removed; no one of these takes a quarter of an hour.
_STUCK_AFTER = 900.0


class _Choice(NamedTuple):
    """A pod that was chosen."""

    pod: str
    uid: str
    at: datetime
    why: str
    cause: str
    fate: str = ""


class Standing:
    """What is told at `/v1/agent`.

    Attributes:
        unknown: why nothing is known of the node; empty: something is.
    """

    def __init__(self, node: str, mode: str, clock: Clock) -> None:
        """Nothing is known yet; `mode` is `acting`, `dryRun` or `shadow`."""
        self._node = node
        self._mode = mode
        self._clock = clock
        self.unknown = NEVER_READ
        self._lost_by = ""
        self._met: frozenset[Identity] = frozenset()
        self._report: PressureReport | None = None
        self._at: datetime | None = None
        self._waits = ""
        self._unmeasured = 0
        # By UID: whom we chose, and whom the node's kubelet has evicted, when each was first seen.
        self._chosen: dict[str, _Choice] = {}
        self._kubelets: dict[str, _Choice] = {}
        # What is not as it should be, by what it is about.
        self._complaints: dict[str, str] = {}
        self._round_at = clock.elapsed()
        self._freed: deque[Mapping[str, Any]] = deque(maxlen=_MOST_TOLD)

    def rounded(self) -> None:
        """A round has ended, whatever it came to."""
        self._round_at = self._clock.elapsed()

    def since_round(self) -> float:
        """Seconds since a round has ended, or since the start."""
        return self._clock.elapsed() - self._round_at

    @property
    def stuck(self) -> list[str]:
        """Why the process is to be started anew."""
        since = self.since_round()
        return [f"no round has ended for {since:.0f} s"] if since > _STUCK_AFTER else []

    def judged(self, judged: Judged, at: datetime) -> bool:
        """There was a round; whether nothing was known before it."""
        is_news = self.unknown not in ("", NEVER_READ)
        self.unknown, self._report, self._at = "", judged.report, at
        self._lost_by = ""
        self._unmeasured = judged.unmeasured
        self.complain("thresholds", _what_is_wrong_with(judged.report.thresholds))
        return is_news

    def met_anew(self, report: PressureReport) -> list[ThresholdReport]:
        """Thresholds that are met, and were not in the last round."""
        met = {one.threshold.identity: one for one in report.thresholds if one.met}
        anew = [one for which, one in met.items() if which not in self._met]
        self._met = frozenset(met)
        return anew

    def waits(self, why: str) -> bool:
        """Nobody goes though somebody is chosen; empty: that is not so. Whether that is news."""
        is_news = bool(why) and not self._waits
        self._waits = why
        return is_news

    def lose_sight(self, reason: str, why: str) -> bool:
        """Nothing is known of the node, for a reason in one word; whether that is news."""
        is_news = self._lost_by != reason
        self.unknown, self._lost_by = why, reason
        self._waits = ""
        return is_news

    def complain(self, about: str, why: str) -> bool:
        """Not all is as it should be with this; empty: it is. Whether that is news."""
        is_news = bool(why) and about not in self._complaints
        self._complaints.pop(about, None)
        if why:
            self._complaints[about] = why
        return is_news

    @property
    def complaints(self) -> list[str]:
        """Why not all is as it should be."""
        unknown = [self.unknown] if self.unknown else []
        unknown += [f"nobody goes yet: {self._waits}"] if self._waits else []
        return unknown + [f"{about}: {why}" for about, why in self._complaints.items()]

    def chosen(self, pod: Pod, found: Finding, at: datetime) -> bool:
        """This pod goes, or would; the first time counts. Whether that is news."""
        uid = pod.metadata.uid
        is_news = uid not in self._chosen
        told = _Choice(pod.key, uid, at, found.message.strip(), found.cause)
        self._chosen.setdefault(uid, told)
        _forget_oldest(self._chosen)
        return is_news

    def came_to(self, pod: Pod, fate: Fate) -> None:
        """What the last attempt to evict one that was chosen has come to."""
        uid = pod.metadata.uid
        if uid in self._chosen:
            self._chosen[uid] = self._chosen[uid]._replace(fate=fate.value)

    def see(self, pod: Pod) -> None:
        """A pod of the node has changed; it may be that the node's kubelet has evicted it."""
        if pod.status.reason != EVICTED or not pod.is_finished:
            return
        uid = pod.metadata.uid
        seen = _Choice(pod.key, uid, self._clock.now(), "", "")
        self._kubelets.setdefault(uid, seen)
        _forget_oldest(self._kubelets)

    def freed(self, what: Mapping[str, Any]) -> None:
        """The node has freed something."""
        self._freed.append(what)

    def describe(self) -> dict[str, Any]:
        """All of it, for JSON."""
        report = self._report
        told: dict[str, Any] = {"node": self._node, "mode": self._mode, "unknown": self.unknown}
        told["complaints"] = self.complaints
        if report is not None and self._at is not None:
            told |= {
                "asOf": describe_time(self._at),
                "reason": report.reason,
                "message": report.message,
                "waits": self._waits,
                "unmeasuredPods": self._unmeasured,
                "conditions": [one.type for one in report.conditions if one.status == "True"],
                "thresholds": report.thresholds,
                "layout": report.layout,
            }
        told["chosen"] = [self._compared(one) for one in _newest(self._chosen.values())]
        if self._mode == "shadow":
            missed = [one for uid, one in self._kubelets.items() if uid not in self._chosen]
            told["missed"] = [
                {"pod": one.pod, "kubeletAt": describe_time(one.at)} for one in _newest(missed)
            ]
        told["freed"] = list(self._freed)
        return told

    def _compared(self, one: _Choice) -> dict[str, Any]:
        told = {"pod": one.pod, "uid": one.uid, "at": describe_time(one.at), "why": one.why}
        told["fate"] = one.fate
        kubelet = self._kubelets.get(one.uid)
        if kubelet is not None and self._mode == "shadow":
            told["kubeletAt"] = describe_time(kubelet.at)
            told["earlierBySeconds"] = f"{(kubelet.at - one.at).total_seconds():.3f}"
        return told


def _what_is_wrong_with(thresholds: Sequence[ThresholdReport]) -> str:
    """Why one of them can never be met; empty: each may be."""
    if not thresholds:
        return _NO_THRESHOLD
    unmeasured = {one.threshold.signal for one in thresholds if one.available is None}
    # Nobody has set that one: it goes with memory.available, and with no cgroup of pods there are
    # no pods that take anything.
    unmeasured.discard(Signal.ALLOCATABLE_MEMORY_AVAILABLE)
    if not unmeasured:
        return ""
    which = ", ".join(sorted(unmeasured))
    # Where a disk is looked for that is not there.
    see = ": see --kubelet-dir and --image-dir" if any("fs." in one for one in unmeasured) else ""
    return f"not measured, so that nobody goes for it: {which}{see}"


def _newest(choices: Iterable[_Choice]) -> list[_Choice]:
    return list(choices)[-_MOST_TOLD:]


def _forget_oldest(kept: dict[str, _Choice]) -> None:
    while len(kept) > _MOST_KEPT:
        del kept[next(iter(kept))]
