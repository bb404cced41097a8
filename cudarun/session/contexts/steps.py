"""The implementation of each step of a context script, usually one driver or runtime API call.

Every result code is a valid answer here. The method of a verb is `_do_` and its name. The table in
`verbs` describes it, and it receives the operands by the names of the parser.
"""

from __future__ import annotations

from collections.abc import Callable

from cudarun.session.contexts.answers import CallAnswer
from cudarun.session.contexts.code_steps import CodeSteps
from cudarun.session.contexts.context_steps import ContextSteps
from cudarun.session.contexts.runtime_steps import RuntimeSteps


class Steps(ContextSteps, CodeSteps, RuntimeSteps):
    """The implementation of all verbs."""

    def method(self, verb: str) -> Callable[..., CallAnswer]:
        """Return the method of a verb."""
        method: Callable[..., CallAnswer] = getattr(self, f"_do_{verb.replace('-', '_')}")
        return method
