"""Answers from the facts in the body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from fastapi import APIRouter, Body

from bailiff.decisions import Options, Plan
from bailiff.decisions.instants import START_OF_TIME
from bailiff.rest_api.examples import EXAMPLES
from bailiff.rest_api.problems import ProblemCode, problem_responses
from bailiff.rest_api.question_route import question_route
from bailiff.rest_api.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.decisions import Asked, Question, Systems
    from bailiff.rest_api.asking import Asking
    from bailiff.rest_api.bodies import Bodies

PREFIX = "/v1/"
_PROBLEMS = problem_responses(
    ProblemCode.MALFORMED_BODY,
    ProblemCode.SLOW_BODY,
    ProblemCode.BODY_TOO_LARGE,
    ProblemCode.UNSUPPORTED_MEDIA_TYPE,
    ProblemCode.INVALID_FIELD,
    ProblemCode.OVERLOADED,
)


def decisions_router(asking: Asking, bodies: Bodies) -> APIRouter:
    """An operation for every question that can be asked of the systems.

    Args:
        asking: who answers.
        bodies: who takes the bodies.
    """
    router = APIRouter(tags=["Decisions"], route_class=question_route(asking, bodies))
    for question in asking.systems.questions.values():
        router.post(
            PREFIX + question.path,
            operation_id=question.name,
            name=question.name,
            summary=question.summary,
            description=question.description,
            response_description="The answer.",
            responses={200: _example_answers(question), **_PROBLEMS},
        )(_operation(question, asking))
    return router


def _operation(question: Question[Any], asking: Asking) -> Callable[[Asked], Plan[Any]]:
    def operation(facts: Asked) -> Plan[Any]:
        return asking.plan(question, facts)

    bodies: dict[str, Any] = {
        name: {"summary": example.summary, "value": example.body}
        for name, example in EXAMPLES.get(question.name, {}).items()
    }
    operation.__annotations__ = {
        "facts": Annotated[
            question.facts, Wire(question.facts, question.size), Body(openapi_examples=bodies)
        ],
        "return": Annotated[Plan, Wire(question.answer)],
    }
    return operation


def _example_answers(question: Question[Any]) -> dict[str, Any]:
    answers = {
        name: {"summary": example.summary, "value": _answer(question, example.body)}
        for name, example in EXAMPLES.get(question.name, {}).items()
    }
    return {"content": {"application/json": {"examples": answers}}}


def example_answer(systems: Systems, question: str, name: str) -> object:
    """What comes out of an example of a question, by the same code as any other answer."""
    return _answer(systems.questions[question], EXAMPLES[question][name].body)


def _answer(question: Question[Any], body: object) -> object:
    # Examples name their own instant.
    facts = msgspec.convert(body, question.facts)
    return msgspec.to_builtins(question.ask(facts, START_OF_TIME, Options()))
