"""Questions to try, in Kubernetes' own JSON. Their answers are computed, never written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.rest_api.examples import devices, nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.rest_api.examples.nodes import Example

# By the question's name; a question without any is shown without.
EXAMPLES: Mapping[str, Mapping[str, Example]] = {
    "decide": {**nodes.ONE_POD, **devices.POD_WITH_DEVICES},
    "decideBatch": {**nodes.NODE, **devices.DEVICES},
    "previewTaintChange": nodes.TAINT_CHANGE,
    "previewDeviceTaintRule": devices.DEVICE_TAINT_RULE,
}
