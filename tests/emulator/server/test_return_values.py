"""Machine code after a call: whether the program looks at the result."""

from __future__ import annotations

import pytest

from cudarun.emulator.server import return_values
from cudarun.emulator.server.return_values import ignores_result

USED = {
    "test %eax, %eax": "85c0 7505",
    "mov %eax, -4(%rbp)": "8945fc",
    "mov %eax, %ebx": "89c3",
    "cmp $2, %eax": "83f802",
    "mov %eax, %edi; call": "89c7 e800000000",
    "ret": "c3",
    "leave; ret": "c9c3",
    "add $8, %rsp; ret": "4883c408 c3",
    "an unknown instruction": "0f05",
    "cut off": "48",
    "xor %ecx, %ecx; test %eax, %eax": "31c9 85c0",
    "jne": "7505",
    "jmp back": "ebff 31c0",
    "movw $7, 4(%rsp); test %eax, %eax; xor %eax, %eax": "66c74424040700 85c0 31c0",
}
IGNORED = {
    "xor %eax, %eax": "31c0",
    "mov $0, %eax": "b800000000",
    "mov -8(%rbp), %rax": "488b45f8",
    "lea -16(%rbp), %rax": "488d45f0",
    "lea 4(%rsp), %rdi; call": "488d7c2404 e800000000",
    "mov %rbx, %rdi; call": "4889df e800000000",
    "mov $5, %edi; call *8(%rip)": "bf05000000 ff1508000000",
    "nop; mov 8(%rsp), %rax": "90 488b442408",
    "jmp over two bytes; xor %eax, %eax": "eb02 ffff 31c0",
    "xor %ecx, 8(%rsp); xor %eax, %eax": "314c2408 31c0",
    "movl $7, 4(%rsp); call": "c744240407000000 e800000000",
}


@pytest.mark.parametrize("code", USED.values(), ids=USED)
def test_a_result_that_may_be_used(code: str) -> None:
    assert not ignores_result(bytes.fromhex(code))


@pytest.mark.skipif(not return_values.IS_X86, reason="only code of x86-64 is decoded")
@pytest.mark.parametrize("code", IGNORED.values(), ids=IGNORED)
def test_a_result_that_is_ignored(code: str) -> None:
    assert ignores_result(bytes.fromhex(code))


def test_code_of_another_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    code = bytes.fromhex("31c0c3")  # xor eax, eax; ret
    assert ignores_result(code) == return_values.IS_X86
    monkeypatch.setattr(return_values, "IS_X86", False)
    assert not ignores_result(code)
