"""``cudarun debug --dap`` with a client of the protocol, and a real process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudarun import __version__
from tests.debugger.dap_client import Body, DapClient, Refused

FOLDER = Path(__file__).parents[1] / "data" / "debugger"
SOURCE = FOLDER / "scale.cu"
LAUNCH = (
    *("scale.ptx", "--threads", "n", "--block", "64", "y=f32[n]:ones", "x=f32[n]:iota"),
    *("factor=f32:2", "n=i32:200"),
)


@pytest.fixture
def client():
    with DapClient() as client:
        yield client


def line_of(text: str) -> int:
    """The line of the source with a text."""
    return next(n for n, each in enumerate(SOURCE.read_text().splitlines(), 1) if text in each)


def break_at(client: DapClient, text: str, **options: object) -> Body:
    """Set the only breakpoint of the source."""
    source, points = {"path": str(SOURCE)}, [{"line": line_of(text), **options}]
    [found] = client.request("setBreakpoints", source=source, breakpoints=points)["breakpoints"]
    return found


def where(client: DapClient, thread: int) -> list[tuple[str, int]]:
    return [(each["name"].partition("(")[0], each["line"]) for each in client.frames(thread)]


CALL, ADDITION = line_of("t = scaled"), line_of("y[i] += t")


def test_a_session(client):
    capabilities = client.launch(*LAUNCH, cwd=str(FOLDER))
    assert capabilities["supportsStepBack"]
    assert break_at(client, "t = scaled", condition="i == 150 and x[i] > 1")["line"] == CALL

    stop = client.begin()
    assert stop["reason"] == "breakpoint"
    thread = stop["threadId"]
    names = {each["id"]: each["name"] for each in client.request("threads")["threads"]}
    assert names[thread] == "block (2, 0, 0), warp 0"
    [frame] = client.frames(thread)
    assert (frame["source"]["path"], frame["line"]) == (str(SOURCE), CALL)

    variables = client.variables(frame["id"])
    assert variables["i"]["value"] == "150"
    assert variables["pair"]["value"] == "{factor = 2.0, bounds = {150, 200}}"
    members = client.children(variables["pair"]["variablesReference"])
    assert members["bounds"]["evaluateName"] == "pair.bounds"
    assert client.children(members["bounds"]["variablesReference"])["[1]"]["value"] == "200"
    rows = client.variables(frame["id"], "Lanes")
    assert rows["i"]["value"] == " ".join(str(128 + lane) for lane in range(32))
    assert rows["n"]["value"] == "200 in all lanes"
    arguments = client.variables(frame["id"], "Arguments")
    assert client.children(arguments["arg.x"]["variablesReference"])["[150]"]["value"] == "150.0"
    assert client.variables(frame["id"], "Registers")["%tid.x"]["value"] == "22"

    def value(text: str, context: str) -> str:
        body = client.request("evaluate", expression=text, frameId=frame["id"], context=context)
        return body["result"]

    assert value("pair.bounds[0] + 1", "watch") == "151"
    assert value("*(x + i)", "hover") == "150.0"
    assert value("sum(arg.y)", "repl") == "200.0"
    assert value("where", "repl").startswith("#0 scale")
    with pytest.raises(Refused, match="unknown name 'where'"):
        value("where", "hover")

    client.move("stepIn", thread)
    assert where(client, thread)[0][0] == "scaled"
    assert where(client, thread)[1] == ("scale", CALL)
    [_, caller] = client.frames(thread)
    assert client.variables(caller["id"])["pair"]["value"] == variables["pair"]["value"]
    client.move("stepOut", thread)
    client.move("next", thread)
    assert where(client, thread) == [("scale", ADDITION)]
    client.move("stepBack", thread)
    assert where(client, thread) == [("scale", CALL)]
    before = client.frames(thread)[0]["instructionPointerReference"]
    client.move("stepIn", thread, granularity="instruction")
    after = client.frames(thread)[0]["instructionPointerReference"]
    lines = client.request(
        "disassemble", memoryReference=after, instructionOffset=-1, instructionCount=2
    )["instructions"]
    assert lines[1]["address"] == after > before
    assert (
        client.request("source", sourceReference=1)["content"]
        .splitlines()[int(after, 16) - 1]
        .strip()
        == lines[1]["instruction"]
    )

    client.request("continue", threadId=thread)
    assert client.event("exited")["exitCode"] == 0
    client.event("terminated")
    client.request("disconnect")


def test_writes_of_an_element_forwards_and_back(client):
    client.launch(*LAUNCH, cwd=str(FOLDER), stopOnEntry=True)
    entry = client.begin()
    assert entry["reason"] == "entry"
    info = client.request("dataBreakpointInfo", name="y[70]")
    found = client.request("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])
    assert found["breakpoints"][0]["verified"]
    functions = client.request("setFunctionBreakpoints", breakpoints=[{"name": "scaled"}])
    assert functions["breakpoints"][0]["verified"]

    first = client.move("continue", entry["threadId"])
    assert where(client, first["threadId"])[0][0] == "scaled"
    client.request("setFunctionBreakpoints", breakpoints=[])
    stop = client.move("continue", first["threadId"])
    assert (stop["reason"], stop["description"]) == ("data breakpoint", "y[70]: 1.0 → 141.0")
    assert client.request("evaluate", expression="arg.y[70]")["result"] == "141.0"
    client.move("stepBack", stop["threadId"])
    assert client.request("evaluate", expression="arg.y[70]")["result"] == "1.0"
    assert client.move("reverseContinue", stop["threadId"])["reason"] == "entry"
    client.request("terminate")
    client.event("terminated")


def test_hits_and_messages(client):
    """A breakpoint in a loop that is passed, and one that prints."""
    words = ["bugs.ptx", "-k", "row_sums", "--threads", "4", "x=f32[80]:iota", "sums=f32[4]"]
    client.launch(*words, "columns=i32:16", cwd=str(FOLDER), stopOnEntry=True)
    client.begin()
    points = [
        {"line": 8, "hitCondition": "2"},
        {"line": 10, "condition": "threadIdx.x == 2", "logMessage": "block {blockDim.x}, z {z}"},
        {"line": 8, "hitCondition": "often"},
    ]
    source = {"path": str(FOLDER / "bugs.cu")}
    found = client.request("setBreakpoints", source=source, breakpoints=points)["breakpoints"]
    assert [each["verified"] for each in found] == [True, True, False]
    stop = client.move("continue", 1)
    assert stop["hitBreakpointIds"] == [found[0]["id"]]
    listed = client.request("evaluate", expression="breakpoints", context="repl")["result"]
    assert "reached 2 times" in listed.splitlines()[0]
    client.request("setBreakpoints", source=source, breakpoints=points[1:2])
    client.request("continue", threadId=stop["threadId"])
    printed = client.event("output")["output"]
    place = "block (0, 0, 0), thread (2, 0, 0)"
    assert printed.startswith(f"{place}: block 4, z <unknown name 'z'")
    client.event("terminated")


def test_variables_are_watched(client):
    """An editor asks for a watchpoint by the variable of a scope, or of a struct in it."""
    client.launch(*LAUNCH, cwd=str(FOLDER))
    break_at(client, "Pair pair", condition="i == 5")
    thread = client.begin()["threadId"]
    [frame] = client.frames(thread)
    scopes = client.request("scopes", frameId=frame["id"])["scopes"]
    reference = scopes[0]["variablesReference"]
    pair = client.children(reference)["pair"]["variablesReference"]
    whole = client.request("dataBreakpointInfo", name="pair", variablesReference=reference)
    assert whole["dataId"] is None
    assert "not a scalar" in whole["description"]
    info = client.request("dataBreakpointInfo", name="factor", variablesReference=pair)
    assert info["dataId"] == "pair.factor"
    client.request("setBreakpoints", source={"path": str(SOURCE)}, breakpoints=[])
    client.request("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])
    stop = client.move("continue", thread)
    assert stop["description"].startswith("pair.factor: ")
    assert stop["description"].endswith(" → 2.0")


def test_a_fault_of_ptx_without_source(client, tmp_path):
    text = """
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry kernel(.param .u64 y)
        {
            .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [y];
            mov.u64 %rd2, 16;
            st.global.u64 [%rd2], %rd1;
            ret;
        }
    """
    image = tmp_path / "kernel.ptx"
    image.write_text(text)
    client.launch(str(image), "--block", "1", "y=u32[4]:zeros")
    client.request("setExceptionBreakpoints", filters=["fault"])
    [point] = client.request("setBreakpoints", source={"path": "kernel.cu"},
                             breakpoints=[{"line": 3}])["breakpoints"]  # fmt: skip
    assert not point["verified"]
    assert "-lineinfo" in point["message"] or "no code" in point["message"]
    stop = client.begin()
    assert stop["reason"] == "exception"
    assert "16" in client.request("exceptionInfo", threadId=1)["description"]
    [frame] = client.frames(stop["threadId"])
    reference = frame["source"]["sourceReference"]
    lines = client.request("source", sourceReference=reference)["content"].splitlines()
    assert lines[frame["line"] - 1].strip().startswith("st.global")
    assert client.variables(frame["id"], "Registers")["%rd2"]["value"] == "16"
    found = client.request("setInstructionBreakpoints", breakpoints=[
        {"instructionReference": frame["instructionPointerReference"], "offset": -1}
    ])  # fmt: skip
    assert found["breakpoints"][0]["verified"]


ENDLESS = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 y)
{
    .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, 0;
again:
    add.u32 %r1, %r1, 1;
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra again;
    ret;
}
"""


