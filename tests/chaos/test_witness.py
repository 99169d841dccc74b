"""What the audit log's lines count as; a verdict is no better than that."""

import json

import pytest

from tests.chaos.witness import read_audit

ANSWERED = {"code": 200}
GUARDED = {"preconditions": {"uid": "a"}}


def deletion(options, *, status=ANSWERED, uid="a", query=""):
    return json.dumps(
        {
            "stage": "ResponseComplete",
            "requestURI": f"/api/v1/namespaces/default/pods/db-0{query}",
            "requestObject": options,
            "responseStatus": status,
            "responseObject": {"metadata": {"uid": uid}},
            "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
        }
    )


@pytest.mark.parametrize(
    ("line", "accepted", "refused", "unguarded", "mistaken"),
    [
        pytest.param(deletion(GUARDED), 1, 0, 0, 0, id="by UID"),
        pytest.param(deletion({}), 1, 0, 1, 1, id="by name alone"),
        pytest.param(deletion(GUARDED, uid="b"), 1, 0, 0, 1, id="of another"),
        pytest.param(deletion(GUARDED, status={"code": 404}), 0, 1, 0, 0, id="refused"),
        pytest.param(deletion(GUARDED | {"dryRun": ["All"]}), 0, 0, 0, 0, id="dry run"),
        pytest.param(deletion(GUARDED, query="?dryRun=All"), 0, 0, 0, 0, id="dry run, by query"),
        pytest.param(deletion({"gracePeriodSeconds": 0}), 0, 0, 0, 0, id="the script's own"),
        pytest.param(deletion(GUARDED)[:-9], 0, 0, 0, 0, id="torn"),
    ],
)
def test_a_line_of_the_audit_log(tmp_path, line, accepted, refused, unguarded, mistaken):
    log = tmp_path / "audit.log"
    log.write_text(line + "\n")
    found = read_audit(log)
    assert sum(len(times) for times in found.accepted.values()) == accepted
    assert found.refused.total() == refused
    assert (found.unguarded, found.mistaken) == (unguarded, mistaken)
