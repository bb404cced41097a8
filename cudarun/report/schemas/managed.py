"""The document of ``managed``."""

from __future__ import annotations

from typing import Literal, TypedDict

from cudarun.report.schemas.errors import DiagnosticRecord, Head
from cudarun.report.schemas.values import Value


class ReadValueRecord(TypedDict):
    """The value of a variable, read by the host or in a context.

    Attributes:
        text: The value, as text.
        value: The value.
    """

    text: str
    value: Value


class VariableContextRecord(TypedDict):
    """A context that has the variables.

    Attributes:
        device: The device, as for --device.
        context: primary, new, or new 2 for a further one.
    """

    device: str
    context: str


class ObservationRecord(TypedDict):
    """A variable at one moment.

    Attributes:
        moment: The moment, such as after a launch.
        host: The value that the host reads; null where it cannot.
        places: The value in each context, in the order of the document's places.
    """

    moment: str
    host: ReadValueRecord | None
    places: list[ReadValueRecord]


class ManagedVariableRecord(TypedDict):
    """A variable.

    Attributes:
        name: Its symbol.
        demangled: Its name in C++ spelling.
        managed: Whether it is a __managed__ variable.
        type: The type that it is read as.
        size: Its size in bytes.
        addresses: Its address in each context, in the order of the document's places.
        observations: Its values, in the order of time.
    """

    name: str
    demangled: str
    managed: bool
    type: str
    size: int
    addresses: list[int]
    observations: list[ObservationRecord]


class ManagedDocument(Head):
    """The variables of an image in several contexts.

    Attributes:
        schema: The schema of this document.
        image: The file.
        places: The contexts.
        variables: The variables, managed ones first.
        output: What kernels printed.
        diagnostics: Warnings of the compiler, and notes on the arguments of launches.
    """

    schema: Literal["cudarun/managed/1"]
    image: str
    places: list[VariableContextRecord]
    variables: list[ManagedVariableRecord]
    output: str
    diagnostics: list[DiagnosticRecord]
