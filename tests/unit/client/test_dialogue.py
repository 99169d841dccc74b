"""What is said in a stream of scheduling verdicts, and when anew: by tables, without a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bailiff.client import BailiffError, Failure, InvalidQuestionError, TooLongError
from bailiff.client.dialogue import Dialogue
from bailiff.client.errors import CLOSED, DEADLINE, UNREACHABLE, UNREADABLE, error_of, late
from bailiff.client.judging import Judging
from bailiff.client.messages import (
    JudgeNodesResponse,
    JudgeNodesStreamRequest,
    JudgeNodesStreamResponse,
    Pod,
    PodsJudged,
    PodsToJudge,
)
from bailiff.client.registering import Registered, changing, registering
from bailiff.grpc_api.errors import FieldError, OverloadedError, RefusedError
from tests.harness.judge import named

Step = Callable[[JudgeNodesStreamRequest], JudgeNodesStreamResponse]
POD = JudgeNodesStreamRequest(pods=PodsToJudge(pods=[Pod()]))


def ok(request: JudgeNodesStreamRequest) -> JudgeNodesStreamResponse:
    return JudgeNodesStreamResponse(request_id=request.request_id)


def another(_: JudgeNodesStreamRequest) -> JudgeNodesStreamResponse:
    return JudgeNodesStreamResponse(request_id="another")


def nameless(_: JudgeNodesStreamRequest) -> JudgeNodesStreamResponse:
    return JudgeNodesStreamResponse()


def refused(error: RefusedError) -> Step:
    def refuse(request: JudgeNodesStreamRequest) -> JudgeNodesStreamResponse:
        return JudgeNodesStreamResponse(request_id=request.request_id, error=error.status())

    return refuse


def gone(_: JudgeNodesStreamRequest) -> JudgeNodesStreamResponse:
    raise error_of(Failure(UNREACHABLE, "gone"))


def hanging(_: JudgeNodesStreamRequest) -> JudgeNodesStreamResponse:
    raise late()


INVALID = refused(FieldError("no", "pods"))
FULL = refused(OverloadedError("no"))


def told(request: JudgeNodesStreamRequest) -> str:
    """In short, as "nodes a b", "change +c -a", "pods 1"."""
    if request.HasField("nodes"):
        return " ".join(["nodes", *sorted(one.metadata.name for one in request.nodes.nodes)])
    if request.HasField("changes"):
        put = [f"+{one.metadata.name}" for one in request.changes.put]
        return " ".join(["change", *put, *(f"-{name}" for name in request.changes.remove)])
    return f"pods {len(request.pods.pods)}"


class Call:
    def __init__(self) -> None:
        self.said: list[str] = []
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Driver:
    """As those of the clients, with answers that a test gives; those it does not give are fine."""

    def __init__(self, *nodes: str) -> None:
        self.calls: list[Call] = []
        self.dialogue = Dialogue(self._begin)
        if nodes:
            assert self.tell(registering(map(named, nodes), (), None)) == "ok"

    def _begin(self) -> Call:
        self.calls.append(Call())
        return self.calls[-1]

    def attempt(self, requests: list[JudgeNodesStreamRequest], *steps: Step) -> str:
        """The code of the error; or "ok"."""
        try:
            self._speak(requests, iter(steps))
        except BailiffError as error:
            return error.code
        return "ok"

    def tell(self, change: Callable[[Registered], tuple], *steps: Step) -> str:
        try:
            with self.dialogue.telling(change) as requests:
                self._speak(requests, iter(steps))
        except BailiffError as error:
            return error.code
        return "ok"

    def _speak(self, requests: list[JudgeNodesStreamRequest], steps: Iterator[Step]) -> None:
        with self.dialogue.attempt() as call:
            for request in self.dialogue.say(requests):
                call.said.append(told(request))
                self.dialogue.hear(next(steps, ok)(request))

    def said(self) -> list[list[str]]:
        """By each call, in order."""
        return [call.said for call in self.calls]

    def open(self) -> list[bool]:
        return [not call.closed for call in self.calls]


@pytest.mark.parametrize(
    ("step", "code", "is_left"),
    [
        (ok, "ok", False),
        (INVALID, "invalid_field", False),
        (FULL, "overloaded", False),
        (gone, UNREACHABLE, True),
        (hanging, DEADLINE, True),
        (another, UNREADABLE, True),
        (nameless, UNREADABLE, True),
    ],
)
def test_a_call_that_owes_an_answer_is_left_and_the_next_is_told_the_nodes(
    step: Step, code: str, is_left: bool
) -> None:
    driver = Driver("a", "b")
    assert driver.attempt([POD], step) == code
    assert driver.open() == [not is_left]
    assert driver.attempt([POD]) == "ok"
    first = ["nodes", "nodes a b", "pods 1"]
    assert driver.said() == ([first, ["nodes a b", "pods 1"]] if is_left else [[*first, "pods 1"]])


@pytest.mark.parametrize(
    ("steps", "code", "names"),
    [
        ((), "ok", {"b", "c"}),
        ((INVALID,), "invalid_field", {"a"}),
        ((ok, INVALID), "invalid_field", {"a"}),
        ((ok, FULL), "overloaded", {"a"}),
        ((ok, gone), UNREACHABLE, {"a"}),
        ((hanging,), DEADLINE, {"a"}),
    ],
)
def test_a_change_is_made_whole_or_not_at_all(
    steps: tuple[Step, ...], code: str, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiff.client.registering._BYTES", 1)
    driver = Driver("a")
    assert driver.tell(changing([named("b"), named("c")], ["a"]), *steps) == code
    assert driver.dialogue.names == names
    assert driver.open() == [code == "ok"]
    assert driver.attempt([POD]) == "ok"
    said = ["pods 1"] if code == "ok" else ["nodes a", "pods 1"]
    assert driver.calls[-1].said[-len(said) :] == said


@pytest.mark.parametrize(
    ("step", "second"),
    [
        # There was no room: the same call, and what was taken is said again, which does no harm.
        (FULL, []),
        # Another server knows what was registered before, not what is being changed.
        (gone, ["nodes a"]),
    ],
)
def test_a_change_in_several_attempts(
    step: Step, second: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiff.client.registering._BYTES", 1)
    driver = Driver("a")
    with driver.dialogue.telling(changing([named("b"), named("c")], ["a"])) as requests:
        before = len(driver.calls[0].said)
        assert driver.attempt(requests, ok, step) != "ok"
        assert driver.attempt(requests) == "ok"
    said = [one for call in driver.calls for one in call.said][before:]
    change = ["change +b -a", "change +c"]
    assert said == [*change, *second, *change]
    assert len(driver.calls) == 1 + len(second)
    assert driver.dialogue.names == {"b", "c"}


@pytest.mark.parametrize("step", [INVALID, FULL, gone, hanging, another])
def test_a_call_whose_server_could_not_be_told_the_nodes_is_left(step: Step) -> None:
    driver = Driver("a")
    driver.attempt([POD], gone)
    assert driver.attempt([POD], step) != "ok"
    assert driver.attempt([POD]) == "ok"
    assert driver.said()[1:] == [["nodes a"], ["nodes a", "pods 1"]]
    assert driver.open() == [False, False, True]


def test_nodes_in_pieces_are_told_a_new_server_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bailiff.client.registering._BYTES", 1)
    driver = Driver("a", "b")
    driver.attempt([POD], gone)
    assert driver.attempt([POD]) == "ok"
    assert driver.said()[1] == ["nodes a", "change +b", "pods 1"]


def test_what_no_call_could_be_made_for_is_said_by_the_next() -> None:
    driver, outcomes = Driver(), iter([gone, ok])
    begin = driver.dialogue._begin

    def failing() -> Call:
        next(outcomes)(POD)
        return begin()

    driver.dialogue._begin = failing
    assert driver.attempt([POD]) == UNREACHABLE
    assert driver.attempt([POD]) == "ok"
    assert driver.said() == [["nodes", "pods 1"]]


def test_who_gives_up_leaves_the_call() -> None:
    def given_up(_: JudgeNodesStreamRequest) -> JudgeNodesStreamResponse:
        raise KeyboardInterrupt

    driver = Driver("a")
    with pytest.raises(KeyboardInterrupt):
        driver.attempt([POD], given_up)
    assert driver.open() == [False]


def test_who_gives_up_a_change_between_attempts_leaves_the_call() -> None:
    driver = Driver("a")

    def change() -> None:
        with driver.dialogue.telling(changing([named("b")], [])) as requests:
            assert driver.attempt(requests, FULL) == "overloaded"
            assert driver.open() == [True]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        change()
    assert driver.open() == [False]
    assert driver.dialogue.names == {"a"}


@pytest.mark.parametrize("nodes", [(), ("a",)])
def test_who_comes_after_the_end_is_told_so(nodes: tuple[str, ...]) -> None:
    driver = Driver(*nodes)
    driver.dialogue.close()
    assert driver.attempt([POD]) == CLOSED
    assert driver.open() == [False] * len(nodes)


def test_who_waits_at_the_end_is_told_so() -> None:
    driver = Driver("a")

    def closing(request: JudgeNodesStreamRequest) -> JudgeNodesStreamResponse:
        driver.dialogue.close()
        return gone(request)

    assert driver.attempt([POD], closing) == CLOSED
    assert driver.open() == [False]


def test_who_makes_a_call_at_the_end_is_told_so() -> None:
    driver = Driver()
    begin = driver.dialogue._begin

    def closing() -> Call:
        driver.dialogue.close()
        return begin()

    driver.dialogue._begin = closing
    assert driver.attempt([POD]) == CLOSED
    assert driver.said() == [[]]
    assert driver.open() == [False]


def judged(pods: int) -> JudgeNodesStreamResponse:
    return JudgeNodesStreamResponse(judged=PodsJudged(answers=[JudgeNodesResponse()] * pods))


@pytest.mark.parametrize(
    ("pods", "most", "longest", "asked"),
    [
        (0, 3, 9, []),
        (1, 3, 9, [1]),
        (3, 3, 9, [3]),
        (7, 3, 9, [3, 3, 1]),
        (5, 9, 3, [5, 2, 3]),
        (9, 9, 2, [9, 4, 2, 2, 5, 2, 3, 1, 2]),
        (2, 1, 9, [1, 1]),
    ],
)
def test_pods_go_so_many_at_a_time_and_in_halves(
    pods: int, most: int, longest: int, asked: list[int]
) -> None:
    judging, sizes = Judging([named(f"p{i}") for i in range(pods)], None, most), []
    names = []
    for question in judging:
        sizes.append(len(question.pods.pods))
        with judging.halved_if_too_long():
            if sizes[-1] > longest:
                raise TooLongError(Failure("answer_too_large", "no"))
            names += [pod.metadata.name for pod in question.pods.pods]
            judging.take(judged(sizes[-1]))
    assert sizes == asked
    assert names == [f"p{i}" for i in range(pods)]
    assert len(judging.answers) == pods


def test_an_answer_about_one_pod_that_is_too_long_stays_an_error() -> None:
    judging = Judging([Pod()], None, 9)
    with pytest.raises(TooLongError), judging.halved_if_too_long():
        raise TooLongError(Failure("answer_too_large", "no"))


@pytest.mark.parametrize("number", [0, 1, 3])
def test_each_pod_has_its_answer(number: int) -> None:
    judging = Judging([Pod()] * 2, None, 9)
    with pytest.raises(BailiffError, match=f"{number} answers about 2 pods"):
        judging.take(judged(number))


@pytest.mark.parametrize(
    "change",
    [
        lambda: registering([{"metadata": {"name": 5}}], (), None),
        lambda: registering([], [{"nodes": 5}], None),
        lambda: registering([], (), {"slices": 5}),
        lambda: changing([{"metadata": {"name": 5}}], []),
        lambda: Judging([{"metadata": {"name": 5}}], None, 9),
    ],
)
def test_what_is_no_message_is_refused_before_anything_is_said(
    change: Callable[[], object],
) -> None:
    with pytest.raises(InvalidQuestionError):
        change()
