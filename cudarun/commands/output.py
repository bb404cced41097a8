"""The choice of the output format."""

from __future__ import annotations

from functools import partial

import click

from cudarun.commands.declaration import conflict
from cudarun.report.renderer import Renderer

_RENDERERS = {
    "brief": "brief.BriefRenderer",
    "jsonl": "json.JsonLinesRenderer",
    "markdown": "markdown.MarkdownRenderer",
    "sarif": "sarif.SarifRenderer",
}
"""The renderers of ``--format`` but tables."""
_WRITERS = {"junit": "junit.write_junit", "openmetrics": "openmetrics.write_metrics"}
"""The functions that write the files of options."""


def chosen_renderer() -> Renderer:
    """Return the renderer that the options of the current command select.

    A renderer that the caller of the command gave click as the context's object is used instead.
    """
    context = click.get_current_context()
    if isinstance(context.obj, Renderer):
        return context.obj
    renderer = _renderer(context)
    from cudarun.commands.files import output_files

    for option in context.command.params:
        if option.name in _WRITERS and context.params[option.name] is not None:
            from cudarun.report.table import imported

            [output] = output_files((option,), context.params)
            write = partial(imported(_WRITERS[option.name]), output=output)
            renderer.files = (*renderer.files, write)
            renderer.streams = False
    return renderer


def _renderer(context: click.Context) -> Renderer:
    options = context.params
    chosen = options.get("output_format", "table")
    if chosen in ("brief", "jsonl", "sarif") and options["listed"]:
        raise conflict(f"--format {chosen}", "--list", "use --json")
    if options["as_json"]:
        if chosen != "table":
            raise conflict("--json", f"--format {chosen}")
        from cudarun.report.json import JsonRenderer

        return JsonRenderer()
    from cudarun.report.table import TableRenderer, imported

    if chosen in _RENDERERS:
        renderer: Renderer = imported(_RENDERERS[chosen])()
        return renderer
    from cudarun.report.renderer import TableStyle

    style = TableStyle(
        context.color,
        quiet=options["quiet"],
        verbose=options["verbose"],
        seed=options.get("seed") == "random",  # the user knows any other
        times=options.get("times", False),
    )
    if chosen != "github":
        return TableRenderer(style)
    from cudarun.report.github import GithubRenderer

    return GithubRenderer(style)
