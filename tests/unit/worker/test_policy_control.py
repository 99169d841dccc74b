"""What a worker is told of its policies, the pause and namespaces, on virtual time."""

import asyncio
import contextlib
from datetime import timedelta
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from bailiff.cluster import Changed, Deleted, Replaced, Selection, Unreadable, WatchHealth
from bailiff.decisions.policies import UNKNOWN, PauseNotice, read
from bailiff.kinds import ConfigMap, Namespace, ObjectMeta
from bailiff.policy_file import PolicyFile
from bailiff.worker.policy.control import PolicyControl
from bailiff.worker.policy.news import PolicyNews
from tests.harness.clocks import START, LoopClock
from tests.harness.worlds.fake_watch import FakeWatch

pytestmark = pytest.mark.looptime(start=0)

HEAD = "apiVersion: bailiff.dev/v1\nkind: WorkerPolicies\n"
PAUSE = f"{HEAD}pause: {{namespace: ops}}\n"
OTHER_PAUSE = f"{HEAD}pause: {{namespace: ops, name: halt}}\n"
PAUSE_AND_MORE = f"{PAUSE}protection: true\n"
SELECTOR = f"{HEAD}exclude: {{namespaceSelector: {{matchLabels: {{tier: system}}}}}}\n"


class OpenedWatch(FakeWatch):
    def __init__(self, resource, selection):
        super().__init__()
        self.resource, self.selection = resource, selection
        self.health = WatchHealth()
        self.closed = False

    async def events(self):
        try:
            async for event in super().events():
                yield event
        finally:
            self.closed = True


class Scene:
    """A control, the worker that it speaks to, and the watches that it opens."""

    def __init__(self, folder, text):
        self.path = folder / "policies.yaml"
        self.path.write_text(text)
        self.watches, self.told, self.healths = [], [], {}
        self.clock, me = LoopClock(), cast("Any", self)
        self.registry, self.written = CollectorRegistry(), []
        file = PolicyFile(self.path, self.clock, self.registry, look_every=5)
        news = PolicyNews(self.clock, self.registry, me)
        self.control = PolicyControl(file, me, self.clock, me, me, news)

    async def write(self, note, at):
        self.written.append((note.type, note.reason, note.message))

    def open(self, resource, selection):
        self.watches.append(OpenedWatch(resource, selection))
        return self.watches[-1]

    def need_labels(self):
        self.told.append(("labels", "needed"))

    def set_policies(self, policies):
        self.told.append(("policies", policies))

    def set_pause(self, notice):
        self.told.append(("pause", notice))

    def set_namespaces(self, labels):
        self.told.append(("namespaces", labels))

    def last(self, what):
        return [value for name, value in self.told if name == what][-1]

    @contextlib.asynccontextmanager
    async def running(self):
        task = asyncio.create_task(self.control.run())
        await asyncio.sleep(1)
        yield
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert all(watch.closed for watch in self.watches)

    async def rewrite(self, text):
        self.path.write_text(text)
        await asyncio.sleep(11)

    async def sent(self, watch, *events):
        for event in events:
            watch.send(event)
        await asyncio.sleep(0.1)


@pytest.fixture(autouse=True)
def inline(monkeypatch):
    """Virtual time does not wait for threads: what they would do takes no time here."""

    async def call(function, *arguments):
        return function(*arguments)

    monkeypatch.setattr("asyncio.to_thread", call)


def config_map(name="bailiff-pause", **data):
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="ops"), data=data)


def namespace(name, **labels):
    return Namespace(metadata=ObjectMeta(name=name, labels=labels))


async def test_without_such_policies_nothing_is_watched(tmp_path):
    scene = Scene(tmp_path, HEAD)
    async with scene.running():
        await asyncio.sleep(60)
    assert scene.watches == []
    assert [name for name, _ in scene.told] == ["policies"]
    assert scene.control.complaints() == []


