"""The examples in the API's document are of requests that the hooks are for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from bailiff.decisions.admission import MAX_WARNING
from bailiff.kinds import decode
from bailiff.kinds.admission_review import AdmissionReview
from bailiff.rest_api.examples.admission import example_of, review_of
from tests.harness.admission import app_of, ask, hooks
from tests.harness.changes import ShownSource

if TYPE_CHECKING:
    from bailiff.webhooks import Hook


@pytest.mark.parametrize("hook", hooks(), ids=lambda hook: hook.path)
async def test_each_hook_is_for_its_example(hook: Hook) -> None:
    review = decode(msgspec.json.encode(review_of(hook)), AdmissionReview)
    assert review.request.target in hook.targets
    assert all(len(one) <= MAX_WARNING for one in example_of(hook).outcome.warnings)
    given = dict(example_of(hook).request)
    said = await ask(app_of(source=ShownSource()), hook.path, **given)
    assert said["allowed"]
    assert not any(" looks at " in one for one in said.get("warnings", ()))
