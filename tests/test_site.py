"""The pages of the site (`tools/build_site.py`), and the checks of the built one.

`.ci/run` builds the site itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import build_site


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("README.md", "[a](docs/reference/cli.md#x)", "[a](reference/cli.md#x)"),
        ("README.md", "![`p`](docs/pictures/launch.svg)", "![`p`](pictures/launch.svg)"),
        ("docs/index.md", "[a](../CHANGELOG.md)", "[a](project/CHANGELOG.md)"),
        ("docs/reference/api.md", "[a](../../samples/README.md)", "[a](../project/samples.md)"),
        ("samples/README.md", "[a](nbody.py)", "[a](../files/samples/nbody.py)"),
        ("docs/reference/api.md", "the [`tests`](../../tests/)", "the `tests`"),
        ("README.md", "[a](https://x.org/y.md) [b](#c)", "[a](https://x.org/y.md) [b](#c)"),
        ("README.md", "\n```console not-run\n[a](b.md)\n```\n", "\n```console\n[a](b.md)\n```\n"),
        ("README.md", "text:\n- a\n- b\n", "text:\n\n- a\n- b\n"),
    ],
)
def test_a_page(path: str, text: str, expected: str) -> None:
    assert build_site.page(text, path) == expected


def test_every_page_is_in_the_navigation() -> None:
    assert list(build_site.unlisted()) == []


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ("<a href=no.html>", "no such file: no.html"),
        ("<a href='#no'>", "no such heading: #no"),
        ("<a href='b.html#no'>", "no such heading: b.html#no"),
        ("<script src='//x.org/y.js'>", "request to another host: //x.org/y.js"),
        ("<link rel=stylesheet href='https://x.org/'>", "request to another host: https://x.org/"),
        ("<p style='background: url(https://x.org/)'>", "request to another host: https://x.org/"),
        ("<p>\n```console\n", "a code block was not recognized"),
        ("<a href='https://x.org'> <a href='b.html#yes'> <img src='b.html'>", None),
    ],
)
def test_faults_of_a_built_site(tmp_path: Path, html: str, fault: str | None) -> None:
    (tmp_path / "a.html").write_text(html)
    (tmp_path / "b.html").write_text("<h1 id=yes>")
    assert list(build_site.faults(tmp_path)) == ([] if fault is None else [f"a.html: {fault}"])


def test_a_style_sheet_that_requests_another_host(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text('@import "https://x.org/font.css";')
    [fault] = build_site.faults(tmp_path)
    assert fault == "a.css: request to another host: https://x.org/font.css"
