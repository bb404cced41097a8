"""The documents are true (`tools/check_docs.py`), and the checks that say so find faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import console_blocks
from tools import check_docs


@pytest.mark.parametrize("check", check_docs.CHECKS, ids=lambda check: check.__name__)
def test_documents_have_no_faults(check) -> None:  # type: ignore[no-untyped-def]
    assert list(check()) == []


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that the checks look at instead of this one."""
    monkeypatch.setattr(check_docs, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[x](nowhere.md)", "README.md:1: no such file: nowhere.md"),
        ("a\n\n[x](README.md#nothing)", "README.md:3: no such heading: README.md#nothing"),
        ("```\ncode\n```\n[x](no.md)", "README.md:4: no such file: no.md"),
    ],
)
def test_a_broken_link_is_found(project: Path, text: str, fault: str) -> None:
    (project / "README.md").write_text(text)
    assert list(check_docs.broken_links()) == [fault]


@pytest.mark.parametrize(
    "text",
    [
        "[x](README.md)",
        "# One, two!\n[x](#one-two)",
        "[x](https://example.org)",
        "```\n[x](y)\n```",
    ],
)
def test_a_good_link_passes(project: Path, text: str) -> None:
    (project / "README.md").write_text(text)
    assert list(check_docs.broken_links()) == []


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("cudarun lunch x.ptx", "no command 'lunch'"),
        ("cudarun launch x.ptx --blok 3", "--blok"),
        ("X=1 .venv/bin/cudarun launch --nothing | head", "--nothing"),
        ("cudarun --verison", "--verison"),
        ("cudarun launch x.ptx --block 1,2,3,4", "4 dimensions"),
        ("cudarun launch x.ptx 'x=f32[n'", "f32[n"),
        ("cudarun launch x.ptx --check 'x =='", "x =="),
    ],
)
def test_an_unusable_command_is_found(project: Path, command: str, fault: str) -> None:
    (project / "README.md").write_text(f"text\n\n```console\n$ {command}\n```\n")
    (found,) = check_docs.unusable_commands()
    assert found.startswith("README.md:4: ")
    assert fault in found


@pytest.mark.parametrize(
    "command",
    ["cudarun launch x.ptx -k f --block 32 n=i32:3 > out.txt", "ls --nothing && cudarun --version"],
)
def test_a_usable_command_passes(project: Path, command: str) -> None:
    (project / "README.md").write_text(f"```console\n$ {command}\n```\n")
    assert list(check_docs.unusable_commands()) == []


def test_console_blocks() -> None:
    document = "\n".join(
        [
            "```console",
            "$ one \\",
            "    two",
            "shown",
            "$ three",
            "```",
            "",
            "After.",
            "```",
            "$ no",
        ]
    )
    first, second = console_blocks.commands(document)
    assert (first.line, first.text, first.output) == (2, "one two", ("shown",))
    assert (second.line, second.text, second.output) == (5, "three", ())
    assert first.after == second.after == "After."
    assert first.block == second.block == 2
    assert first.is_run


def test_files_and_blocks_that_are_not_run() -> None:
    document = "Save this as `k.cu`:\n\n```cuda\nint k;\n```\n\n```console not-run\n$ x\n```\n"
    assert console_blocks.files(document) == {"k.cu": "int k;\n"}
    (command,) = console_blocks.commands(document)
    assert not command.is_run
