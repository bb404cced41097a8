"""``docs/evidence/reliability.md`` has the matrix that is run."""

from __future__ import annotations

from tools import generate_reliability_docs as generator


def test_the_document_has_the_matrix() -> None:
    text = generator.DOCUMENT.read_text()
    assert generator.document(text) == text, "run python -m tools.generate_reliability_docs"
    assert generator.matrix() in text


def test_a_run_is_a_line_of_its_own() -> None:
    good = {"exit_code": 5, "seconds": 1.0, "problems": []}
    bad = {"exit_code": 0, "seconds": 2.0, "problems": ["ended with 0, not 5"]}
    ran = {
        "date": "2026-11-20",
        "devices": ["NVIDIA H200", "NVIDIA H200"],
        "driver": [13, 0],
        "rows": {"trap": {"launch": good, "spec": bad, "after": {"problems": []}}},
    }
    assert generator.run_line(ran) == (
        "| 2026-11-20 | 2 × NVIDIA H200 | CUDA 13.0 | 2 cells "
        "| not as in the table: trap, spec | 3 s |"
    )
    text = generator.document(generator.DOCUMENT.read_text(), ran)
    assert text.count("trap, spec") == 1
    assert text.index("trap, spec") < text.index("<!-- /runs -->")
