"""What a kubelet's configuration comes to, and all that is wrong in it."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.pressure.configuring import (
    ReadConfiguration,
    read_configuration,
)
from bailiff.decisions.pressure.percentage import parse_percentage
from bailiff.decisions.pressure.signals import KUBELET_SIGNALS, Signal
from bailiff.decisions.pressure.thresholds import Threshold
from bailiff.kinds import decode
from bailiff.kinds.kubelet_configuration import KubeletConfiguration

SECOND = 10**9


def read(version: str = "", *, windows: bool = False, **fields: Any) -> ReadConfiguration:
    configuration = decode(json.dumps(fields).encode(), KubeletConfiguration)
    return read_configuration(configuration, version, windows=windows)


def told(found: Iterable[Threshold]) -> dict[str, str]:
    return {one.signal.value: one.value.quantity or f"{one.value.percentage:.2f}" for one in found}


def test_nothing_set_is_the_kubelets_defaults() -> None:
    found = read()
    assert told(found.settings.thresholds) == {
        "memory.available": "100Mi",
        "nodefs.available": "0.10",
        "nodefs.inodesFree": "0.05",
        "imagefs.available": "0.15",
        "imagefs.inodesFree": "0.05",
        "allocatableMemory.available": "100Mi",
    }
    assert found.settings.transition_period_nanoseconds == 300 * SECOND
    assert found.settings.local_storage_capacity_isolation


def test_windows_has_other_defaults() -> None:
    found = read(windows=True, enforceNodeAllocatable=["none"])
    assert told(found.settings.thresholds)["memory.available"] == "500Mi"
    assert not any(one.signal.value.endswith("inodesFree") for one in found.settings.thresholds)


def test_what_is_set_replaces_all_defaults_unless_they_are_merged() -> None:
    own: dict[str, Any] = {
        "evictionHard": {"memory.available": "1Gi"},
        "enforceNodeAllocatable": [],
    }
    assert told(read(**own).settings.thresholds) == {"memory.available": "1Gi"}
    merged = read(**own, mergeDefaultEvictionSettings=True)
    assert told(merged.settings.thresholds)["memory.available"] == "1Gi"
    assert len(merged.settings.thresholds) == 5
    assert "memory.available" not in merged.defaults


def test_a_whole_kubelet_configuration_may_be_handed_over() -> None:
    found = read(
        kind="KubeletConfiguration", apiVersion="kubelet.config.k8s.io/v1beta1", x={"y": 1}
    )
    assert found.errors == ()


def test_grace_periods_and_reclaims_go_with_their_signals() -> None:
    found = read(
        evictionHard={},
        evictionSoft={"memory.available": "1Gi"},
        evictionSoftGracePeriod={"memory.available": "1m30s", "pid.available": "5s"},
        evictionMinimumReclaim={"memory.available": "5%"},
    )
    (one,) = found.settings.thresholds
    assert (one.grace_period_nanoseconds, one.min_reclaim is None) == (90 * SECOND, False)
    assert found.errors == ()


PID = "pid.available"
WRONG = [
    ("evictionHard", "x%", "MalformedPercentage"),
    ("evictionHard", "NaN%", "MalformedPercentage"),
    ("evictionHard", "101%", "PercentageOutOfRange"),
    ("evictionHard", "-1%", "PercentageOutOfRange"),
    ("evictionHard", "0", "NotPositive"),
    ("evictionHard", "1x", "MalformedQuantity"),
    ("evictionMinimumReclaim", "-1", "NotPositive"),
    ("evictionMinimumReclaim", "0%", "NotPositive"),
    ("evictionSoftGracePeriod", "1d", "MalformedDuration"),
    ("evictionSoftGracePeriod", "-1s", "NegativeDuration"),
]


@pytest.mark.parametrize(("field", "text", "code"), WRONG)
def test_each_error_has_its_field_and_a_code(field: str, text: str, code: str) -> None:
    fields: dict[str, Any] = {field: {PID: text}}
    (error,) = read(**fields).errors
    assert (error.path, error.code) == (f'{field}["{PID}"]', code)
    assert error.reason


def test_a_signal_that_nobody_knows() -> None:
    (error,) = read(evictionHard={"memory.free": "1"}).errors
    assert (error.path, error.code) == ('evictionHard["memory.free"]', "UnknownSignal")
    assert "memory.available" in error.reason


def test_a_soft_threshold_without_a_grace_period() -> None:
    (error,) = read(evictionSoft={PID: "1"}).errors
    path = f'evictionSoftGracePeriod["{PID}"]'
    assert (error.path, error.code) == (path, "GracePeriodMissing")


@pytest.mark.parametrize(
    ("text", "code"), [("soon", "MalformedDuration"), ("-1s", "NegativeDuration")]
)
def test_a_transition_period_that_is_none(text: str, code: str) -> None:
    (error,) = read(evictionPressureTransitionPeriod=text).errors
    assert (error.path, error.code) == ("evictionPressureTransitionPeriod", code)


@pytest.mark.parametrize("text", ["0%", "100%"])
def test_as_good_as_none(text: str) -> None:
    assert read(evictionHard={"pid.available": text}).settings.thresholds == ()


def test_thresholds_stand_in_the_order_of_the_signals() -> None:
    of_kubelets = [signal for signal in Signal if signal in KUBELET_SIGNALS]
    hard = {signal.value: "1" for signal in reversed(of_kubelets)}
    found = read(evictionHard=hard, enforceNodeAllocatable=[])
    assert [one.signal for one in found.settings.thresholds] == of_kubelets


@given(st.decimals(min_value=0, max_value=100, places=6, allow_nan=False))
def test_a_percentage_is_the_float32_next_to_it(number: Decimal) -> None:
    exact = Fraction(str(number))
    found = parse_percentage(f"{number:f}%")
    assert struct.unpack("<f", struct.pack("<f", found))[0] == found
    assert abs(Fraction(found) - exact / 100) <= exact / 100 / 2**22
