"""Parts of the tree that the parser makes of a text."""

from cudarun.ptx.parser import parse
from cudarun.ptx.tree import Register

HEADER = ".version 8.7\n.target sm_90\n.address_size 64\n"


def module(text):
    return parse(HEADER + text)


def variables(text):
    return module(text).variables


def variable(text):
    (only,) = variables(text)
    return only


def statements(body):
    (function,) = module(f".entry k()\n{{\n{body}\n}}").functions
    return function.body


def statement(body):
    (only,) = statements(body)
    return only


def operands(body):
    """The operands of the last statement."""
    return statements(body)[-1].operands


def reg(name):
    return Register(name)
