"""What the present slices and rules mean for each claim, kept in step change by change.

A rule may select every device there is, and to judge all their claims anew takes too long for one
step of an event loop. So that is done a part at a time. A claim that has not had its turn is judged
whenever somebody asks for it: nobody ever sees what it meant before the rule changed.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.decisions.device_taints.claims import UNTAINTED, devices_of, judge_claim
from bailiff.decisions.device_taints.links import Links
from bailiff.decisions.device_taints.pools import DeviceId, Pools
from bailiff.decisions.device_taints.rules import Rules, selects
from bailiff.kinds import NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from bailiff.decisions.device_taints.claims import ClaimFinding
    from bailiff.decisions.device_taints.pods import ClaimKey
    from bailiff.kinds import DeviceTaintRule, ResourceClaim, ResourceSlice


# Claims judged at a time, at 10 to 50 us.
_PART = 200


class Changed(NamedTuple):
    """What a change reached.

    Attributes:
        claims: that mean something else now, or are others than they were.
        rules: names of rules that are, or were, a reason why those evict.
    """

    claims: frozenset[ClaimKey] = frozenset()
    rules: frozenset[str] = frozenset()


class ClaimVerdicts:
    """Slices, rules and claims, and the finding on each claim."""

    def __init__(self) -> None:
        self._allocated: Links[tuple[str, str], tuple[str, ClaimKey]] = Links()
        # Not a method: pools that held what holds them would be freed by garbage collections only,
        # after each question about devices, with all that it was about.
        self._pools = Pools(partial(_devices_in, self._allocated))
        self._rules = Rules()
        self._claims: dict[ClaimKey, ResourceClaim] = {}
        # Only claims with tainted devices are in here.
        self._found: dict[ClaimKey, ClaimFinding] = {}
        self._claims_on: Links[DeviceId, ClaimKey] = Links()
        self._doomed_by: Links[str, ClaimKey] = Links()
        # Those whose entry among the found may be what they meant before a rule changed.
        self._unjudged: set[ClaimKey] = set()

    @property
    def slices(self) -> Mapping[str, ResourceSlice]:
        """By name."""
        return self._pools.slices

    @property
    def claims(self) -> Mapping[ClaimKey, ResourceClaim]:
        """By namespace and name."""
        return self._claims

    @property
    def rules(self) -> Mapping[str, DeviceTaintRule]:
        """By name."""
        return self._rules.rules

    def of(self, key: ClaimKey) -> ClaimFinding:
        """What is found on a claim; nothing for one that is not known or not allocated."""
        return self._look_at(key) if key in self._unjudged else self._kept(key)

    def doomed_by(self, rule: DeviceTaintRule) -> frozenset[ClaimKey]:
        """The claims that evict with an applied rule as a reason."""
        return frozenset(self._doomed_by.of(rule.metadata.name))

    def doomed_if(self, rule: DeviceTaintRule) -> Generator[None, None, frozenset[ClaimKey]]:
        """The claims that would evict with a rule as a reason, had it the effect NoExecute.

        Other rules play no part. Counted in parts, like `applying_rule`; a claim that changes
        meanwhile counts as it was or as it is.
        """
        taint = replace(rule.spec.taint, effect=NO_EXECUTE)
        evicting = replace(rule, spec=replace(rule.spec, taint=taint))
        alone = Rules()
        alone.apply(evicting)
        found: set[ClaimKey] = set()
        rest = iter(self._selected(evicting))
        while part := tuple(islice(rest, _PART)):
            claims = ((key, self._claims.get(key)) for key in part)
            found.update(
                key
                for key, claim in claims
                if claim is not None and rules_of(judge_claim(claim, self._pools, alone))
            )
            yield
        return frozenset(found)

    def count_published(self, rule: DeviceTaintRule) -> int:
        """How many devices a rule selects of those that slices publish now."""
        selector = rule.spec.device_selector
        return sum(selects(selector, device) for device in self._pools.published())

    def count_allocated(self, rule: DeviceTaintRule) -> int:
        """How many allocations of devices a rule selects."""
        selector = rule.spec.device_selector
        return sum(selects(selector, d) for one in self._claims.values() for d in devices_of(one))

    def apply_slice(self, new: ResourceSlice) -> Changed:
        """Take a slice in, new or changed."""
        return self._judge_anew(self._on(self._pools.apply(new)))

    def delete_slice(self, name: str) -> Changed:
        """Forget a slice."""
        return self._judge_anew(self._on(self._pools.delete(name)))

    def applying_rule(self, rule: DeviceTaintRule) -> Iterator[Changed]:
        """Take a rule in, new or changed, and judge the claims that it reaches, a part at a time.

        It is itself among the rules, if it is another now. Go through all of it: with the first
        part the rule is in, and whatever is asked is answered by it.
        """
        old = self._rules.apply(rule)
        if old is not None and _same_rule(old, rule):
            return
        reached = self._selected(old) | self._selected(rule)
        self._unjudged |= reached
        yield Changed(rules=frozenset({rule.metadata.name}))
        yield from self._judging(reached)

    def deleting_rule(self, name: str) -> Iterator[Changed]:
        """Forget a rule, in parts like `applying_rule`. It is not itself among the rules."""
        reached = self._selected(self._rules.delete(name))
        self._unjudged |= reached
        for changed in self._judging(reached):
            yield Changed(changed.claims, changed.rules - {name})

    def judging_left(self) -> Iterator[Changed]:
        """Judge, in parts, the claims that are left of a change of rules not gone through."""
        yield from self._judging(tuple(self._unjudged))

    def change_claim(self, key: ClaimKey, new: ResourceClaim | None) -> Changed:
        """Take a claim in, new or changed, or forget it."""
        old = self._claims.pop(key, None)
        if old is None and new is None:
            return Changed()
        before, after = devices_of(old) if old else [], devices_of(new) if new else []
        self._claims_on.move(key, before, after)
        for device in before:
            self._allocated.move((device.device, key), (device[:2],), ())
        for device in after:
            self._allocated.move((device.device, key), (), (device[:2],))
        if new is not None:
            self._claims[key] = new
        known = self._kept(key)
        return Changed(frozenset({key}), rules_of(known) | rules_of(self._judge(key)))

    def _on(self, devices: Iterable[DeviceId]) -> set[ClaimKey]:
        return {claim for device in devices for claim in self._claims_on.of(device)}

    def _selected(self, rule: DeviceTaintRule | None) -> set[ClaimKey]:
        """The claims with a device that an evicting rule selects."""
        if rule is None or rule.spec.taint.effect != NO_EXECUTE:
            return set()
        selector = rule.spec.device_selector
        return self._on(device for device in self._claims_on if selects(selector, device))

    def _judging(self, keys: Iterable[ClaimKey]) -> Iterator[Changed]:
        rest = iter(keys)
        while part := tuple(islice(rest, _PART)):
            yield self._judge_anew(part)

    def _judge_anew(self, keys: Iterable[ClaimKey]) -> Changed:
        claims: set[ClaimKey] = set()
        rules: set[str] = set()
        for key in keys:
            before, after = self._kept(key), self._judge(key)
            if before != after:
                claims.add(key)
                rules |= rules_of(before) | rules_of(after)
        return Changed(frozenset(claims), frozenset(rules))

    def _judge(self, key: ClaimKey) -> ClaimFinding:
        self._unjudged.discard(key)
        before, found = self._kept(key), self._look_at(key)
        self._doomed_by.move(key, rules_of(before), rules_of(found))
        if found.met:
            self._found[key] = found
        else:
            self._found.pop(key, None)
        return found

    def _kept(self, key: ClaimKey) -> ClaimFinding:
        return self._found.get(key, UNTAINTED)

    def _look_at(self, key: ClaimKey) -> ClaimFinding:
        claim = self._claims.get(key)
        return UNTAINTED if claim is None else judge_claim(claim, self._pools, self._rules)


def _devices_in(
    allocated: Links[tuple[str, str], tuple[str, ClaimKey]], pool: tuple[str, str]
) -> set[str]:
    """The devices of a pool that are allocated to claims."""
    return {device for device, _ in allocated.of(pool)}


def rules_of(found: ClaimFinding) -> frozenset[str]:
    """The names of the rules that are reasons why a claim evicts."""
    if found.evict_at is None:
        return frozenset()
    rules = (one.source.device_taint_rule for one in found.met if one.is_reason)
    return frozenset(rule.name for rule in rules if rule is not None)


def _same_rule(old: DeviceTaintRule, new: DeviceTaintRule) -> bool:
    return old.metadata.uid == new.metadata.uid and old.spec == new.spec
