"""`bailiff explain`: what it prints and how it exits."""

import json

import pytest


def test_explain_tells_people_what_when_and_why(run):
    result = run("explain", "POD", "--node", "NODE", "--now", "2026-01-02T00:00:30Z")
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


@pytest.mark.parametrize(
    ("now", "decided"),
    [
        ("0001-01-01T00:00:00+10:00", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59-10:00", "9999-12-31T23:59:59Z"),
        ("2026-01-02T00:00:59.9999999Z", "2026-01-02T00:00:59.999999Z"),
    ],
)
def test_any_instant_can_be_asked_about_and_none_is_rounded_up(run, now, decided):
    result = run("explain", "POD", "--node", "NODE", "-o", "json", "--now", now)
    assert json.loads(result.output)["decidedAt"] == decided


def test_explain_answers_programs_as_the_api_does(run):
    result = run("explain", "POD", "--node", "NODE", "-o", "json", "--now", "2026-01-03T00:00:00Z")
    answer = json.loads(result.output)
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
    result = run("explain", "POD", "--node", "NODE", "--exit-code", *options)
    assert result.exit_code == code


def test_explain_reads_standard_input(run):
    result = run("explain", "-", "--node", "NODE", "--exit-code", stdin="kind: Pod\nspec: {}\n")
    assert result.exit_code == 11


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        pytest.param("kind: Node", "$.kind: expected Pod, got Node", id="kind"),
        pytest.param("- 1", "expected one Pod object", id="list"),
        pytest.param("{", "not valid YAML", id="yaml"),
        pytest.param("\x00", "not valid YAML", id="control character"),
        pytest.param("!!python/object:os.system {}", "not valid YAML", id="python tag"),
        pytest.param(
            "spec: {tolerations: [{tolerationSeconds: soon}]}",
            "$.spec.tolerations[0].tolerationSeconds: Expected `int | null`, got `str`",
            id="type",
        ),
        pytest.param("[" * 100_000, "not valid YAML", id="depth"),
        pytest.param("a: &a [1]\nb: *a", "aliases are not allowed", id="alias"),
        pytest.param("a: " + "x" * 4_000_000, "larger than", id="size"),
    ],
)
def test_bad_objects_are_refused_with_their_place(run, stdin, message):
    result = run("explain", "-", "--node", "NODE", stdin=stdin)
    assert result.exit_code == 2
    assert message in result.output
