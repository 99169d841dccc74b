"""`bailiff explain`: what it prints and how it exits."""

import json
from datetime import UTC, datetime

import msgspec
import pytest
import yaml

from bailiff.cli.explaining import exit_code_of
from bailiff.decisions import PodsAnswer
from tests.harness.kinds import pod_of
from tests.harness.made_up_system import THREE_SYSTEMS, dark_node
from tests.harness.ranking_system import WITH_SEATS, seating_node

BOTH = ("-f", "POD", "-f", "NODE")
NOW = "2026-01-02T00:00:30Z"


def test_explain_tells_people_what_when_and_why(run):
    result = run("explain", *BOTH, "--now", "2026-01-02T00:00:30Z")
    assert result.exit_code == 0
    cause = (
        "taint maintenance=yes:NoExecute is tolerated by maintenance:NoExecute op=Exists for 60s"
    )
    assert result.output.splitlines() == [
        "Pod shop/web on node n1: evict at 2026-01-02T00:01:00Z",
        f"  ToleratedUntil: {cause}, until 2026-01-02T00:01:00Z",
        "node-taints: EVICT_AT (ToleratedUntil)",
        f"  NoExecuteTaint ToleratedForSeconds: {cause}",
        "    added 2026-01-02T00:00:00Z (timeAdded)",
        "    deadline 2026-01-02T00:01:00Z",
    ]


def test_files_are_not_asked_whether_a_node_is_lost(run):
    result = run("explain", *BOTH, "--node-loss")
    assert result.exit_code == 2
    assert "--node-loss is of a node or pod of a cluster" in result.output


@pytest.mark.parametrize(
    ("now", "decided"),
    [
        ("0001-01-01T00:00:00+10:00", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59-10:00", "9999-12-31T23:59:59Z"),
        ("2026-01-02T00:00:59.9999999Z", "2026-01-02T00:00:59.999999Z"),
    ],
)
def test_any_instant_can_be_asked_about_and_none_is_rounded_up(run, now, decided):
    result = run("explain", *BOTH, "-o", "json", "--now", now)
    assert json.loads(result.output)["decision"]["decidedAt"] == decided


def test_explain_answers_programs_as_the_api_does(run):
    result = run("explain", *BOTH, "-o", "json", "--now", "2026-01-03T00:00:00Z")
    answer = json.loads(result.output)["decision"]
    assert (answer["verdict"], answer["evictAt"]) == ("EVICT_NOW", "2026-01-02T00:01:00Z")
    assert answer["findings"][0]["trace"][0]["outcome"] == "ToleratedForSeconds"


@pytest.mark.parametrize(
    ("now", "bound_at", "code"),
    [
        ("2026-01-02T00:00:30Z", "2026-01-01T00:00:00Z", 10),
        ("2026-01-02T01:00:00Z", "2026-01-01T00:00:00Z", 11),
        ("2026-01-02T01:00:00Z", "2026-01-02T00:59:30Z", 10),
    ],
)
def test_exit_code_tells_the_verdict_when_asked(run, now, bound_at, code):
    options = ("--now", now, "--bound-at", bound_at)
    result = run("explain", *BOTH, "--exit-code", *options)
    assert result.exit_code == code


def test_explain_reads_standard_input(run):
    files = ("-f", "-", "-f", "NODE")
    result = run("explain", *files, "--exit-code", stdin="kind: Pod\nspec: {}\n")
    assert result.exit_code == 11


def test_pods_are_told_in_a_line_each_and_greppable(run):
    pods = "".join(f"---\nkind: Pod\nmetadata: {{name: {name}}}\n" for name in ("a", "b"))
    told = run("explain", "-f", "NODE", "-f", "POD", "-f", "-", "--now", NOW, stdin=pods)
    assert told.exit_code == 0, told.output
    heads, *rows = (line.split(maxsplit=4) for line in told.output.splitlines())
    assert heads == ["NAMESPACE", "NAME", "VERDICT", "WHEN", "WHY"]
    why = "taint maintenance=yes:NoExecute is not tolerated"
    assert [row[:4] for row in rows] == [
        ["shop", "web", "EVICT_AT", "2026-01-02T00:01:00Z"],
        ["default", "a", "EVICT_NOW", "now"],
        ["default", "b", "EVICT_NOW", "now"],
    ]
    assert rows[1][4] == why
    assert "\x1b" not in told.output


@pytest.mark.parametrize(
    ("target", "names"),
    [
        (("pod/web", "-n", "shop"), ["web"]),
        (("po/b",), ["b"]),
        (("node/n1",), ["b", "web"]),
    ],
)
def test_of_the_files_what_is_named_is_explained(run, target, names):
    more = "kind: Pod\nmetadata: {name: b}\nspec: {nodeName: n1}\n---\n"
    elsewhere = "kind: Pod\nmetadata: {name: c}\nspec: {nodeName: n2}\n"
    files = ("-f", "NODE", "-f", "-", "-f", "POD")
    told = run("explain", *target, *files, "-o", "table", stdin=more + elsewhere)
    assert told.exit_code == 0, told.output
    assert [line.split()[1] for line in told.output.splitlines()[1:]] == names


ON_N1 = "-f: pod shop/web is on node n1, "
UNBOUND = "-f: pod default/new is bound to no node, "


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (("n7", "n2"), ON_N1 + "which is not in the files, only n2, n7"),
        (("n1", "n1"), ON_N1 + "which is in the files 2 times: give it once"),
        (("n1", ""), ON_N1 + "and the files have 2 that may be it (n1, one without a name): give"),
        (("", ""), ON_N1 + "and the files have 2 that may be it (one without a name): give one"),
    ],
)
def test_a_node_that_is_not_for_sure_the_pods_own_is_not_taken_for_it(run, nodes, said):
    told = run("explain", "-f", "POD", "-f", "-", stdin=nodes_named(*nodes))
    assert (told.exit_code, told.stdout) == (2, "")
    assert said in told.stderr


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (("n1", "n2"), UNBOUND + "and the files have 2 that it may come to (n1, n2): give one"),
        (("n1", "n1"), UNBOUND + "and n1 is in the files 2 times: give it once"),
        (("n1",), None),
    ],
)
def test_a_pod_without_a_node_comes_to_the_only_one(run, nodes, said):
    stdin = nodes_named(*nodes) + "---\nkind: Pod\nmetadata: {name: new}\n"
    told = run("explain", "-f", "-", stdin=stdin)
    assert told.exit_code == (2 if said else 0)
    assert (said or "") in told.stderr