def test_a_running_launch_is_interrupted(client, tmp_path):
    image = tmp_path / "kernel.ptx"
    image.write_text(ENDLESS)
    client.launch(str(image), "--block", "1", "y=u32[1]:zeros")
    client.request("configurationDone")
    # It goes on after the request, so that the breakpoint stops it.
    line = next(n for n, each in enumerate(ENDLESS.splitlines(), 1) if "setp" in each)
    found = client.request("setInstructionBreakpoints",
                           breakpoints=[{"instructionReference": hex(line)}])  # fmt: skip
    assert found["breakpoints"][0]["verified"]
    assert client.event("stopped")["reason"] == "breakpoint"
    client.request("setInstructionBreakpoints", breakpoints=[])
    client.request("continue", threadId=1)
    client.request("pause", threadId=1)
    assert client.event("stopped")["reason"] == "pause"
    # A message is shown at once, also if the launch never stops.
    prints = {"line": line, "logMessage": "r2 is {%r2}"}
    found = client.request("setBreakpoints", source={"sourceReference": 1}, breakpoints=[prints])
    client.request("continue", threadId=1)
    assert client.event("output")["output"].endswith("r2 is 0\n")
    client.request("pause", threadId=1)
    assert client.event("stopped")["reason"] == "pause"
    client.request("continue", threadId=1)
    client.request("disconnect")
    assert client.process.wait() == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("missing.ptx",), "missing.ptx"),
        (("scale.ptx", "--no-such-option"), "no-such-option"),
        (("scale.ptx", "--threads", "64"), "takes 4 parameters"),
    ],
)
def test_a_launch_that_cannot_begin(client, words, message):
    client.request("initialize", adapterID="cudarun")
    with pytest.raises(Refused, match=message):
        client.request("launch", args=[*words], cwd=str(FOLDER))
    client.event("terminated")
    assert client.process.wait() == 2


