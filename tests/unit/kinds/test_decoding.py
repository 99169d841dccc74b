"""What is read from JSON, and what is said of what cannot be."""

import json
import math

import pytest

from bailiff.decisions.node_taints.change import TaintSelector
from bailiff.decisions.policies.settings import Breaker, Limit
from bailiff.kinds import (
    INT64_MAX,
    DecodeError,
    Pod,
    Toleration,
    decode,
    decode_yaml_value,
)
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.pod_resources import ResourceRequirements

DEEP = 100_000
HUGE = (b"1e400", b"-1e400", b"9" * 5000, b"1" + b"0" * 400 + b".0")


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (b"{}", None),
        (b'{"tolerationSeconds":null}', None),
        (b'{"tolerationSeconds":5}', 5),
        (b'{"tolerationSeconds":5.0}', 5),
        (b'{"tolerationSeconds":-0.0}', 0),
        (b'{"tolerationSeconds":9223372036854775807}', INT64_MAX),
    ],
)
def test_integers(written: bytes, seconds: int | None) -> None:
    assert decode(written, Toleration).toleration_seconds == seconds


@pytest.mark.parametrize(
    "written",
    [
        b"5.5",
        b"1e300",
        b"9223372036854775808",
        b"-9223372036854775809",
        b'"5"',
        b"true",
        b"9" * 40,
        *HUGE,
    ],
    ids=lambda written: written[:12].decode(),
)
@pytest.mark.parametrize("slow", [b"", b'"status":null,'], ids=["usual", "slow"])
def test_no_int64(written: bytes, slow: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(b'{%s"spec":{"tolerations":[{"tolerationSeconds":%s}]}}' % (slow, written), Pod)
    assert caught.value.path == "$.spec.tolerations[0].tolerationSeconds"
    assert not caught.value.malformed
    assert "int | float" not in caught.value.reason


@pytest.mark.parametrize("written", HUGE, ids=lambda written: written[:12].decode())
@pytest.mark.parametrize("slow", [b"", b'"status":null,'], ids=["usual", "slow"])
def test_a_number_that_nobody_reads_may_be_of_any_size(written: bytes, slow: bytes) -> None:
    assert decode(b'{%s"spec":{"x":%s}}' % (slow, written), Pod) == Pod()


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_what_json_has_no_number_for_is_not_taken_for_null(number: float) -> None:
    for kind, field in ((Toleration, "tolerationSeconds"), (Breaker, "slowAt")):
        with pytest.raises(DecodeError, match="float") as caught:
            decode_yaml_value({field: number}, kind)
        assert caught.value.path == f"$.{field}"


def test_a_policy_may_be_a_whole_number_however_it_is_written() -> None:
    limit = decode_yaml_value({"perSecond": 5, "burst": 2.0}, Limit)
    assert (limit.per_second, limit.burst) == (5.0, 2)


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"{",
        b"nul",
        b"\xff",
        b'"\\ud800"',
        b"[" * DEEP,
        b'{"a":' * DEEP + b"1" + b"}" * DEEP,
        b'{"spec":5,',
        b'{"spec":null,"x":' + b"[" * DEEP,
    ],
    ids=["empty", "cut", "word", "utf-8", "surrogate", "lists", "objects", "wrong", "null"],
)
def test_malformed(written: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(written, Pod)
    assert caught.value.malformed


@pytest.mark.parametrize(
    ("written", "path"),
    [(b"{}", "$.key"), (b'{"key":null,"effect":""}', "$.key")],
)
def test_what_is_missing_is_named(written: bytes, path: str) -> None:
    with pytest.raises(DecodeError, match="required") as caught:
        decode(written, TaintSelector)
    assert caught.value.path == path


BAD_QUANTITY = "must be a quantity such as 100Mi, 1.5G or 250m, is '12Mo'"


def requests(**told: object) -> dict[str, object]:
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": told}}]}}


@pytest.mark.parametrize(
    ("value", "kind", "path", "reason"),
    [
        (
            {"evictionHard": {"nodefs.available": "1%", "memory.available": 500}},
            KubeletConfiguration,
            '$.evictionHard["memory.available"]',
            "Expected `str | null`, got `int`",
        ),
        (
            requests(cpu="1", memory="12Mo", other="1"),
            Pod,
            '$.spec.containers[0].resources.requests["memory"]',
            BAD_QUANTITY,
        ),
        ({"spec": {"overhead": {"a": "1", 'b"].c': "12Mo"}}}, Pod, None, BAD_QUANTITY),
        (
            {"limits": {"x" * 200: "12Mo"}},
            ResourceRequirements,
            f'$.limits["{"x" * 100}"]',
            BAD_QUANTITY,
        ),
    ],
)
def test_the_key_of_a_map_is_named(
    value: object, kind: type[object], path: str | None, reason: str
) -> None:
    for read in (
        lambda: decode(json.dumps(value).encode(), kind),
        lambda: decode_yaml_value(value, kind),
    ):
        with pytest.raises(DecodeError) as told:
            read()
        assert told.value.path == (path or '$.spec.overhead["b\\"].c"]')
        assert told.value.reason == reason


def test_of_many_keys_the_wrong_one_is_named() -> None:
    many = {f"k{number}": "1" for number in range(1000)} | {"k617": "1Go"}
    with pytest.raises(DecodeError, match=r'limits\["k617"\]'):
        decode(json.dumps({"limits": many}).encode(), ResourceRequirements)


def test_in_very_much_no_key_is_looked_for() -> None:
    many = {f"k{number}": "1" for number in range(30_000)} | {"k617": "1Go"}
    with pytest.raises(DecodeError) as told:
        decode(json.dumps({"limits": many}).encode(), ResourceRequirements)
    assert told.value.path == "$.limits[...]"
    assert told.value.reason == "must be a quantity such as 100Mi, 1.5G or 250m"


@pytest.mark.parametrize("written", [b'{"[...]":1}', b'{"[...]":1,"...":1}'])
def test_what_is_named_as_a_place_leads_nowhere(written: bytes) -> None:
    with pytest.raises(DecodeError) as told:
        decode(written, TaintSelector)
    assert told.value.path.startswith("$.")
    assert told.value.path.removeprefix("$.") in ("[...]", "...")


@pytest.mark.parametrize("beside", ["1e999999", "9" * 5000, "[" * 90 + "]" * 90])
def test_what_is_wrong_beside_it_keeps_no_error_from_being_told(beside: str) -> None:
    """The key of a map is looked for in the whole, of which the decoder has passed over parts."""
    body = f'{{"evictionHard": {{"memory.available": 1}}, "x": {beside}}}'
    with pytest.raises(DecodeError) as caught:
        decode(body.encode(), KubeletConfiguration)
    assert caught.value.path.startswith("$.evictionHard[")