def nodes_named(*names):
    return "".join(f"---\nkind: Node\nmetadata: {{name: '{name}'}}\n" for name in names)


def test_a_system_that_is_added_is_told_as_all_others(run):
    """In full with when its reasons came about, in tables, and its report to programs."""
    dark = dark_node("n1", datetime(2026, 1, 2, tzinfo=UTC))
    node = msgspec.json.encode(dark).decode()
    files = ("explain", "-f", "POD", "-f", "-", "--now", NOW)
    in_full = run(*files, stdin=node, obj=THREE_SYSTEMS).output.splitlines()
    assert in_full[0] == "Pod shop/web on node n1: evict at 2026-01-02T00:01:00Z"
    assert "lights-out: EVICT_AT (LightsOut)" in in_full
    assert "    out 2026-01-02T00:01:00Z" in in_full
    row = run(*files, "-o", "wide", stdin=node, obj=THREE_SYSTEMS).output.splitlines()[1]
    assert row.split()[:7] == [
        "shop", "web", "EVICT_AT", "2026-01-02T00:01:00Z", "n1", "LightsOut", "lights-out",
    ]  # fmt: skip
    answer = json.loads(run(*files, "-o", "json", stdin=node, obj=THREE_SYSTEMS).output)
    assert answer["reports"]["lights-out"]["pods"] == 1
    assert in_full[-2:] == ["lights-out reports", "  outAt=2026-01-02T00:01:00Z pods=1"]


def test_a_system_that_ranks_sees_the_other_pods_of_the_files(run):
    pods = [pod_of(f"p{n}", "n1", priority=n) for n in range(3)]
    objects = [{"kind": "Node"} | msgspec.to_builtins(seating_node("n1", 2))]
    objects += [{"kind": "Pod"} | msgspec.to_builtins(pod) for pod in pods]
    stdin = yaml.safe_dump_all(objects)
    for target in ((), ("pod/p0", "-n", "default")):
        told = run("explain", *target, "-f", "-", "-o", "json", stdin=stdin, obj=WITH_SEATS)
        answer = json.loads(told.output)
        first = answer.get("decision") or answer["decisions"][0]
        assert first["findings"][-1]["message"] == "3 pods for 2 seats"
        assert answer["reports"]["seats"]["crowded"] is True


@pytest.mark.parametrize("how", [(), ("-o", "table"), ("-o", "wide")])
def test_a_table_tells_what_every_system_says_and_beside_it_the_reports(run, how):
    """Who reads the table by grep and awk finds a line for each pod and nothing else."""
    pods = [pod_of(f"p{n}", "n1", priority=n) for n in range(2)]
    objects = [{"kind": "Node"} | msgspec.to_builtins(seating_node("n1", 2))]
    objects += [{"kind": "Pod"} | msgspec.to_builtins(pod) for pod in pods]
    told = run("explain", "-f", "-", *how, stdin=yaml.safe_dump_all(objects), obj=WITH_SEATS)
    assert told.exit_code == 0, told.output
    _, *rows = told.stdout.splitlines()
    assert len(rows) == 2
    assert all("the node has no NoExecute taint; 2 pods for 2 seats" in row for row in rows)
    assert told.stderr.splitlines() == ["seats reports", "  crowded=false"]