def test_unknown_requests_are_refused(client):
    client.request("initialize")
    with pytest.raises(Refused, match="has not begun"):
        client.request("threads")
    client.request("disconnect")
    assert client.process.wait() == 0


@pytest.mark.parametrize(
    "message",
    [
        b"Content-Length: many\r\n\r\n{}",
        b"Content-Length: -5\r\n\r\n{}",
        b"Content-Length: 2\r\n\r\n{x",
        b"Content-Length: 2\r\n\r\n[]",
    ],
)
def test_a_malformed_message_ends_the_session(client, message):
    client.process.stdin.write(message)
    client.process.stdin.flush()
    assert client.process.wait(60) == 2


ODD = {
    "no frame 99": ("scopes", {"frameId": 99}),
    "no frame 0": ("scopes", {"frameId": 0}),
    "no frame 98": ("evaluate", {"expression": "i", "frameId": 98}),
    "has no frameId": ("scopes", {}),
    "no variable 77": ("variables", {"variablesReference": 77}),
    "no thread 55": ("next", {"threadId": 55}),
    "has no path": ("setBreakpoints", {"source": {}, "breakpoints": []}),
    "has no filters": ("setExceptionBreakpoints", {}),
    "zz is not the address": ("disassemble", {"memoryReference": "zz", "instructionCount": 1}),
    "attach is not supported": ("attach", {}),
}


