"""A syntax tree back to PTX text, and trees without positions: for tests that go round and back."""

from __future__ import annotations

import dataclasses
from typing import Any

from cudarun.ptx import tree

NOWHERE = tree.Position(0, 0)


def without_positions(node: Any) -> Any:
    """The same tree with every position the same, so that only what is said counts."""
    if isinstance(node, tree.Position):
        return NOWHERE
    if isinstance(node, tuple):
        return tuple(map(without_positions, node))
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        values = {f.name: getattr(node, f.name) for f in dataclasses.fields(node)}
        return type(node)(**{name: without_positions(value) for name, value in values.items()})
    return node


def render(module: tree.Module) -> str:
    major, minor = module.version
    lines = [
        f".version {major}.{minor}",
        f".target {', '.join(module.targets)}",
        f".address_size {module.address_size}",
    ]
    lines += [f'.file {number} "{path}"' for number, path in module.files.items()]
    # Declarations first: a body may name any variable.
    lines += [f"{variable(v)};" for v in module.variables]
    lines += map(function, module.functions)
    lines += [f".alias {name}, {target};" for name, target in module.aliases.items()]
    return "\n".join(lines) + "\n"


def function(f: tree.Function) -> str:
    words = [f".{f.linkage}"] if f.linkage else []
    words.append(".entry" if f.is_entry else ".func")
    if f.results:
        words.append(declarations(f.results))
    words.append(f.name)
    if f.parameters:
        words.append(declarations(f.parameters))
    words += [f".{name} {', '.join(map(str, n))}" for name, n in f.directives.items()]
    return " ".join(words) + (";" if f.body is None else block(f.body))


def declarations(variables: tuple[tree.Variable, ...]) -> str:
    return "(" + ", ".join(map(variable, variables)) + ")"


def variable(v: tree.Variable) -> str:
    words = [f".{v.linkage}"] if v.linkage else []
    words.append(f".{v.space}")
    if v.attributes:
        words.append(f".attribute({', '.join('.' + word for word in v.attributes)})")
    if v.alignment is not None:
        words.append(f".align {v.alignment}")
    if v.vector > 1:
        words.append(f".v{v.vector}")
    words.append(f".{v.type}")
    if v.pointer is not None:
        words.append(".ptr " + " ".join(w if w.isdigit() else f".{w}" for w in v.pointer))
    name = v.name if v.count is None else f"{v.name}<{v.count}>"
    words.append(name + "".join(f"[{'' if n is None else n}]" for n in v.dimensions))
    if v.initial is not None:
        shape = (*v.dimensions, v.vector) if v.vector > 1 else v.dimensions
        flat = [initial(value) for value in v.initial]
        words.append(f"= {nested(flat, shape[1:]) if shape else flat[0]}")
    return " ".join(words)


def nested(flat: list[str], extents: tuple[int, ...]) -> str:
    """A flat initialiser in the braces that its shape wants."""
    for extent in reversed(extents):
        rows = [flat[i : i + extent] for i in range(0, len(flat), extent)]
        flat = ["{" + ", ".join(row) + "}" for row in rows]
    return "{" + ", ".join(flat) + "}"


def initial(value: tree.Integer | tree.Float | tree.SymbolValue) -> str:
    if not isinstance(value, tree.SymbolValue):
        return operand(value)
    text = f"generic({value.name})" if value.generic else value.name
    if value.offset:
        text += f" + {value.offset}"
    return text if value.mask is None else f"{value.mask:#x}({text})"


def block(statements: tuple[tree.Statement, ...]) -> str:
    return "\n{\n" + "\n".join(map(statement, statements)) + "\n}"


def statement(s: tree.Statement) -> str:
    match s:
        case tree.Instruction():
            return instruction(s)
        case tree.Label(name):
            return f"{name}:"
        case tree.LineMark(file, line, column, None):
            return f".loc {file} {line} {column}"
        case tree.LineMark(file, line, column, (of, at, column_there)):
            call = f"function_name f, inlined_at {of} {at} {column_there}"
            return f".loc {file} {line} {column}, {call}"
        case tree.Block(statements):
            return block(statements)
        case tree.Variable():
            return f"{variable(s)};"
        case tree.BranchTargets(name, kind, targets):
            return f"{name}: .{kind} {', '.join(targets)};"
        case tree.CallPrototype(name, results, parameters):
            head = declarations(results) if results else ""
            return f"{name}: .callprototype {head} _ {declarations(parameters)};"
    raise AssertionError(s)


def instruction(i: tree.Instruction) -> str:
    guard = f"@{operand(i.guard)} " if i.guard else ""
    if i.opcode != "call":
        return f"{guard}{i.name} {', '.join(map(operand, i.operands))};"
    results, callee, arguments, *rest = i.operands
    assert isinstance(results, tree.Vector)
    assert isinstance(arguments, tree.Vector)
    parts = [arguments_list(results)] if results.elements else []
    parts += [operand(callee), arguments_list(arguments), *map(operand, rest)]
    return f"{guard}{i.name} {', '.join(parts)};"


def arguments_list(v: tree.Vector) -> str:
    return "(" + ", ".join(map(operand, v.elements)) + ")"


def operand(o: tree.Operand) -> str:
    match o:
        case tree.Register(name) | tree.SymbolReference(name):
            return name
        case tree.Integer(value, unsigned):
            return f"{value}U" if unsigned else str(value)
        case tree.Float(bits, width):
            return f"0f{bits:08X}" if width == 32 else f"0d{bits:016X}"
        case tree.Address():
            return f"[{address(o)}]"
        case tree.TupleAddress(inner, rest):
            return f"[{', '.join([address(inner), *map(operand, rest)])}]"
        case tree.SymbolOffset(symbol, offset):
            return f"{symbol.name} + {offset}"
        case tree.Vector(elements):
            return "{" + ", ".join(map(operand, elements)) + "}"
        case tree.Pair(first, second):
            return f"{operand(first)}|{operand(second)}"
        case tree.Negated(inner):
            return f"!{operand(inner)}"
        case tree.RegisterOffset(register, offset):
            return f"{operand(register)}+{offset}"
        case tree.Minus(inner):
            return f"-{operand(inner)}"
        case tree.Sink():
            return "_"
    raise AssertionError(o)


def address(a: tree.Address) -> str:
    if a.base is None:
        return str(a.offset)
    return operand(a.base) + (f"+{a.offset}" if a.offset else "")
