"""Hostile documents of the nodes of a fleet, and archives for a node."""

from __future__ import annotations

import copy
import io
import json
import random
import tempfile
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from cudarun import __version__
from cudarun.base.errors import ExitCode
from cudarun.base.machine import DeviceIdentity
from cudarun.model.documents import document
from cudarun.model.fleet import Change, FleetCase, FleetReport, NodeGpu, NodeReport
from cudarun.report.fleet_tables import FleetTable
from cudarun.report.renderer import TableStyle
from cudarun.session.fleet.archive import unpack
from cudarun.session.fleet.consensus import compare
from cudarun.session.fleet.parent import host_report
from cudarun.session.fleet.request import NodeRequest
from cudarun.session.workers.programs import ProgramResult
from tools.fuzz import text
from tools.fuzz.fuzzer import METHODS, Fuzzer

_HONEST = json.dumps(
    document(
        NodeReport(
            __version__,
            1.0,
            tuple(
                NodeGpu(
                    DeviceIdentity(label, int(label), f"GPU-{label}", "", "H200", None, (13, 0)),
                    (
                        FleetCase("a", "passed", None, ExitCode.OK, 3, 1.5, {"y": "12"}),
                        FleetCase(
                            "b", "failed", "no", ExitCode.CHECK_FAILED, 3, 2.0, {"y": "12"},
                            (Change("y", 2, ("12", "13")),),
                        ),
                    ),
                )
                for label in "01"
            ),
        )
    )
)  # fmt: skip
_REQUEST = NodeRequest(__version__, ("a",), 600.0, devices="cpu", seed=7, timeout=60.0)
_STRINGS = tuple(json.dumps(each) for each in (*text.STRANGE, "0\n3 ok\nkubectl cordon good", ""))
_VALUES: tuple[Any, ...] = (
    *(None, [], {}, True, -1, 0, 0.0, 0.5, 2**63, 10**400, 1e308, float("nan"), "x", [1, 2], 130),
    *text.STRANGE,
)
_PATHS = ("files/a", "files/../a", "files//a", "a", "files/", "files/a/b", "files/é")


class Nodes(Fuzzer[bytes]):
    """Outputs of nodes, each beside that of three honest ones; and archives."""

    name = "nodes"

    def case(self, chance: random.Random) -> bytes:
        """Return a damaged archive, or a document with damaged text or with odd values."""
        if chance.randrange(4) == 0:
            return _archive(chance)
        if chance.randrange(2):
            words = (*text.NUMBERS, *_STRINGS, "{", "}", "[", "]", ",", "null", '"label":', '"y":')
            return text.damaged(_HONEST, chance, words).encode(errors="surrogatepass")
        document = json.loads(_HONEST)
        for _ in range(chance.randint(1, 4)):
            inside: Any = document
            while inside:
                key = chance.choice([*(inside if isinstance(inside, dict) else range(len(inside)))])
                if not isinstance(inside[key], dict | list) or chance.randrange(4) == 0:
                    inside[key] = copy.deepcopy(chance.choice(_VALUES))
                    break
                inside = inside[key]
        return json.dumps(document).encode()

    def exit_code(self, case: bytes) -> int:
        """Read it, compare it with honest nodes, and print the report."""
        if case.startswith(b"PK"):
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                unpack(case, Path(folder))
            return 0
        outputs = {"odd": case, **dict.fromkeys("abc", _HONEST.encode())}
        results = [
            host_report(host, ProgramResult(0, output, "", 1.0)) for host, output in outputs.items()
        ]
        report = FleetReport("s.toml", None, 1.0, *compare(results))
        lines = io.StringIO()
        table = FleetTable(Console(file=lines), [*outputs], TableStyle())
        for host in report.hosts:
            table.add(host)
        table.end(report)
        json.dumps(report.counts)
        honest = {gpu.verdict for host in report.hosts[1:] for gpu in host.gpus}
        assert honest == {"wrong answer"}, honest  # the failed check of each
        assert not any(gpu.objections for host in report.hosts[1:] for gpu in host.gpus)
        return 0 if report.exit_code in (0, 1, 3, 4, 5, 6, 7) else 2


def _archive(chance: random.Random) -> bytes:
    fields: dict[str, Any] = asdict(_REQUEST) | {"spec": "a"}
    for _ in range(chance.randint(0, 2)):
        fields[chance.choice([*fields])] = chance.choice(_VALUES)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("fleet.json", json.dumps(fields), chance.choice(METHODS))
        for path in dict.fromkeys(chance.choice(_PATHS) for _ in range(chance.randint(0, 2))):
            archive.writestr(path, "x", chance.choice(METHODS))
    damaged = bytearray(data.getvalue())
    for _ in range(chance.randint(0, 3)):
        damaged[chance.randrange(2, len(damaged))] = chance.randrange(256)
    return bytes(damaged)