async def test_the_pause_is_unknown_before_the_worker_hears_of_the_policy(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    assert scene.told == [("pause", UNKNOWN), ("policies", read(PAUSE.encode()))]
    async with scene.running():
        [complaint] = scene.control.complaints()
        assert "ConfigMap ops/bailiff-pause" in complaint
        assert scene.control.describe()["pause"] == {"state": "unknown"}


async def test_just_the_one_config_map_is_watched(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    async with scene.running():
        [watch] = scene.watches
        assert watch.resource.plural == "configmaps"
        name = "metadata.name=bailiff-pause"
        assert watch.selection == Selection(namespace="ops", field_selector=name)
        assert scene.healths["configmaps"] is watch.health


@pytest.mark.parametrize(
    ("events", "notice"),
    [
        pytest.param([Replaced((), "1")], None, id="absent"),
        pytest.param([Replaced((config_map(),), "1")], None, id="empty"),
        pytest.param(
            [Replaced((config_map(paused="moving"),), "1")], PauseNotice(reason="moving"), id="on"
        ),
        pytest.param(
            [Replaced((), "1"), Changed(config_map(paused="moving"))],
            PauseNotice(reason="moving"),
            id="comes",
        ),
        pytest.param(
            [Replaced((config_map(paused="moving"),), "1"), Changed(config_map(paused=""))],
            None,
            id="emptied",
        ),
        pytest.param(
            [Replaced((config_map(paused="moving"),), "1"), Deleted(config_map(paused="moving"))],
            None,
            id="deleted",
        ),
        pytest.param(
            [Replaced((config_map(paused="moving"),), "1"), Replaced((), "9")], None, id="relisted"
        ),
        pytest.param(
            [Replaced((config_map(paused='{"until":"2025-12-31T00:00:00Z"}'),), "1")],
            PauseNotice(until=START - timedelta(days=1)),
            id="over",
        ),
    ],
)
async def test_the_worker_is_told_what_the_config_map_says(tmp_path, events, notice):
    scene = Scene(tmp_path, PAUSE)
    async with scene.running():
        await scene.sent(scene.watches[0], *events)
        assert scene.last("pause") == notice
        assert scene.control.complaints() == []


@pytest.mark.parametrize("listed", [True, False])
async def test_a_config_map_that_cannot_be_decoded_may_be_the_pause(tmp_path, listed):
    meta = config_map().metadata
    bad, scene = Unreadable(meta, "why"), Scene(tmp_path, PAUSE)
    async with scene.running():
        watch = scene.watches[0]
        await scene.sent(watch, Replaced((config_map(),), "1"))
        await scene.sent(watch, Replaced((), "2", (bad,)) if listed else bad)
        assert (scene.last("pause"), len(scene.control.complaints())) == (UNKNOWN, 1)
        await scene.sent(watch, Changed(config_map()))
        assert scene.last("pause") is None
        await scene.sent(watch, bad, Unreadable(meta, "why", deleted=True))
        assert (scene.last("pause"), scene.control.complaints()) == (None, [])


async def test_another_name_is_another_watch_and_unknown_at_first(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    async with scene.running():
        await scene.sent(scene.watches[0], Replaced((), "1"))
        await scene.rewrite(OTHER_PAUSE)
        assert scene.told[-2:] == [("pause", UNKNOWN), ("policies", read(OTHER_PAUSE.encode()))]
        old, new = scene.watches
        assert old.closed
        assert new.selection.field_selector == "metadata.name=halt"
        await scene.sent(old, Replaced((), "2"))
        assert scene.last("pause") is UNKNOWN
        await scene.sent(new, Replaced((config_map("halt", paused="true"),), "2"))
        assert scene.last("pause") == PauseNotice()


async def test_an_event_on_its_way_does_not_answer_for_the_new_name(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    async with scene.running():
        scene.watches[0].send(Replaced((), "1"))
        # Before the event is looked at, as within one turn of the loop.
        scene.control._apply(read(OTHER_PAUSE.encode()))
        await asyncio.sleep(1)
        assert scene.last("pause") is UNKNOWN


async def test_other_policies_leave_the_watch_alone(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    async with scene.running():
        await scene.sent(scene.watches[0], Replaced((config_map(paused="moving"),), "1"))
        await scene.rewrite(PAUSE_AND_MORE)
        assert scene.told[-1] == ("policies", read(PAUSE_AND_MORE.encode()))
        assert scene.last("pause") == PauseNotice(reason="moving")
        assert len(scene.watches) == 1


async def test_without_the_policy_the_watch_ends(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    async with scene.running():
        await scene.sent(scene.watches[0], Replaced((config_map(paused="moving"),), "1"))
        await scene.rewrite(HEAD)
        assert scene.watches[0].closed
        assert scene.last("pause") is None
        assert scene.healths["configmaps"].last_contact is None
        await scene.rewrite(PAUSE)
        assert len(scene.watches) == 2
        assert scene.last("pause") is UNKNOWN


async def test_namespaces_are_watched_while_a_selector_needs_them(tmp_path):
    scene = Scene(tmp_path, SELECTOR)
    async with scene.running():
        assert scene.last("namespaces") is UNKNOWN
        assert len(scene.control.complaints()) == 1
        [watch] = scene.watches
        assert (watch.resource.plural, watch.selection) == ("namespaces", Selection())
        system = namespace("kube-system", tier="system")
        await scene.sent(watch, Replaced((system,), "1"), Changed(namespace("shop")))
        assert scene.last("namespaces") == {"kube-system": {"tier": "system"}, "shop": {}}
        await scene.sent(watch, Deleted(system))
        assert scene.last("namespaces") == {"shop": {}}
        await scene.rewrite(HEAD)
        assert watch.closed


async def test_a_pause_is_shown_until_it_is_over(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    until = '{"by":"anna","reason":"moving","until":"2026-01-01T00:01:00Z"}'
    async with scene.running():
        await scene.sent(scene.watches[0], Replaced((config_map(paused=until),), "1"))
        shown = scene.control.describe()
        assert shown["pause"] == {
            "state": "on",
            "by": "anna",
            "reason": "moving",
            "until": "2026-01-01T00:01:00Z",
        }
        await asyncio.sleep(60)
        assert scene.control.describe()["pause"] == {"state": "off"}


async def test_a_pause_that_a_fast_clock_took_for_over_holds_once_the_clock_is_right(tmp_path):
    """The ConfigMap does not change with the clock, so nobody would read it again."""
    scene = Scene(tmp_path, PAUSE)
    until = '{"by":"anna","until":"2026-01-01T00:10:00Z"}'
    async with scene.running():
        scene.clock.step = timedelta(hours=1)
        with capture_logs() as logs:
            await scene.sent(scene.watches[0], Replaced((config_map(paused=until),), "1"))
        said = "over: paused by anna until 2026-01-01T00:10:00Z"
        assert [entry["said"] for entry in logs] == [said]
        assert scene.control.describe()["pause"] == {"state": "off"}
        scene.clock.step = timedelta()
        assert scene.control.describe()["pause"]["state"] == "on"
        assert scene.last("pause") == PauseNotice(by="anna", until=START + timedelta(minutes=10))


async def test_a_long_reason_is_cut_short(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    async with scene.running():
        await scene.sent(scene.watches[0], Replaced((config_map(paused="x" * 900_000),), "1"))
        assert scene.control.describe()["pause"] == {"state": "on", "reason": "x" * 500}


async def test_what_is_in_force_is_shown(tmp_path):
    scene = Scene(tmp_path, f"{HEAD}protection: true\n")
    async with scene.running():
        await scene.rewrite(f"{HEAD}protektion: true\n")
    shown = scene.control.describe()
    assert (shown["file"], shown["policies"]) == (str(scene.path), {"protection": True})
    assert shown["since"] == START.isoformat().replace("+00:00", "Z")
    assert "$.protektion: unknown field" in shown["error"]
    assert shown["failedAt"] == "2026-01-01T00:00:10Z"
    assert shown["pause"] == {"state": "off"}


async def test_labels_of_pods_are_asked_for_when_a_policy_selects_by_them(tmp_path):
    scene = Scene(tmp_path, HEAD)
    selects = f"{HEAD}exclude: {{podSelector: {{matchLabels: {{app: db}}}}}}\n"
    async with scene.running():
        assert ("labels", "needed") not in scene.told
        await scene.rewrite(selects)
        assert scene.told[-2:] == [("labels", "needed"), ("policies", read(selects.encode()))]


# What bounds the worker less than before.

PAUSED = '{"by":"anna","reason":"moving"}'


def weakened(scene, what):
    return scene.registry.get_sample_value("bailiff_worker_policy_weakenings_total", {"what": what})


async def test_policies_that_become_weaker_are_told_of_and_stronger_ones_are_not(tmp_path):
    scene = Scene(tmp_path, f"{HEAD}protection: true\nlimits: {{total: {{perSecond: 1}}}}\n")
    async with scene.running():
        await scene.rewrite(f"{HEAD}protection: true\nlimits: {{total: {{perSecond: 0.5}}}}\n")
        assert (scene.written, weakened(scene, "policies")) == ([], 0)
        with capture_logs() as logs:
            await scene.rewrite(f"{HEAD}limits: {{total: {{perSecond: 100}}}}\n")
        how = ["limits.total.perSecond: 100 now, 0.5 before", "protection: switched off"]
        message = f"2 of the policies of {scene.path} weakened: {'; '.join(how)}"
        assert scene.written == [("Warning", "PoliciesWeakened", message)]
        assert [entry["how"] for entry in logs if "how" in entry] == [how]
        assert weakened(scene, "policies") == 1


async def test_a_file_that_cannot_be_used_weakens_nothing(tmp_path):
    scene = Scene(tmp_path, f"{HEAD}protection: true\n")
    async with scene.running():
        await scene.rewrite(f"{HEAD}protektion: true\n")
        await scene.rewrite("")
    assert scene.written == []


async def test_a_pause_that_is_deleted_is_told_of(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    async with scene.running():
        watch = scene.watches[0]
        await scene.sent(watch, Replaced((config_map(paused=PAUSED),), "1"))
        assert scene.written == []
        await scene.sent(watch, Deleted(config_map(paused=PAUSED)))
        said = "and evictions go on that it held: paused by anna: moving"
        message = f"ConfigMap ops/bailiff-pause was deleted, {said}"
        assert scene.written == [("Warning", "PauseDeleted", message)]
        assert weakened(scene, "pause") == 1


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([Changed(config_map())], id="resumed"),
        pytest.param([Changed(config_map()), Deleted(config_map())], id="resumed, then deleted"),
        pytest.param([Changed(config_map(paused=PAUSED))], id="written again"),
    ],
)
async def test_a_pause_that_ends_otherwise_is_no_news(tmp_path, events):
    scene = Scene(tmp_path, PAUSE)
    async with scene.running():
        await scene.sent(scene.watches[0], Replaced((config_map(paused=PAUSED),), "1"), *events)
    assert scene.written == []


async def test_a_pause_that_was_over_may_be_deleted(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    until = '{"by":"anna","until":"2026-01-01T00:01:00Z"}'
    async with scene.running():
        await scene.sent(scene.watches[0], Replaced((config_map(paused=until),), "1"))
        await asyncio.sleep(120)
        await scene.sent(scene.watches[0], Deleted(config_map(paused=until)))
    assert scene.written == []


async def test_a_pause_that_was_deleted_while_nobody_could_read_it_is_told_of(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    gone = Unreadable(config_map().metadata, "a wrong time")
    async with scene.running():
        watch = scene.watches[0]
        await scene.sent(watch, Replaced((config_map(paused=PAUSED),), "1"), gone)
        assert scene.written == []
        await scene.sent(watch, Replaced((), "2"))
    assert [reason for _, reason, _ in scene.written] == ["PauseDeleted"]


async def test_another_config_map_is_a_weaker_policy_and_no_deletion(tmp_path):
    scene = Scene(tmp_path, PAUSE)
    async with scene.running():
        await scene.sent(scene.watches[0], Replaced((config_map(paused=PAUSED),), "1"))
        await scene.rewrite(PAUSE.replace("ops", "mine"))
        await scene.sent(scene.watches[1], Replaced((), "1"))
    assert [reason for _, reason, _ in scene.written] == ["PoliciesWeakened"]


async def test_the_hash_is_that_of_what_is_in_force(tmp_path):
    scene = Scene(tmp_path, f"{HEAD}protection: true\nlimits: {{total: {{perSecond: 2}}}}\n")

    def told():
        (sample,) = [
            sample
            for metric in scene.registry.collect()
            for sample in metric.samples
            if sample.name == "bailiff_worker_policies_info"
        ]
        assert scene.control.describe()["hash"] == sample.labels["hash"]
        return sample.labels["hash"]

    async with scene.running():
        first = told()
        assert first.startswith("sha256:")
        await scene.rewrite(f"{HEAD}limits:\n  total: {{perSecond: 2.0}}\nprotection: true\n")
        assert told() == first, "the same, written otherwise"
        await scene.rewrite(f"{HEAD}protection: true\n")
        second = told()
        await scene.rewrite("no policies at all")
        assert second == told() != first
