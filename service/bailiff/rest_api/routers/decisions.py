"""Answers from the facts in the body."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from fastapi import APIRouter, Body
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.rest_api.metrics import Metrics
from bailiff.rest_api.problems import ProblemCode, problem_responses
from bailiff.rest_api.question_route import question_route
from bailiff.rest_api.questions import Questions
from bailiff.rest_api.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bailiff.rest_api.bodies import Bodies
    from bailiff.rest_api.operations import Question

_PROBLEMS = problem_responses(
    ProblemCode.MALFORMED_BODY,
    ProblemCode.SLOW_BODY,
    ProblemCode.BODY_TOO_LARGE,
    ProblemCode.UNSUPPORTED_MEDIA_TYPE,
    ProblemCode.INVALID_FIELD,
    ProblemCode.OVERLOADED,
)


class _ExampleClock:
    """Examples name their own instant; this one is never asked."""

    def now(self) -> datetime:
        return datetime.fromtimestamp(0, UTC)

    def latest(self) -> datetime:
        return self.now()

    def monotonic(self) -> float:
        return 0.0

    def elapsed(self) -> float:
        return 0.0


def decisions_router(table: Iterable[Question], questions: Questions, bodies: Bodies) -> APIRouter:
    """An operation for each question of a table.

    Args:
        table: the questions.
        questions: who answers.
        bodies: who takes the bodies.
    """
    router = APIRouter(tags=["Decisions"], route_class=question_route(bodies))
    for question in table:
        router.post(
            question.path,
            operation_id=question.id,
            name=question.id,
            summary=question.summary,
            description=question.description,
            response_description="The answer.",
            responses={200: _example_answers(question), **_PROBLEMS},
        )(_operation(question, questions))
    return router


def _operation(question: Question, questions: Questions) -> Callable[[Any], Any]:
    def operation(facts: Any) -> Any:  # noqa: ANN401 - the question's own types, as below
        return question.ask(questions, facts)

    bodies: dict[str, Any] = {
        name: {"summary": example.summary, "value": example.body}
        for name, example in question.examples.items()
    }
    operation.__annotations__ = {
        "facts": Annotated[
            question.facts, Wire(question.facts, question.size), Body(openapi_examples=bodies)
        ],
        "return": Annotated[question.answer, Wire(question.answer)],
    }
    return operation


def _example_answers(question: Question) -> dict[str, Any]:
    answers = {
        name: {"summary": example.summary, "value": example_answer(question, name)}
        for name, example in question.examples.items()
    }
    return {"content": {"application/json": {"examples": answers}}}


def example_answer(question: Question, name: str) -> object:
    """What comes out of an example of a question, by the same code as any other answer."""
    questions = Questions(_ExampleClock(), Options(), Metrics(CollectorRegistry()))
    facts: Any = msgspec.convert(question.examples[name].body, question.facts)
    return msgspec.to_builtins(question.ask(questions, facts))