def test_a_report_that_is_one_nodes_is_not_told_of_two(run):
    since = datetime(2026, 1, 2, tzinfo=UTC)
    nodes = [dark_node("n1", since), dark_node("n2", since)]
    pods = [{"metadata": {"name": n}, "spec": {"nodeName": n}} for n in ("n1", "n2", "n2b")]
    pods[2]["spec"] = {"nodeName": "n2"}
    objects = [msgspec.to_builtins(node) | {"kind": "Node"} for node in nodes]
    stdin = yaml.safe_dump_all([*objects, *({"kind": "Pod", **pod} for pod in pods)])
    told = run("explain", "-f", "-", "--now", NOW, "-o", "json", stdin=stdin, obj=THREE_SYSTEMS)
    answer = json.loads(told.stdout)
    assert len(answer["decisions"]) == 3
    assert "reports" not in answer
    assert "explain node/NAME tells it of one" in told.stderr


@pytest.mark.parametrize("how", ["json", "yaml"])
def test_programs_read_several_answers_as_the_api_gives_them(run, how):
    files = ("-f", "NODE", "-f", "POD", "-f", "-")
    told = run("explain", *files, "-o", how, stdin="kind: Pod\n")
    found = json.loads(told.output) if how == "json" else yaml.safe_load(told.output)
    assert [one["verdict"] for one in found["decisions"]] == ["EVICT_NOW", "EVICT_NOW"]


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        pytest.param("metadata: {}", "$.kind: required", id="kind"),
        pytest.param("- 1", "expected Kubernetes objects, got a list", id="list"),
        pytest.param(
            "kind: List\nitems: [x]", "expected Kubernetes objects, got a text", id="item"
        ),
        pytest.param("kind: PodList\nitems: {}", "-f -: $.items: expected a list", id="items"),
        pytest.param("kind: Service", "no pod to explain", id="none"),
        pytest.param(
            'kind: Pod\nmetadata: {name: "\\ud800"}', "half of a surrogate", id="surrogate"
        ),
        pytest.param("{", "not valid YAML", id="yaml"),
        pytest.param("\x00", "not valid YAML", id="control character"),
        pytest.param("!!python/object:os.system {}", "not valid YAML", id="python tag"),
        pytest.param(
            "kind: Pod\nspec: {tolerations: [{tolerationSeconds: soon}]}",
            "$.spec.tolerations[0].tolerationSeconds: Expected `int | null`, got `str`",
            id="type",
        ),
        pytest.param("[" * 100_000, "not valid YAML", id="depth"),
        pytest.param("a: &a [1]\nb: *a", "aliases are not allowed", id="alias"),
        pytest.param("a: " + "x" * 4_000_000, "larger than", id="size"),
    ],
)
def test_bad_objects_are_refused_with_their_place(run, stdin, message):
    result = run("explain", "-f", "-", stdin=stdin)
    assert result.exit_code == 2
    assert message in result.output


def test_a_name_stays_on_its_line(run):
    """Whoever wrote a file chose its names; none may look like a line of ours."""
    pod = 'kind: Pod\nmetadata: {name: "web\\nPod a/b on node n1: keep", toleration: 1}\n'
    told = run("explain", "-f", "NODE", "-f", "-", stdin=pod)
    assert told.stdout.startswith(r"Pod default/web\nPod a/b on node ")


def test_a_node_without_pods_has_nobody_to_evict():
    assert exit_code_of(PodsAnswer(decisions=())) == 0


def test_from_when_the_time_counts_is_told_where_the_taint_came_earlier(run):
    bound = ("--bound-at", "2026-01-03T00:00:00Z")
    told = run("explain", "-f", "POD", "-f", "NODE", "--now", "2026-01-03T00:00:30Z", *bound)
    assert "    counted from 2026-01-03T00:00:00Z" in told.stdout.splitlines()
    assert "    deadline 2026-01-03T00:01:00Z" in told.stdout.splitlines()
    sooner = run("explain", "-f", "POD", "-f", "NODE", "--now", "2026-01-03T00:00:30Z")
    assert "counted from" not in sooner.stdout


def test_without_the_node_it_says_what_to_add(run):
    told = run("explain", "-f", "POD")
    assert (told.exit_code, told.stdout) == (2, "")
    assert "the files have no node: add the pod's, as kubectl get node NAME -o yaml" in told.stderr


def test_every_namespace_that_has_a_pod_of_the_name_is_named(run):
    pods = [("b", "web"), ("a", "web"), ("c", "db")]
    stdin = yaml.safe_dump_all({"kind": "Pod", **place(*one)} for one in pods)
    told = run("explain", "pod/web", "-f", "-", stdin=stdin)
    assert (told.exit_code, told.stdout) == (2, "")
    assert "for pod default/web, only of a/web, b/web, c/db: write -n a or -n b" in told.stderr


def place(namespace, name):
    return {"metadata": {"namespace": namespace, "name": name}}
