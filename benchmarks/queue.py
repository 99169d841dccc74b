"""Timed queue: microseconds to add, move and cancel among a million, beside asyncio's timers.

`python -m benchmarks.queue`.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterable

from bailiff.worker.timers.queue import DeadlineQueue

COUNT = 1_000_000


def microseconds(act: Callable[[int], object], keys: Iterable[int]) -> float:
    start = time.perf_counter()
    for key in keys:
        act(key)
    return (time.perf_counter() - start) * 1e6 / COUNT


def main() -> None:
    rng = random.Random(1)
    dues = [rng.uniform(0, 3600) for _ in range(COUNT)]
    moved = dues[::-1]
    order = list(range(COUNT))
    rng.shuffle(order)

    queue: DeadlineQueue[int] = DeadlineQueue()
    add = microseconds(lambda key: queue.put(key, dues[key]), range(COUNT))
    move = microseconds(lambda key: queue.put(key, moved[key]), order)
    cancel = microseconds(queue.cancel, order)

    loop = asyncio.new_event_loop()
    timers: dict[int, asyncio.TimerHandle] = {}

    def call_at(key: int) -> None:
        timers[key] = loop.call_at(loop.time() + 1000 + dues[key], print)

    yard_add = microseconds(call_at, range(COUNT))
    yard_cancel = microseconds(lambda key: timers[key].cancel(), order)
    loop.close()

    print(f"{COUNT:,} entries, microseconds each")
    print(f"add     {add:5.2f}   asyncio {yard_add:5.2f}   {add / yard_add:4.2f}x its time")
    both = yard_add + yard_cancel
    print(f"move    {move:5.2f}   asyncio {both:5.2f}   {move / both:4.2f}x its time")
    print(f"cancel  {cancel:5.2f}   asyncio {yard_cancel:5.2f}")


if __name__ == "__main__":
    main()
