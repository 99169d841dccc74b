"""`bailiff worker --policies`: what changes in its file and in the pause, it obeys."""

from __future__ import annotations

import asyncio
import contextlib
import sys

import pytest

from bailiff.bootstrap import ClusterChoice
from bailiff.bootstrap.choices import ProbeChoice
from bailiff.bootstrap.settings import WorkSettings
from bailiff.bootstrap.work import work
from tests.harness.api import NAMESPACES
from tests.harness.kube.programs import free_port
from tests.harness.objects import KEY, taint
from tests.harness.pausing import WHOLE, bailiff
from tests.harness.status import StatusPages
from tests.harness.working import is_going, until

HEAD = "apiVersion: bailiff.dev/v1\nkind: WorkerPolicies\n"


class PolicedWorker(StatusPages):
    """A worker, its file of policies, and what it says of itself."""

    def __init__(self, api, folder, text):
        super().__init__(free_port())
        self._api = api
        self.path = folder / "policies.yaml"
        self.write(text)

    def write(self, text):
        """In one step, as the kubelet swaps a mounted ConfigMap."""
        fresh = self.path.with_suffix(".fresh")
        fresh.write_text(text)
        fresh.rename(self.path)

    async def policies(self):
        return await self.page("/v1/policies")

    async def told(self, field):
        told = await self.policies()
        return field in told or field in told["policies"]

    async def in_force(self, policies):
        return (await self.policies())["policies"] == policies

    async def pause_is(self, state):
        return (await self.policies())["pause"]["state"] == state

    async def held(self, name, cause):
        return bool((await self.page(f"/v1/queue?name={name}&cause={cause}"))["evictions"])

    @contextlib.asynccontextmanager
    async def running(self):
        """All that `bailiff worker` does after reading its options, but it looks more often."""
        settings = WorkSettings(
            cluster=ClusterChoice(kubeconfig=self._api.kubeconfig),
            status_port=self.port,
            probes=ProbeChoice(0),
            policies=self.path,
            policies_interval=0.05,
        )
        program, stop = work(settings), asyncio.Event()

        async def run():
            await program(stop)

        async with asyncio.TaskGroup() as group:
            group.create_task(run())
            try:
                await until(self.ready)
                yield
            finally:
                stop.set()

    @contextlib.asynccontextmanager
    async def running_by_itself(self):
        """`bailiff worker --policies FILE`."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bailiff", "worker", "--policies", str(self.path)),
            *("--kubeconfig", str(self._api.kubeconfig), "--status-port", str(self.port)),
        )
        try:
            await until(self.ready)
            yield
            assert process.returncode is None
            process.terminate()
            assert await process.wait() == 0
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@pytest.fixture
def worker(api, bench, tmp_path):
    return lambda text: PolicedWorker(api, tmp_path, HEAD + text)


async def test_a_changed_file_changes_what_the_running_worker_does(worker, bench):
    policed = worker("protection: true\n")
    node = await bench.node(taint(KEY))
    async with policed.running():
        annotations = {"bailiff.dev/do-not-evict": "true"}
        await bench.pod("guarded", node=node, annotations=annotations)
        await bench.pod("plain", node=node)
        await until(lambda: is_going(bench, "plain"))
        await until(lambda: policed.held("guarded", "protected"))
        before = await policed.policies()
        assert before["policies"] == {"protection": True}

        policed.write(f"{HEAD}protection: perhaps\n")
        await until(lambda: policed.told("error"))
        told = await policed.policies()
        assert "$.protection" in told["error"]
        assert (told["policies"], told["since"]) == (before["policies"], before["since"])
        assert await policed.held("guarded", "protected")

        policed.write(HEAD)
        await until(lambda: is_going(bench, "guarded"))
        await until(lambda: policed.in_force({}))  # what is told may be a second old
        told = await policed.policies()
        assert told.get("error", "") == ""
        assert told["since"] > before["since"]
        _, metrics = await policed.tells("/metrics")
        assert 'bailiff_worker_policy_reloads_total{result="failed"} 1.0' in metrics
        assert 'bailiff_worker_policy_reloads_total{result="applied"} 2.0' in metrics
        assert "bailiff_worker_policies_current 1.0" in metrics


async def test_pods_are_excluded_by_labels_that_a_later_policy_asks_for(worker, bench):
    policed = worker("protection: true\n")
    node = await bench.node()
    async with policed.running():
        await bench.pod("db", node=node, labels={"app": "db"})
        await bench.pod("web", node=node, labels={"app": "web"})
        selects = "exclude: {podSelector: {matchLabels: {app: db}}}\n"
        policed.write(f"{HEAD}{selects}")
        await until(lambda: policed.told("exclude"))
        await bench.taint(node, taint(KEY))
        await until(lambda: is_going(bench, "web"))
        await until(lambda: policed.held("db", "excluded"))
        assert not await is_going(bench, "db")


async def test_a_pause_holds_and_a_resumption_lets_go(api, worker, bench):
    policed = worker(f"pause: {{namespace: {bench.namespace}}}\n")
    node = await bench.node(taint(KEY))
    async with policed.running():
        # As a person does it with kubectl, in words of their own.
        metadata = {"name": "bailiff-pause"}
        body = {"metadata": metadata, "data": {"paused": "moving the database, ask Anna"}}
        await bench.cluster.create(WHOLE, body, bench.namespace)
        await until(lambda: policed.pause_is("on"))
        await bench.pod("first", node=node)
        await until(lambda: policed.held("first", "paused"))
        assert (await policed.policies())["pause"]["reason"] == "moving the database, ask Anna"
        code, said = await bailiff(api, "resume", "-n", bench.namespace)
        assert (code, said.splitlines()[0]) == (
            0,
            "resumed; was paused: moving the database, ask Anna",
        )
        await until(lambda: is_going(bench, "first"))

        because = ("--reason", "moving on", "--by", "anna")
        assert (await bailiff(api, "pause", "-n", bench.namespace, *because))[0] == 0
        await until(lambda: policed.pause_is("on"))
        await bench.pod("second", node=node)
        await until(lambda: policed.held("second", "paused"))
        assert not await is_going(bench, "second")
        await bench.cluster.delete(WHOLE, "bailiff-pause", bench.namespace)
        await until(lambda: is_going(bench, "second"))


@pytest.mark.process
async def test_excluded_namespaces_are_told_by_their_labels(worker, bench):
    labels = {"metadata": {"labels": {"tier": bench.namespace}}}
    await bench.cluster.patch(NAMESPACES, bench.namespace, "", labels)
    selector = f"{{matchLabels: {{tier: {bench.namespace}}}}}"
    policed = worker(f"exclude: {{namespaceSelector: {selector}}}\n")
    node = await bench.node(taint(KEY))
    async with policed.running_by_itself():
        await bench.pod("plain", node=node)
        await until(lambda: policed.held("plain", "excluded"))
        labels = {"metadata": {"labels": {"tier": None}}}
        await bench.cluster.patch(NAMESPACES, bench.namespace, "", labels)
        await until(lambda: is_going(bench, "plain"))
