"""`python -m tests.acceptance.gaps`: how long the serving loop is held up by questions.

A ticker on the loop that serves both faces comes every 10 ms. Bodies of every size up to the
limits, with nulls, long lists, long numbers, deep nesting and whatever else is hard to read or to
answer, are searched for those that make it come latest. Prints the worst that were found, and
exits 1 where a tick came more than 100 ms late three times for one and the same body, so that it
is the body's doing and not the machine's.
"""

from __future__ import annotations

import argparse
import http.client
import sys
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, settings, target

from tests.acceptance.gaps import grpc_bodies
from tests.acceptance.gaps.bodies import Asked, bodies
from tests.acceptance.gaps.finding import MOST, Found
from tests.acceptance.gaps.server import served

if TYPE_CHECKING:
    from tests.acceptance.gaps.server import Served


def ask(served: Served, asked: Asked) -> tuple[float, str]:
    """Seconds by which the latest tick came late, and what the answer was."""
    connection = http.client.HTTPConnection("127.0.0.1", served.ports.rest, timeout=60)
    try:
        served.longest_gap()
        headers = {"Content-Type": "application/json"}
        try:
            connection.request("POST", asked.path, asked.body, headers)
            answer = connection.getresponse()
            length = len(answer.read())
            came = f"{answer.status}, {length:,} bytes"
        except OSError as error:
            # Refused by its length alone: the server need not take the rest.
            came = f"cut off ({type(error).__name__})"
        return served.longest_gap(), came
    finally:
        connection.close()


def search(served: Served, found: Found, number: int) -> None:
    """Look for the hardest of so many bodies."""

    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    @given(bodies())
    def look(asked: Asked) -> None:
        words = f"POST {asked.path} {asked.words}"
        target(found.measure(lambda: ask(served, asked), words))

    look()


def main() -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance.gaps")
    parser.add_argument("--bodies", type=int, default=400, help="how many to try, of each face")
    number = parser.parse_args().bodies
    with served() as server:
        for name, looking in (("REST", search), ("gRPC", grpc_bodies.search)):
            found = Found()
            looking(server, found, number)
            print(f"{name}: {found.tried} bodies; the latest ticks:")
            for gap, words in found.worst:
                print(f"  {gap * 1000:6.1f} ms late: {words[:400]}")
            if found.worst and found.worst[0][0] > MOST:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
