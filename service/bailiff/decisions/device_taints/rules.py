"""Which DeviceTaintRules taint a device (k8s.io/api/resource/v1beta2, KEP-5055)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds import NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.decisions.device_taints.pools import DeviceId
    from bailiff.kinds import DeviceTaintRule, DeviceTaintSelector

_Pattern = tuple[str | None, str | None, str | None]


def selects(selector: DeviceTaintSelector | None, device: DeviceId) -> bool:
    """Whether a rule with this selector taints the device, which need not be published.

    No selector selects nothing, an empty one everything.
    """
    return selector is not None and (
        selector.driver in (None, device.driver)
        and selector.pool in (None, device.pool)
        and selector.device in (None, device.device)
    )


class Rules:
    """All rules, and those that evict by what they select."""

    def __init__(self) -> None:
        self._rules: dict[str, DeviceTaintRule] = {}
        # There are eight ways to give or leave out driver, pool and device: so many look-ups find
        # all the rules of a device, however many rules there are.
        self._evicting: dict[_Pattern, dict[str, DeviceTaintRule]] = {}

    @property
    def rules(self) -> Mapping[str, DeviceTaintRule]:
        """All rules by name."""
        return self._rules

    def apply(self, rule: DeviceTaintRule) -> DeviceTaintRule | None:
        """Take a rule in, new or changed. What it was before."""
        old = self.delete(rule.metadata.name)
        self._rules[rule.metadata.name] = rule
        pattern = _pattern(rule)
        if pattern is not None:
            self._evicting.setdefault(pattern, {})[rule.metadata.name] = rule
        return old

    def delete(self, name: str) -> DeviceTaintRule | None:
        """Forget a rule. What it was."""
        old = self._rules.pop(name, None)
        pattern = None if old is None else _pattern(old)
        if pattern is not None:
            del self._evicting[pattern][name]
            if not self._evicting[pattern]:
                del self._evicting[pattern]
        return old

    def evicting(self, device: DeviceId) -> list[DeviceTaintRule]:
        """The rules with effect NoExecute that select a device, by name."""
        if not self._evicting:
            return []
        found: list[DeviceTaintRule] = []
        for driver in (device.driver, None):
            for pool in (device.pool, None):
                for name in (device.device, None):
                    found.extend(self._evicting.get((driver, pool, name), {}).values())
        return sorted(found, key=lambda rule: rule.metadata.name)


def _pattern(rule: DeviceTaintRule) -> _Pattern | None:
    """What an evicting rule selects; None: it evicts nobody."""
    selector = rule.spec.device_selector
    if selector is None or rule.spec.taint.effect != NO_EXECUTE:
        return None
    return selector.driver, selector.pool, selector.device
