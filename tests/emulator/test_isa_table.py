"""The list of instructions by module, which says what is imported to decode one."""

import pytest

from cudarun.emulator.isa import table


@pytest.mark.parametrize("module", table.module_forms())
def test_the_list_has_the_instructions_of_a_module(module: str) -> None:
    listed = dict.fromkeys(table._INSTRUCTIONS[module], 0)
    for form in table.module_forms()[module]:
        kinds = (form.classes.get(word, {word}) for word, optional in form.words if not optional)
        always = {word for words in kinds if len(words) == 1 for word in words}
        [name] = [
            name
            for name in listed
            if name.split(".")[0] == form.opcode and always.issuperset(name.split(".")[1:])
        ]
        listed[name] += 1
    assert 0 not in listed.values(), listed


def test_the_rows_of_an_opcode_are_in_the_order_of_the_modules() -> None:
    names = [next(n for n, rows in table.module_forms().items() if row in rows)
             for row in table.forms("add")]  # fmt: skip
    later = ["later_integer", "later_floating", "mixed_precision"]
    assert list(dict.fromkeys(names)) == ["integer", "floating", "half", *later]
