"""What ``cudarun managed`` makes of a driver's refusals that the emulated device never gives."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from cuda.bindings.driver import CUresult

from cudarun.base.errors import CudarunError, DeviceFailed, RequestError
from cudarun.images.facts import VariableFacts
from cudarun.model.managed import ManagedVariable, Observation, ObservedValue, VariableContext
from cudarun.session.managed.worker import _Context, _resolve


def refusing(result: CUresult) -> Any:
    """A driver whose every call has this result."""
    return SimpleNamespace(
        CUresult=CUresult,
        attempt=lambda name, *arguments: (result, None, None),
        failure=lambda name, code: DeviceFailed(f"{name}: refused", cuda=(code.name, int(code))),
    )


def refused(result: CUresult, *, managed: bool) -> CudarunError:
    library: Any = SimpleNamespace(handle=1, image=SimpleNamespace(origin="a.cubin"))
    context = _Context(SimpleNamespace(label="0"), VariableContext("0", "primary"), 1)  # type: ignore[arg-type]
    with pytest.raises(CudarunError) as caught:
        _resolve(
            refusing(result), library, VariableFacts("v", "global", 4, managed=managed), context
        )
    return caught.value


def test_not_found_is_explained() -> None:
    error = refused(CUresult.CUDA_ERROR_NOT_FOUND, managed=True)
    assert isinstance(error, RequestError)
    assert str(error) == (
        "v: the driver did not find a managed variable of this name in a.cubin "
        "(CUDA_ERROR_NOT_FOUND, 500)"
    )
    assert error.hint is not None
    assert "--globals" in error.hint


def test_not_supported_is_explained() -> None:
    error = refused(CUresult.CUDA_ERROR_NOT_SUPPORTED, managed=True)
    assert error.exit_code == 5
    assert error.hint == (
        "device 0 does not support managed memory (CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY), which "
        "this image requires"
    )
    assert error.context == {"device": "0", "file": "a.cubin"}


def test_other_refusals_stay_the_drivers() -> None:
    error = refused(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS, managed=False)
    assert error.cuda == ("CUDA_ERROR_ILLEGAL_ADDRESS", 700)


# --- what is promised ----------------------------------------------------------------------------


def variable(
    *, managed: bool = True, addresses: tuple[int, ...] = (1, 1), host: int = 5
) -> ManagedVariable:
    observation = Observation(
        "initially", ObservedValue(str(host), host), (ObservedValue("5", 5), ObservedValue("5", 5))
    )
    return ManagedVariable("v", "v", managed, "u32", 4, addresses, (observation,))


def test_one_address_and_one_value_are_promised_of_managed_variables_alone() -> None:
    assert variable().passed
    assert not variable(addresses=(1, 2)).passed
    assert not variable(host=6).passed
    assert variable(managed=False, addresses=(1, 2)).passed
