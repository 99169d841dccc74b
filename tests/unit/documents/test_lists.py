"""Lists of the documents come out of mkdocs as they are on GitHub."""

from __future__ import annotations

import pytest

from handbook.lists import widened


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (
            "1. One\n\n   ```sh\n   ls\n   ```\n2. Two",
            "1. One\n\n    ```sh\n    ls\n    ```\n2. Two",
        ),
        ("- One\n  goes on\n- Two", "- One\n    goes on\n- Two"),
        (
            "1. One\n   - inner\n     goes on\n2. Two",
            "1. One\n    - inner\n        goes on\n2. Two",
        ),
        (
            "1. One\n\n    ```sh\n    ls\n    ```\n2. Two",
            "1. One\n\n    ```sh\n    ls\n    ```\n2. Two",
        ),
        ("10. Ten\n\n    more", "10. Ten\n\n    more"),
        ("- One\n\nNo list\n    code", "- One\n\nNo list\n    code"),
        ("```yaml\na:\n- b: 1\n  c: 2\n```", "```yaml\na:\n- b: 1\n  c: 2\n```"),
        (
            "- a\n\n  ```yaml\n  - b: 1\n    c: 2\n  ```\n- d",
            "- a\n\n    ```yaml\n    - b: 1\n      c: 2\n    ```\n- d",
        ),
    ],
)
def test_what_belongs_to_a_point_stays_in_it(written: str, wanted: str) -> None:
    assert widened(written) == wanted
