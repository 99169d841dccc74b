"""The counts of budgets over time as text: what stands in their ConfigMap, and what is none."""

from __future__ import annotations

import pytest

from bailiff.decisions.policies import Book, BookError, Column, Sheet, read_book, write_book
from bailiff.decisions.policies.over_time import digest_of
from bailiff.decisions.policies.over_time_counts import EVICTION_BYTES
from bailiff.decisions.policies.over_time_settings import MAX_BYTES

AT = 1_769_860_800_000


def book_of(key: str, *pods: str) -> Book:
    return {"two": Sheet(60, {key: Column.of(dict.fromkeys(pods, AT))})}


def test_the_text_is_one_that_people_can_read() -> None:
    book = book_of("shop", digest_of("uid-a"))
    text = f'{{"seconds":60,"evictions":{{"shop":"{AT}:{digest_of("uid-a")}"}}}}'
    assert write_book(book) == {"two": text}
    assert read_book({"two": text}) == book


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rubbish",
        "[]",
        '{"evictions":{}}',
        '{"seconds":0}',
        '{"seconds":60,"evictions":{"":"x"}}',
        '{"seconds":60,"evictions":{"":"x:y"}}',
        '{"seconds":60,"evictions":{"":"1:a:b"}}',
        '{"seconds":60,"evictions":{"":"-1:a"}}',
        '{"seconds":60,"evictions":{"":"99999999999999999999:a"}}',
        '{"seconds":60,"evictions":{"":"' + "9" * 5000 + ':a"}}',
    ],
)
def test_what_is_no_book_is_an_error(text: str) -> None:
    with pytest.raises(BookError, match="key two: "):
        read_book({"two": text})


def test_a_book_that_is_too_long_is_not_written() -> None:
    pods = [f"{number:016x}" for number in range(MAX_BYTES // EVICTION_BYTES + 1)]
    write_book(book_of("", *pods[:-5]))
    with pytest.raises(BookError, match=f"at most {MAX_BYTES} are kept"):
        write_book(book_of("", *pods))
