"""The policies' file: looked at again and again, on virtual time."""

import asyncio
import contextlib
import os
from datetime import timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import example, given
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from bailiff.decisions.policies import NO_POLICIES, Policies, read
from bailiff.policy_file import PoliciesUnusableError, PolicyFile, interpret
from tests.harness.clocks import START, LoopClock

pytestmark = pytest.mark.looptime(start=0)

HEAD = "apiVersion: bailiff.dev/v1\nkind: WorkerPolicies\n"
PROTECTS = f"{HEAD}protection: true\n"
MISSPELT = f"{HEAD}protektion: true\n"


class Watched:
    """A file of policies under watch; what was applied, and when."""

    def __init__(self, path):
        self.path = path
        self.registry = CollectorRegistry()
        self.file = PolicyFile(path, LoopClock(), self.registry, look_every=5)
        self.applied = []

    @contextlib.asynccontextmanager
    async def running(self):
        task = asyncio.create_task(self.file.run(self.applied.append))
        with capture_logs() as self.logs:
            await asyncio.sleep(1)
            yield
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    def swap(self, text):
        """As the kubelet does: the name comes to stand for something else, in one step."""
        fresh = self.path.with_suffix(".fresh")
        fresh.write_text(text)
        fresh.rename(self.path)

    def reloads(self, result):
        labels = {"result": result}
        return self.registry.get_sample_value("bailiff_worker_policy_reloads_total", labels)

    @property
    def current(self):
        return self.registry.get_sample_value("bailiff_worker_policies_current")

    @property
    def errors(self):
        return [entry["error"] for entry in self.logs if entry["log_level"] == "error"]


@pytest.fixture(autouse=True)
def inline(monkeypatch):
    """Virtual time does not wait for threads: what they would do takes no time here."""

    async def call(function, *arguments):
        return function(*arguments)

    monkeypatch.setattr("asyncio.to_thread", call)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "policies.yaml"
    path.write_text(HEAD)
    return path


async def looked():
    """Long enough for two looks that agree, and for a third that must change nothing more."""
    await asyncio.sleep(17)


async def test_policies_are_read_at_the_start(path):
    watched = Watched(path)
    assert watched.file.in_force.policies == NO_POLICIES
    assert watched.file.in_force.since == START
    assert (watched.reloads("applied"), watched.reloads("failed")) == (1, 0)


async def test_a_changed_file_is_applied_once(path):
    watched = Watched(path)
    async with watched.running():
        watched.swap(PROTECTS)
        await looked()
    assert watched.applied == [read(PROTECTS.encode())]
    assert (watched.file.in_force.since - START).total_seconds() == 10
    assert watched.reloads("applied") == 2


async def test_the_content_counts_not_the_time_of_the_file(path):
    watched = Watched(path)
    before = path.stat()
    async with watched.running():
        path.write_text(PROTECTS)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        await looked()
        assert len(watched.applied) == 1
        os.utime(path)
        await looked()
    assert watched.reloads("applied") == 2


async def test_a_mounted_config_map_is_swapped_by_a_link(tmp_path):
    """As the kubelet writes it: the file is a link through `..data` to a folder of its own."""
    for name, text in (("..1", HEAD), ("..2", PROTECTS)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "policies.yaml").write_text(text)
    data, path = tmp_path / "..data", tmp_path / "policies.yaml"
    data.symlink_to("..1")
    path.symlink_to("..data/policies.yaml")
    watched = Watched(path)
    async with watched.running():
        (tmp_path / "..data_tmp").symlink_to("..2")
        (tmp_path / "..data_tmp").rename(data)
        await looked()
    assert watched.applied == [read(PROTECTS.encode())]


@pytest.mark.parametrize("half", [f"{HEAD}protection: true\n", f"{HEAD}limits: [", ""])
async def test_a_file_that_is_seen_half_written_changes_nothing(path, half):
    """Between two sections it is valid, and lacks those that hold evictions back."""
    whole = f"{HEAD}protection: true\npause: {{namespace: ops}}\n"
    path.write_text(whole)
    watched = Watched(path)
    async with watched.running():
        path.write_text(half)
        await asyncio.sleep(5)
        path.write_text(whole)
        await looked()
    assert (watched.applied, watched.errors, watched.reloads("applied")) == ([], [], 1)


