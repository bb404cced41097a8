"""Build the documentation site with Zensical, and check it.

``python -m tools.build_site`` needs the extra ``docs``. It stages the Markdown of ``docs/``, of the
root and of what they link to in ``build/site/pages``, with links that follow, and builds
``build/site/html``. It fails on a link without a target, an unlisted page of ``docs/``, and a
resource of another host. ``python -m http.server -d build/site/html`` serves the site.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "build" / "site" / "pages"
HTML = ROOT / "build" / "site" / "html"

_FENCE = re.compile(r"^(?P<start> *```)(?P<language>\w*)[^\n]*\n.*?^ *``` *$", re.M | re.S)
_LINK = re.compile(r"(?P<text>\[(?:`[^`]*`|[^\]`])*\])\((?P<target>[^)\s]+)\)")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")
_ROOT_PAGES = ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT")
_SPECIAL = {
    "README.md": "index.md",
    "docs/index.md": "contents.md",
    "samples/README.md": "project/samples.md",
}
_CSS = """\
.md-grid { max-width: 80rem; }
.md-typeset pre > code { font-size: 0.62rem; }
@media screen and (min-width: 60em) {
  .md-typeset :is(p, li) > code, .md-typeset td > code { white-space: nowrap; }
}
.md-typeset table:not([class]) th { min-width: 4rem; }
"""
_CSS_REQUEST = re.compile(r"""(?:url\(\s*|@import\s+)["']?(?P<url>(?:https?:)?//[^"')\s]+)""")
_REQUESTS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_PASSIVE = {"canonical", "next", "prev", "alternate"}  # rel of a link that loads nothing


def place(path: str) -> str | None:
    """Return the place of a file of the repository in the site; ``None`` for a folder."""
    if (ROOT / path).is_dir():
        return None
    if path in _SPECIAL:
        return _SPECIAL[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"project/{path}" if path.endswith(".md") else f"files/{path}"


def stage() -> None:
    """Write the pages, with what they link to."""
    shutil.rmtree(PAGES, ignore_errors=True)
    waiting = [f"{name}.md" for name in _ROOT_PAGES]
    waiting += [str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").rglob("*")) if p.is_file()]
    done: set[str] = set()
    while waiting:
        path = waiting.pop()
        where = place(path)
        if where is None or path in done:
            continue
        done.add(path)
        target = PAGES / where
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            text = (ROOT / path).read_text()
            waiting += linked(text, path)
            target.write_text(page(text, path))
        else:
            shutil.copyfile(ROOT / path, target)
    (PAGES / "site.css").write_text(_CSS)


def _is_outside(target: str) -> bool:
    return re.match(r"[a-z]+:|#", target) is not None


def _resolved(target: str, path: str) -> str:
    """Return the file of the repository that a link in a file names."""
    return os.path.normpath(os.path.join(os.path.dirname(path), target.partition("#")[0]))


def linked(text: str, path: str) -> Iterator[str]:
    """Yield the files of the repository that a page links to."""
    for match in _LINK.finditer(_FENCE.sub("", text)):
        if not _is_outside(match["target"]):
            yield _resolved(match["target"], path)


def page(text: str, path: str) -> str:
    """Return a page of the site: links follow the files, and lists are as Python-Markdown's."""
    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts.append(_prose(text[end : fence.start()], path))
        code = fence[0].partition("\n")[2]  # after the language, Markdown here allows no words
        parts.append(f"{fence['start']}{fence['language']}\n{code}")
        end = fence.end()
    return "".join([*parts, _prose(text[end:], path)])


def _prose(text: str, path: str) -> str:
    return _separated(_LINK.sub(lambda match: _moved(match, path), text))


def _moved(match: re.Match[str], path: str) -> str:
    target = match["target"]
    if _is_outside(target):
        return match[0]
    where = place(_resolved(target, path))
    if where is None:  # a folder has no page
        return match["text"][1:-1]
    start = os.path.dirname(place(path) or "")
    anchor = target.partition("#")[2]
    return f"{match['text']}({os.path.relpath(where, start)}{f'#{anchor}' if anchor else ''})"


def _separated(text: str) -> str:
    """Return a text with an empty line before each list, which Python-Markdown requires."""
    lines: list[str] = []
    for line in text.split("\n"):
        before = lines[-1] if lines else ""
        is_first = before.strip() and not before.startswith(" ") and not _ITEM.match(before)
        if _ITEM.match(line) and is_first and not before.startswith(("|", "#")):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def build() -> int:
    """Build the site; the status of Zensical, 1 for a link without a target."""
    shutil.rmtree(HTML, ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", "mkdocs.yml"]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}).returncode


class _Page(HTMLParser):
    """The anchors, links and requests of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.requests: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in _REQUESTS and not _PASSIVE & {*values.get("rel", "").split()}:
            self.requests.append(values.get(_REQUESTS[tag], ""))
        self.requests += _urls(values.get("style", ""))


def _urls(css: str) -> list[str]:
    return [match["url"] for match in _CSS_REQUEST.finditer(css)]


def faults(folder: Path) -> Iterator[str]:
    """Yield links without a target and resources of other hosts in the built site."""
    texts = {path: path.read_text() for path in sorted(folder.rglob("*.html"))}
    pages = {path: _Page(text) for path, text in texts.items()}
    for path, parsed in pages.items():
        name = path.relative_to(folder)
        if re.search(r"^ *```", texts[path], re.M):
            yield f"{name}: a code block was not recognized"
        for url in (*parsed.requests, *parsed.links):
            parts = urlsplit(url)
            is_request = url in parsed.requests
            if parts.scheme or parts.netloc:
                if is_request and parts.scheme != "data":
                    yield f"{name}: request to another host: {url}"
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if path.name == "404.html" and parts.path.startswith("/"):
                target = folder / unquote(parts.path).lstrip("/")
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{name}: no such file: {url}"
            elif parts.fragment and target in pages:
                known = pages[target].anchors
                if unquote(parts.fragment) not in known and not parts.fragment.startswith("__"):
                    yield f"{name}: no such heading: {url}"
    for path in sorted(folder.rglob("*.css")):
        yield from (f"{path.relative_to(folder)}: request to another host: {url}"
                    for url in _urls(path.read_text()))  # fmt: skip


def unlisted() -> Iterator[str]:
    """Yield the pages of ``docs/`` that the navigation does not have."""
    listed = set(re.findall(r"[\w./-]+\.md$", (ROOT / "mkdocs.yml").read_text(), re.M))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        where = place(str(path.relative_to(ROOT)))
        if where not in listed:
            yield f"mkdocs.yml: nav: {where} is missing"


def main() -> int:
    """Build and check; 1 when there is a fault."""
    stage()
    status = build()
    if not (HTML / "index.html").exists():
        return status or 1
    found = [*unlisted(), *faults(HTML)]
    print("\n".join(found) if found else f"{len([*HTML.rglob('*.html')])} pages in {HTML}")
    return 1 if found or status else 0


if __name__ == "__main__":
    sys.exit(main())
