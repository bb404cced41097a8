"""The look-alike has the names, parameters and tuples of ``cuda.bindings.driver``."""

import inspect
import re
import typing

import pytest
from cuda.bindings import driver as bindings

from cudarun.emulator import driver
from cudarun.emulator.api.calls import CALLS
from tools import generate_driver_calls

# Parameters that CUDA 12 and 13 name differently: these calls take both.
OF_TWO_VERSIONS = {
    "cuCtxCreate",
    "cuGraphAddDependencies",
    "cuGraphAddNode",
    "cuGraphRemoveDependencies",
    "cuMemAdvise",
    "cuMemPrefetchAsync",
    "cuStreamUpdateCaptureDependencies",
}
NEVER_FAIL = {"cuDriverGetVersion", "cuLogsCurrent"}
NAMES = {name for name in CALLS if hasattr(bindings, name)}  # some are newer than CUDA 12.9


def documented_parameters(name):
    """The parameter names in the signature that the bindings' docstring begins with."""
    signature = getattr(bindings, name).__doc__.split("\n")[0]
    inside = signature[signature.index("(") + 1 : signature.rindex(")")]
    parts = re.split(r",(?![^\[]*\])", inside) if inside else []
    return [re.split(r"\s|\*", part.split(":")[0].split("=")[0].strip())[-1] for part in parts]


def documented_outputs(name):
    """How many values the docstring's ``Returns`` section lists after the result."""
    section = getattr(bindings, name).__doc__.split("Returns\n")[1]
    section = re.split(r"\n\s*(?:See Also|Notes)\n", section)[0]
    return len(re.findall(r"^\s*\w+ : ", section, re.MULTILINE))


@pytest.mark.parametrize("name", sorted(NAMES - OF_TWO_VERSIONS))
def test_parameters(name):
    assert list(inspect.signature(CALLS[name]).parameters) == documented_parameters(name)


@pytest.mark.usefixtures("fresh_process")
@pytest.mark.parametrize("name", sorted(NAMES - NEVER_FAIL))
def test_a_failure_has_as_many_values_as_a_success(name):
    parameters = inspect.signature(CALLS[name]).parameters.values()
    arguments = [-1 for p in parameters if p.kind is not p.VAR_POSITIONAL]
    result, *values = CALLS[name](*arguments)
    assert int(result) != 0
    assert values == [None] * documented_outputs(name)


@pytest.mark.usefixtures("fresh_process")
@pytest.mark.parametrize("name", sorted(CALLS.keys() - NEVER_FAIL))
def test_a_call_returns_as_many_values_as_its_type_says(name):
    """The session's protocol has the values of calls from their types."""
    types = inspect.get_annotations(inspect.unwrap(CALLS[name]), eval_str=True)
    returned = types.pop("return")
    assert list(types) == list(inspect.signature(CALLS[name]).parameters)  # none is without
    values = typing.get_args(returned) if typing.get_origin(returned) is tuple else [returned]
    parameters = inspect.signature(CALLS[name]).parameters.values()
    _, *found = CALLS[name](*[-1 for p in parameters if p.kind is not p.VAR_POSITIONAL])
    assert len(found) == (0 if returned is None else len(values))


def test_types_and_constants_are_the_bindings():
    assert driver.CUresult is bindings.CUresult
    assert driver.CUdeviceptr is bindings.CUdeviceptr
    assert driver.CUDA_VERSION == bindings.CUDA_VERSION
    assert {"cuInit", "CUresult", "CUlaunchConfig"} <= set(dir(driver))


@pytest.mark.parametrize(
    "name", ["cuGraphAddBatchMemOpNode", "cuTexRefCreate", "cuMulticastCreate"]
)
def test_a_call_it_has_not_is_refused_by_name(name):
    with pytest.raises(driver.NotProvided, match=f"{name}: the emulated device does not provide"):
        getattr(driver, name)
    with pytest.raises(NotImplementedError, match=name):
        getattr(driver, name)
    assert not hasattr(driver, name)


@pytest.mark.parametrize("name", ["cuFooBar", "nonsense"])
def test_what_no_driver_has(name):
    with pytest.raises(AttributeError, match=f"cudarun.emulator.driver has no {name}") as caught:
        getattr(driver, name)
    assert not isinstance(caught.value, NotImplementedError)


def test_calls_are_documented():
    assert [name for name, call in CALLS.items() if not call.__doc__] == []


def test_the_document_lists_the_calls():
    text = generate_driver_calls.TARGET.read_text()
    assert text == generate_driver_calls.document(), "run python -m tools.generate_driver_calls"
