"""The audit log: what became of each eviction that was begun, and why, line by line."""

import asyncio
import json

import msgspec
import pytest
import structlog

from bailiff.cluster import ServerError
from bailiff.worker.observe.audit import AuditLog
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.world import World, tainted


async def until(holds):
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0.005)


def written(world, fate):
    labels = {"fate": fate}
    return world.registry.get_sample_value("bailiff_worker_audit_lines_total", labels) or 0


async def test_a_line_for_each_eviction_with_its_trace(tmp_path):
    path = tmp_path / "audit.jsonl"
    world = World(audit_log=path)
    world.taint("n1", no_execute())
    world.add_pod("plain")
    world.add_pod("brief", tolerating(seconds=0))
    world.add_pod("stoic", tolerating())
    world.failures = [ServerError("down", status=500)]
    async with world.running():
        await until(lambda: written(world, "written") == 2)
    lines = {line["pod"]["name"]: line for line in map(json.loads, path.read_text().splitlines())}
    assert set(lines) == {"plain", "brief"}
    assert lines["plain"]["attempts"] + lines["brief"]["attempts"] == 3
    plain = lines["plain"]
    assert (plain["pod"]["uid"], plain["node"]) == ("uid-plain", "n1")
    assert plain["finding"]["reason"] == "TaintNotTolerated"
    assert plain["finding"]["trace"][0]["outcome"] == "NotTolerated"


async def test_lines_taken_before_the_stop_are_written_and_a_renamed_file_is_made_anew(tmp_path):
    path = tmp_path / "audit.jsonl"
    world = World(audit_log=path)
    world.taint("n1", no_execute())
    world.add_pod("first")
    async with world.running():
        await until(lambda: written(world, "written") == 1)
        path.rename(tmp_path / "audit.1.jsonl")
        world.add_pod("second")
        await until(lambda: len(world.deleted) == 2)
    assert json.loads(path.read_text())["pod"]["name"] == "second"


class SlowAuditLog(AuditLog):
    """Writes nothing before it is told to."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.writes = asyncio.Event()

    async def run(self):
        await self.writes.wait()
        await super().run()


async def test_lines_that_find_no_room_are_dropped_and_counted_and_room_comes_back(tmp_path):
    path = tmp_path / "audit.jsonl"
    world = tainted(audit_log=path)
    world.add_pod("one")
    async with world.running():
        await until(lambda: written(world, "written") == 1)
    line = len(path.read_bytes())
    world = tainted(audit_log=path)
    audit = SlowAuditLog(path, world.worker.metrics, max_bytes=2 * line + line // 2)
    world.worker.audit = world.worker.teller.audit = audit
    for name in ("a", "b", "c"):
        world.add_pod(name)
    async with world.running():
        await until(lambda: len(world.deleted) == 3)
        assert written(world, "dropped") == 1
        audit.writes.set()
        await until(lambda: written(world, "written") == 2)
        world.add_pod("d")
        await until(lambda: written(world, "written") == 3)
    assert written(world, "dropped") == 1


async def test_a_file_that_cannot_be_written_stops_no_eviction(tmp_path):
    world = World(audit_log=tmp_path / "absent" / "audit.jsonl")
    world.taint("n1", no_execute())
    world.add_pod("plain")
    async with world.running():
        await until(lambda: written(world, "failed") == 1)
    assert [name for _, name, _ in world.deleted] == ["plain"]


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def gone(world):
    world.remove_pod("plain")


def going(world):
    pod = world.pods["plain"]
    metadata = msgspec.structs.replace(pod.metadata, deletion_timestamp=world.clock.now())
    world.put(msgspec.structs.replace(pod, metadata=metadata))


def untainted(world):
    world.taint("n1")


def tolerating_for_longer(world):
    pod = world.pods["plain"]
    spec = msgspec.structs.replace(pod.spec, tolerations=(tolerating(seconds=3600),))
    world.put(msgspec.structs.replace(pod, spec=spec))


@pytest.mark.looptime
@pytest.mark.parametrize(
    ("happens", "outcome", "why"),
    [
        (gone, "gone", None),
        (going, "ended", None),
        (untainted, "kept", "the node has no NoExecute taint"),
        (tolerating_for_longer, "putOff", None),
    ],
)
async def test_an_eviction_that_was_begun_and_comes_to_nothing_has_its_line(
    tmp_path, happens, outcome, why
):
    path = tmp_path / "audit.jsonl"
    world = tainted(audit_log=path)
    world.failures = [ServerError("down", status=500)] * 1000
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(10)
        happens(world)
        await asyncio.sleep(1)
    (line,) = lines_of(path)
    assert (line["outcome"], line.get("why")) == (outcome, why)
    assert line["attempts"] > 1
    assert line["finding"]["reason"] == "TaintNotTolerated"


class TakenMeanwhile(World):
    """Somebody else takes each pod while it is being looked at."""

    async def set_status(self, pod, terms, now):
        self.remove_pod(pod.metadata.name)
        await asyncio.sleep(1)
        return await super().set_status(pod, terms, now)


@pytest.mark.looptime
async def test_a_pod_that_another_takes_while_an_attempt_runs_has_its_line(tmp_path):
    path = tmp_path / "audit.jsonl"
    world = TakenMeanwhile(audit_log=path)
    world.taint("n1", no_execute())
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(10)
    (line,) = lines_of(path)
    assert (line["outcome"], line["attempts"]) == ("gone", 1)


@pytest.mark.looptime
async def test_what_was_not_begun_has_no_line(tmp_path):
    path = tmp_path / "audit.jsonl"
    world = tainted(audit_log=path)
    world.add_pod("plain", tolerating(seconds=60))
    world.add_pod("other", tolerating(seconds=60))
    async with world.running():
        await asyncio.sleep(10)
        world.remove_pod("plain")
        untainted(world)
        await asyncio.sleep(10)
    assert not path.exists()


@pytest.mark.looptime
async def test_what_another_worker_has_taken_over_is_told_by_that_one(tmp_path):
    path, election = tmp_path / "audit.jsonl", Appointment(leads=True)
    world = tainted(audit_log=path, election=election)
    world.failures = [ServerError("down", status=500)] * 1000
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(10)
        election.leads = False
        world.remove_pod("plain")
        await asyncio.sleep(1)
    assert not path.exists()


@pytest.mark.looptime
async def test_on_paper_every_line_says_that_nothing_was_done(tmp_path):
    path = tmp_path / "audit.jsonl"
    world = tainted(audit_log=path, on_paper=True)
    world.add_pod("plain")
    with structlog.testing.capture_logs() as logs:
        async with world.running():
            await asyncio.sleep(1)
    (line,) = lines_of(path)
    assert (line["outcome"], line["onPaper"]) == ("deleted", True)
    (told,) = [one for one in logs if one.get("uid") == "uid-plain"]
    assert told["event"] == "pod would be evicted, nothing is done"