async def test_a_file_that_grows_is_taken_when_it_has_come_to_rest(path):
    watched = Watched(path)
    sections = [
        HEAD,
        "protection: true\n",
        "limits: {total: {perSecond: 5}}\n",
        "pause: {namespace: a}\n",
    ]
    async with watched.running():
        for count in range(2, len(sections) + 1):
            path.write_text("".join(sections[:count]))
            await asyncio.sleep(5)
        assert watched.applied == []
        await looked()
    assert watched.applied == [read("".join(sections).encode())]


async def test_a_file_that_is_never_twice_the_same_changes_nothing(path):
    watched = Watched(path)
    async with watched.running():
        for count in range(10):
            watched.swap(PROTECTS if count % 2 else MISSPELT)
            await asyncio.sleep(5)
    assert (watched.applied, watched.errors) == ([], [])


async def test_a_file_that_says_the_same_in_other_words_changes_nothing(path):
    watched = Watched(path)
    async with watched.running():
        watched.swap(f"# none yet\n{HEAD}")
        await looked()
    assert watched.applied == []
    assert watched.file.in_force.since == START


def becomes_a_folder(watched):
    watched.path.unlink()
    watched.path.mkdir()


def becomes_a_fifo(watched):
    watched.path.unlink()
    os.mkfifo(watched.path)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param(lambda w: w.swap(MISSPELT), "$.protektion: unknown field", id="invalid"),
        pytest.param(lambda w: w.swap("{"), "$: ", id="no YAML"),
        pytest.param(lambda w: w.swap("#" * 300_000), "larger than 262144 bytes", id="too large"),
        pytest.param(lambda w: w.path.unlink(), "No such file", id="vanished"),
        pytest.param(becomes_a_folder, "not a regular file", id="a folder"),
        pytest.param(becomes_a_fifo, "not a regular file", id="a FIFO"),
    ],
)
async def test_a_file_that_cannot_be_used_keeps_the_policies_in_force(path, spoil, said):
    path.write_text(PROTECTS)
    watched = Watched(path)
    async with watched.running():
        spoil(watched)
        await looked()
        in_force = watched.file.in_force
        assert in_force.policies == read(PROTECTS.encode())
        assert said in in_force.error
        assert in_force.failed_at == in_force.since + timedelta(seconds=10)
        # Looked at three times, told once.
        assert len(watched.errors) == watched.reloads("failed") == 1
        assert watched.current == 0
    assert watched.applied == []


async def test_a_mended_file_is_in_force_again(path):
    watched = Watched(path)
    async with watched.running():
        watched.swap(MISSPELT)
        await looked()
        watched.swap(HEAD)
        await looked()
        assert (watched.file.in_force.error, watched.current) == ("", 1)
        # It is what was in force all the time.
        assert watched.file.in_force.since == START
        assert watched.applied == []
        watched.swap(MISSPELT)
        await looked()
    assert len(watched.errors) == 2


@pytest.mark.parametrize(
    ("text", "said"), [(MISSPELT, "$.protektion"), (None, "No such file"), ("", "apiVersion")]
)
async def test_without_policies_to_begin_with_there_is_no_start(path, text, said):
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(PoliciesUnusableError, match=f"policies.yaml: .*{said}".replace("$", "\\$")):
        Watched(path)


async def test_no_descriptor_is_left_open(path):
    watched = Watched(path)
    path.unlink()
    path.mkdir()
    async with watched.running():
        await looked()
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - not a folder of ours
        await asyncio.sleep(100)
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - as above


LINES = st.lists(
    st.sampled_from(
        [
            "limits: {total: {perSecond: 5}}",
            "limits: [",
            "pause:",
            "  namespace: ops",
            "windows: [{start: 22:00, end: 06:00, timeZone: Mars/Base}]",
            "protection: yes",
            "? [a]",
            "*a",
            "&a b",
            "<<: {}",
            "2026-01-01: 1",
            "- 1",
            "\x00",
            "!!binary x",
        ]
    ),
    max_size=6,
)


@given(st.one_of(st.binary(max_size=200), LINES.map(lambda ls: "\n".join([HEAD, *ls]).encode())))
@example(b"[" * 200_000)
@example(HEAD.encode() + b"pause: " + b"{a: " * 50_000)
@example("exclude: {namespaces: [\ud800]}".encode("utf-8", "surrogatepass"))
def test_whatever_the_file_holds_it_is_policies_or_a_reason(content):
    found = interpret(content)
    assert isinstance(found, Policies) or found.startswith("$")
