"""The answer about a configuration is no longer than was counted, whatever stands in it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from bailiff.decisions import SYSTEMS, FactsError, Options
from bailiff.decisions.pressure.signals import EXTRA_SIGNALS, KUBELET_SIGNALS
from bailiff.kinds import decode

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUESTION = SYSTEMS.questions["readEvictionConfiguration"]
FIELDS = ("evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionMinimumReclaim")
EXTENDED = ("evictionHard", "evictionSoft", "evictionSoftGracePeriod", "stopAt")
# JSON writes the first as six characters; Python quotes the second as ten, which JSON makes eleven.
CONTROL, UNPRINTABLE = "\x01", "\U000e0001"


def unknown(character: str) -> dict[str, str]:
    """As many statements as there may be, each as long as it may be, of no signal."""
    return {f"{character * 62}{number:02}": character * 64 for number in range(64)}


def known(signals: Any, value: str) -> dict[str, str]:
    return dict.fromkeys((signal.value for signal in signals), value)


def asked(**fields: Any) -> Any:
    return decode(json.dumps({"configuration": {}} | fields).encode(), QUESTION.facts)


def check_told(**fields: Any) -> None:
    plan = QUESTION.plan(asked(**fields), NOW, Options())
    assert len(msgspec.json.encode(plan.answer())) <= plan.told


def statements(character: str) -> dict[str, Any]:
    told = unknown(character)
    return {
        "configuration": dict.fromkeys(FIELDS, told),
        "extensions": dict.fromkeys(EXTENDED, told),
    }


WRONG = [UNPRINTABLE * 64, CONTROL * 64, "\\" * 64, UNPRINTABLE * 63 + "%", "-" + "9" * 62 + "%"]


@pytest.mark.parametrize("character", [CONTROL, UNPRINTABLE, '"', "\\"])
def test_statements_of_unknown_signals(character: str) -> None:
    check_told(**statements(character))


@pytest.mark.parametrize("value", [*WRONG, "123456789123456789m", "12.5%"])
def test_statements_of_signals(value: str) -> None:
    of_kubelet, ours = known(KUBELET_SIGNALS, value), known(EXTRA_SIGNALS, value)
    check_told(
        configuration=dict.fromkeys(FIELDS, of_kubelet) | {"mergeDefaultEvictionSettings": True},
        extensions=dict.fromkeys(EXTENDED, ours),
    )


@pytest.mark.parametrize("character", [CONTROL, UNPRINTABLE, '"', "\\", "x"])
@pytest.mark.parametrize("parts", [1, 2, 63, 64])
@pytest.mark.parametrize("between", ["", "{}", "{}1", "memory.available{}"])
def test_flags(character: str, parts: int, between: str) -> None:
    told = statements(CONTROL)
    told["flags"] = {}
    for field, sign in zip(FIELDS, "<<==", strict=True):
        part = between.format(sign)
        size = 2048 // parts - len(part) - 4
        texts = (f"{number:02}{character * size}{part}" for number in range(parts))
        if part.startswith("memory"):
            texts = (f"{part}{character * size}" for _ in range(parts))
        told["flags"][field] = ",".join(texts)
    check_told(**told)


@pytest.mark.parametrize("field", FIELDS)
def test_a_flag_has_no_more_statements_than_a_configuration(field: str) -> None:
    sign = "<" if field in FIELDS[:2] else "="
    most = ",".join([f"memory.available{sign}1"] * 64)
    QUESTION.plan(asked(flags={field: f",{most},"}), NOW, Options())
    with pytest.raises(FactsError, match="at most 64 are allowed, there are 65") as refused:
        QUESTION.plan(asked(flags={field: f"{most},x"}), NOW, Options())
    assert refused.value.path == f"$.flags.{field}"
    body = {"pressure": {"summary": {}, "flags": {field: f"{most},x"}}}
    round_of = SYSTEMS.questions["planPressureRound"]
    with pytest.raises(FactsError) as refused:
        round_of.plan(decode(json.dumps(body).encode(), round_of.facts), NOW, Options())
    assert refused.value.path == f"$.pressure.flags.{field}"
