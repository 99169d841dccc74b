"""Questions about devices alone: what their taints do, and what one more rule would do."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bailiff.decisions.bounds import MAX_DEVICE_PODS, FactsError, check_devices, check_number
from bailiff.decisions.facts import NO_OVERRIDES, Claims, OptionOverrides, Rules, Slices
from bailiff.kinds import DeviceTaintRule, Pod, Time
from bailiff.kinds.meta import Value

Pods = Annotated[tuple[Pod, ...], Meta(max_length=MAX_DEVICE_PODS)]


class DeviceFacts(Value, frozen=True):
    """Devices, who has them, and their taints: which pods go, and when?

    Attributes:
        pods: the pods to decide for, each as if asked alone, at most 20,000.
        resource_claims: the claims of those pods, at most 20,000; each gets an answer too.
        resource_slices: the slices that publish their devices, at most 20,000 with 50,000 devices.
        device_taint_rules: the rules of the cluster, at most 1,000.
        now: the instant to decide for; absent: the server's clock.
        options: what to do otherwise than the server is set; no trace unless asked for.
    """

    pods: Pods = ()
    resource_claims: Claims = ()
    resource_slices: Slices = ()
    device_taint_rules: Rules = ()
    now: Time | None = None
    options: OptionOverrides = NO_OVERRIDES

    def check(self) -> None:
        """Refuse what cannot be answered in bounded time, or asks nothing.

        Raises:
            FactsError: neither pods nor claims to answer for, or too many or too much of anything.
        """
        if not self.pods and not self.resource_claims:
            raise FactsError("$.pods", "at least one of pods, resourceClaims is required")
        check_number("$.pods", len(self.pods), MAX_DEVICE_PODS)
        explain = self.options.explain is True
        check_devices(self, self.pods, explain=explain, tells_claims=True)


class DeviceTaintRuleFacts(Value, frozen=True):
    """A DeviceTaintRule, in the cluster or not yet: what does it do, or would it?

    Attributes:
        rule: the rule. Whatever its effect is, it is looked at as if it were NoExecute.
        pods: the pods it may reach, at most 20,000.
        resource_claims: the claims of those pods, at most 20,000.
        resource_slices: the slices that publish their devices, at most 20,000 with 50,000 devices.
        device_taint_rules: the other rules of the cluster, at most 1,000; one of the same name
            does not count.
        now: the instant to decide for; absent: the server's clock.
        options: what to do otherwise than the server is set; no trace unless asked for.
    """

    rule: DeviceTaintRule
    pods: Pods = ()
    resource_claims: Claims = ()
    resource_slices: Slices = ()
    device_taint_rules: Rules = ()
    now: Time | None = None
    options: OptionOverrides = NO_OVERRIDES

    def check(self) -> None:
        """Refuse what cannot be answered in bounded time.

        Raises:
            FactsError: too many or too much of anything.
        """
        check_number("$.pods", len(self.pods), MAX_DEVICE_PODS)
        explain = self.options.explain is True
        check_devices(self, self.pods, explain=explain, also=(self.rule,))
