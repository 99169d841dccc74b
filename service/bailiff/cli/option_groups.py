"""Options that several commands have, and that reach a command as one value."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Types of parameters that another group gathers, and that no command loads before it runs.
_LATER = {"TracingSettings": object}


def with_options(
    command: Callable[..., None],
    parameter: str,
    options: Mapping[str, Any],
    gather: Callable[[dict[str, Any]], object],
) -> Callable[..., None]:
    """A command that takes one of its parameters from several options of the command line.

    Typer reads options from a signature, so they are written into that.

    Args:
        command: what to call; groups may be added to it one by one.
        parameter: the one of `command` that they are gathered into.
        options: by the name of each, its type as Typer takes it. None is what has not been said.
        gather: makes the parameter's value of what was said.
    """
    # Its type is loaded only when the command runs.
    command.__annotations__.pop(parameter)
    given = inspect.signature(command, eval_str=True, locals=_LATER)
    own = [one for one in given.parameters.values() if one.name != parameter]
    added = [_parameter(name, option) for name, option in options.items()]

    @functools.wraps(command)
    def run(**values: Any) -> None:  # noqa: ANN401 - as many types as there are options
        said = {name: values.pop(name) for name in options}
        command(**values, **{parameter: gather(said)})

    run.__dict__["__signature__"] = given.replace(parameters=[*own, *added])
    run.__annotations__ = {one.name: one.annotation for one in (*own, *added)}
    return run


def _parameter(name: str, option: Any) -> inspect.Parameter:  # noqa: ANN401 - as Typer's
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
