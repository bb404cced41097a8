"""Every output that the guides show is what its command prints."""

from __future__ import annotations

import re

import pytest

from tests.support.console_blocks import Command, files
from tools.generate_tours import TOURS, blocks, rewritten, run

BLOCKS = [
    pytest.param(block, files(tour.read_text()), id=f"{tour.stem}-{block[0].line}")
    for tour in TOURS
    for block in blocks(tour.read_text())
]


@pytest.mark.parametrize(("block", "shown_files"), BLOCKS)
def test_what_is_shown_is_what_is_printed(
    block: tuple[Command, ...], shown_files: dict[str, str]
) -> None:
    for command, ran in zip(block, run(block, shown_files), strict=True):
        assert list(command.output) == list(ran.lines), "run python -m tools.generate_tours"
        is_last = command is block[-1]
        said = re.match(r"Exit code (\d)\.", command.after) if is_last else None
        assert ran.exit_code == (int(said[1]) if said else 0)


def test_there_are_tours() -> None:
    assert len(BLOCKS) > 40


def test_a_stale_output_is_rewritten() -> None:
    shown = "Text.\n\n```console\n$ cudarun ctx run -d cpu 'create A'\nold\nlines\n```\n\nEnd.\n"
    line = f"  1   create A  {'SUCCESS':36}main [A]"
    assert rewritten(shown) == shown.replace("old\nlines", line)


def test_commands_of_a_block_share_the_files_of_their_page() -> None:
    kernel = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"
    ran = "$ cudarun link k.ptx -o out.ptx -d cpu -q\n$ cudarun load --offline out.ptx\n"
    page = f"Save as `k.ptx`:\n\n```ptx\n{kernel}```\n\n```console\n{ran}```\n"
    (block,) = blocks(page)
    assert [each.exit_code for each in run(block, files(page))] == [0, 0]