def test_odd_requests_are_refused_and_the_session_goes_on(client):
    client.request("initialize")
    with pytest.raises(Refused, match="not a list of strings"):
        client.request("launch", args="scale.ptx")
    client.launch(*LAUNCH, cwd=str(FOLDER))
    break_at(client, "t = scaled")
    thread = client.begin()["threadId"]
    for message, (command, arguments) in ODD.items():
        with pytest.raises(Refused, match=message):
            client.request(command, **arguments)
    [frame] = client.frames(thread)
    assert client.variables(frame["id"])["n"]["value"] == "200"


def test_a_motion_that_interrupts_another_is_the_only_one(client, tmp_path):
    image = tmp_path / "kernel.ptx"
    image.write_text(ENDLESS)
    client.launch(str(image), "--block", "1", "y=u32[1]:zeros")
    client.request("configurationDone")
    client.request("evaluate", expression="tbreak ptx:13", context="repl")
    assert client.event("stopped")["reason"] == "breakpoint"
    client.request("continue", threadId=1)
    client.request("stepIn", threadId=1, granularity="instruction")
    assert client.event("stopped")["reason"] == "step"
    # No other stop: the launch does not run on.
    [frame] = client.frames(1)
    position = client.request("evaluate", expression="%r1", frameId=frame["id"])["result"]
    client.request("threads")
    assert client.request("evaluate", expression="%r1", frameId=frame["id"])["result"] == position
    assert not [each for each in client.events if each["event"] == "stopped"]


def test_an_editor_that_ends_while_the_launch_runs(client, tmp_path):
    image = tmp_path / "kernel.ptx"
    image.write_text(ENDLESS)
    client.launch(str(image), "--block", "1", "y=u32[1]:zeros")
    client.request("configurationDone")
    client.process.stdout.close()
    client.process.stdin.close()
    assert client.process.wait(60) == 0


TWO_FILES = """
.version 8.0
.target sm_80
.address_size 64
.file 1 "/built/one/step.h"
.file 2 "/built/two/step.h"
.visible .entry kernel(.param .u64 y)
{
    .reg .b32 %r<3>;
    .loc 1 4 0
    mov.u32 %r1, 0;
    .loc 2 4 0
    mov.u32 %r2, 0;
    ret;
}
"""


def test_files_of_the_same_name_are_told_apart(client, tmp_path):
    image = tmp_path / "kernel.ptx"
    image.write_text(TWO_FILES)
    client.launch(str(image), "--block", "1", "y=u32[1]:zeros")
    source = {"path": "/elsewhere/two/step.h"}
    [point] = client.request("setBreakpoints", source=source,
                             breakpoints=[{"line": 4}])["breakpoints"]  # fmt: skip
    assert point["verified"]
    [frame] = client.frames(client.begin()["threadId"])
    assert frame["source"]["path"] == "/built/two/step.h"


ROOT = Path(__file__).parents[2]


def test_the_configuration_of_the_guide(client):
    """It has what the extension declares, and stops where the guide says."""
    guide = (ROOT / "docs" / "how-to" / "debug-in-an-editor.md").read_text()
    [configuration] = json.loads(guide.split("```json\n")[1].split("```")[0])["configurations"]
    extension = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text())
    [debugger] = extension["contributes"]["debuggers"]
    assert extension["version"] == __version__
    assert [debugger["runtime"], *debugger["runtimeArgs"]] == ["cudarun", "debug", "--dap"]
    launch = debugger["configurationAttributes"]["launch"]["properties"]
    given = {**configuration, "cwd": str(ROOT)}
    for name in ("type", "request", "name"):
        del given[name]
    assert given.keys() <= launch.keys()
    assert configuration["type"] == debugger["type"]

    client.request("initialize", adapterID=debugger["type"])
    client.request("launch", **given)
    text = (ROOT / given["program"]).read_text()
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "y[i] = a * x[i]" in each)
    client.request("setBreakpoints", source={"path": str(ROOT / given["program"])},
                   breakpoints=[{"line": line, "condition": "i == 700 and x[i] > 1"}])  # fmt: skip
    thread = client.begin()["threadId"]
    [frame] = client.frames(thread)
    assert client.variables(frame["id"])["i"]["value"] == "700"
    client.request("disconnect")
