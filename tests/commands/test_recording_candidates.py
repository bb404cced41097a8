"""``--candidate`` with a recording: other code, with the recorded arguments and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import Run

RECORDINGS = Path(__file__).resolve().parents[1] / "data" / "recordings"
CANDIDATES = """
__constant__ float factor[4];
__device__ unsigned counter;
struct Rows { const float *x; float4 *y; int n; };

__global__ void blend4(Rows rows, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *x = rows.x + 4 * i;
    if (4 * i < rows.n)
        rows.y[i] = make_float4(a * x[1] + factor[0], a * x[0] + factor[1], a * x[3] + factor[2],
                                a * x[2] + factor[3]);
    if (threadIdx.x == 0) atomicAdd(&counter, 64 / gridDim.x);
}
__global__ void unshuffled(Rows rows, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *x = rows.x + 4 * i;
    rows.y[i] = make_float4(a * x[0], a * x[1], a * x[2], a * x[3]);
}
__global__ void sums(const float *const *table, float *sum, int n) {
    for (int i = threadIdx.x; i < 32; i += blockDim.x) {
        float total = 0;
        for (int k = 0; k < n; ++k) total += table[k][i];
        sum[i] = total;
    }
}
__global__ void exchange(int *data) {
    if (threadIdx.x == 0) data[blockIdx.x] = 10 * (blockIdx.x ^ 1);
}
__global__ void mirror(int *data, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        data[i] = i, data[n + i] = n - 1 - i;
}
__global__ void scatter(const unsigned *x, const long long *index, unsigned *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && 0 <= index[i] && index[i] < n) y[index[i]] = x[i];
}
__global__ void ones(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 1;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "new.cu").write_text(CANDIDATES)
    return tmp_path


def launch(run: Run, recording: str, kernel: str, *words: str) -> str:
    """Return the report of a candidate that passes."""
    file = str(RECORDINGS / f"{recording}.cudarun")
    ran = run("launch", file, "--candidate", f"new.cu:{kernel}", *words, "-d", "cpu")
    assert ran.code == 0, ran.out + ran.err
    return ran.out + ran.err


@pytest.mark.parametrize(
    ("recording", "kernel", "words", "message"),
    [
        ("runtime", "blend4", ("--grid", "16"), "PASS m1 == recorded\nPASS counter == recorded"),
        ("gather", "sums", ("--block", "8"), "PASS m1 == recorded"),
        ("cluster", "exchange", (), "PASS m0 == recorded"),
        ("cooperative", "mirror", ("--grid", "2"), "PASS m0 == recorded"),
        ("scatter", "scatter", ("--grid", "8"), "there are no results to compare with"),
        ("overrun", "ones", ("--check", "m0 == 1"), "PASS m0 == 1"),
    ],
)
@pytest.mark.usefixtures("source")
def test_every_recording_takes_a_candidate(
    run: Run, recording: str, kernel: str, words: tuple[str, ...], message: str
) -> None:
    assert message in launch(run, recording, kernel, *words)


@pytest.mark.usefixtures("source")
def test_a_candidate_is_compared_with_the_recorded_code(run: Run) -> None:
    own = str(RECORDINGS / "gather.cudarun")
    report = launch(run, "gather", "sums", "--block", "4", "--baseline", own)
    assert f"PASS m1 as by {own}" in report


@pytest.mark.usefixtures("source")
def test_another_baseline_gets_the_recorded_memory(run: Run) -> None:
    own = str(RECORDINGS / "gather.cudarun")
    ran = run("launch", own, "--baseline", "new.cu:sums", "-d", "cpu")
    assert (ran.code, "PASS m1 as by new.cu:sums" in ran.out) == (0, True), ran.err


def test_a_wrong_candidate_fails(run: Run, source: Path) -> None:
    words = (str(RECORDINGS / "runtime.cudarun"), "-d", "cpu", "--grid", "16")
    ran = run("launch", *words, "--candidate", "new.cu:unshuffled")
    assert (ran.code, "FAIL m1 == recorded" in ran.out) == (1, True), ran.err
    assert "FAIL counter == recorded" in ran.out
    (source / "new.cu").write_text(CANDIDATES.replace("counter", "calls"))
    ran = run("launch", *words, "--candidate", "new.cu:sums")
    assert (ran.code, "the image has no variable 'counter' of 4 bytes" in ran.err) == (2, True)


@pytest.mark.usefixtures("source")
def test_a_spec_runs_candidates_over_recordings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/judge.toml").write_text(f"""
[[launch]]
name = "recorded"
matrix = {{file = ["gather"]}}
image = "{RECORDINGS}/${{file}}.cudarun"
block = 8

[[launch]]
name = "own"
image = "{RECORDINGS}/cooperative.cudarun"
candidate = "../new.cu:mirror"
check-strength = "fail"
""")
    ran = run("launch", "--spec", "specs/judge.toml", "-d", "cpu", "own")
    assert (ran.code, "1 passed" in ran.out) == (0, True), ran.out + ran.err
    given = [word for name in ("sums", "ones") for word in ("--candidate", f"new.cu:{name}")]
    ran = run("launch", "--spec", "specs/judge.toml", "-d", "cpu", *given, "recorded*")
    assert ran.code == 1
    assert "passed  new.cu:sums  1 of 1 cases passed" in ran.out
    assert "failed  new.cu:ones  0 of 1 cases passed" in ran.out


@pytest.mark.usefixtures("source")
def test_the_written_spec_has_the_candidate(run: Run, tmp_path: Path) -> None:
    launch(run, "gather", "sums", "--write-spec", "x.toml")
    assert 'candidate = "new.cu:sums"' in (tmp_path / "x.toml").read_text()
    assert run("launch", "--spec", "x.toml", "-d", "cpu").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("new.cu", "--candidate", "new.cu:sums"), "requires --spec, or a recording"),
        (("R", "--candidate", "a.cu", "--candidate", "b.cu"), "a launch has one candidate"),
        (("R", "--candidate", "new.cu:sums", "n=1"), "a recording has its own arguments"),
        (("R", "--candidate", "new.cu:sums", "--then", "--grid", "2"), "the code of one launch"),
    ],
)
@pytest.mark.usefixtures("source")
def test_what_has_no_candidate(run: Run, words: tuple[str, ...], message: str) -> None:
    own = str(RECORDINGS / "gather.cudarun")
    ran = run("launch", *(own if word == "R" else word for word in words), "-d", "cpu")
    assert (ran.code, message in ran.err) == (2, True), ran.err


@pytest.mark.usefixtures("source")
def test_a_confined_spec_has_no_candidate_outside(run: Run, tmp_path: Path) -> None:
    (tmp_path / "box").mkdir()
    (tmp_path / "box/x.cudarun").write_bytes((RECORDINGS / "gather.cudarun").read_bytes())
    case = '[[launch]]\nimage = "x.cudarun"\ncandidate = "../new.cu:sums"\n'
    (tmp_path / "box/x.toml").write_text(case)
    ran = run("launch", "--spec", "box/x.toml", "--confine", "box", "-d", "cpu")
    assert (ran.code, "is outside box" in ran.err) == (2, True), ran.err
