"""Names and types of kernel parameters, from the declarations in CUDA source.

PTX has neither the names of parameters nor, of ``extern "C"`` kernels, their C++ types. The
compiler has accepted the source when it is scanned here, so declarations are found by their form.
A kernel whose declaration is not understood, or has several that disagree, keeps the types of its
PTX.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from cudarun.arguments.parameter_match import PtxType, expected_type
from cudarun.arguments.types import NAMED, PointerType, ScalarType
from cudarun.base.records import dataclass
from cudarun.images.demangler import base_name
from cudarun.images.facts import ImageFacts, KernelFacts
from cudarun.images.parameters import Parameter
from cudarun.session.compile.source_texts import plain_text

_LONGEST_LIST = 1 << 16  # characters between the parentheses of a declaration
_MOST_TOKENS = 256  # between __global__ and the kernel's name, and of a type

_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_UNDEFINE = re.compile(r"[ \t]*#[ \t]*undef[ \t]+(?P<name>\w+).*", re.DOTALL)
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?P<list>\()?(?P<body>.*)", re.DOTALL)
_ALIAS = re.compile(
    r"\btypedef\s+(?P<old>[\w:\s*]{1,200}?)(?:\s+|(?<=\*))(?P<name>\w+)\s*;"
    r"|\busing\s+(?P<new>\w+)\s*=\s*(?P<of>[\w:\s*]{1,200}?)\s*;"
)
_ALIAS_TEMPLATE = re.compile(r"\btemplate\s*<[^;{}]{0,500}>\s*using\s+(\w+)")
_OWN_TYPE = re.compile(r"\b(?:struct|union|class|enum|typename)\s+(?:class\s+|struct\s+)?(\w+)")
_TOKEN = re.compile(r"\w+|::|\.\.\.|\[\[.*?\]\]|[^\w\s]", re.DOTALL)
_OF_STD = re.compile(r"(?<![\w:])(?:::)?(?:cuda::)?std::(\w+)")
_BODY_OR_END = re.compile(r"[{;]")
_ARGUMENTS = re.compile(r"[^;{}()]{0,500}?>(?=\s*\()")
_PARENTHESIS = re.compile(r"[()]")
_PLAIN_BODY = re.compile(r"[\w:\s*]*")

_CLASS_KEYS = ("struct", "class", "union", "enum", "typename")
_IGNORED = frozenset(("__restrict__", "__restrict", "restrict", "__grid_constant__", *_CLASS_KEYS))
_QUALIFIERS = frozenset(("const", "volatile"))
_WORDS_OF_TYPES = frozenset(
    (
        *("void", "bool", "char", "short", "int", "long", "__int128"),
        *("float", "double", "signed", "unsigned"),
    )
)
_AFTER_PARAMETERS = frozenset(("noexcept", "requires", "try"))
_SURE_CLOSERS = frozenset(")]}")
_CLOSED_BY = {"(": ")", "[": "]", "{": "}", "<": ">"}


@dataclass(frozen=True, slots=True)
class DeclaredParameter:
    """A parameter as declared; ``None`` for a part that is missing or not understood."""

    type: str | None
    name: str | None


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration of a kernel in the source."""

    kernel: str
    parameters: tuple[DeclaredParameter, ...]
    is_definition: bool


class _NotUnderstood(Exception):
    """A declaration that is not of the expected form."""


def with_declarations(
    facts: ImageFacts, texts: Sequence[str], defines: Iterable[str] = ()
) -> ImageFacts:
    """Return the facts of compiled source with the names and types that the source declares.

    Args:
        facts: The facts of the PTX.
        texts: The source and its headers.
        defines: Macros from the command line, ``NAME`` or ``NAME=VALUE``.
    """
    found: defaultdict[str, list[Declaration]] = defaultdict(list)
    for declaration in declarations(texts, defines):
        found[declaration.kernel].append(declaration)
    kernels = (_declared(kernel, found[base_name(kernel.demangled)]) for kernel in facts.kernels)
    return replace(facts, kernels=tuple(kernels))


def declarations(texts: Sequence[str], defines: Iterable[str] = ()) -> list[Declaration]:
    """Return the declarations of kernels that are understood, in the order of the texts."""
    plain = [plain_text(text) for text in texts]
    names = _Names(plain, defines)
    found: list[Declaration] = []
    for text in plain:
        bare = _DIRECTIVE.sub(" ", text)
        for match in re.finditer(rf"\b(?:{'|'.join(names.specifiers)})\b", bare):
            with suppress(_NotUnderstood):
                found.append(_declaration(bare, match.end(), names))
    return found


class _Names:
    """The macros and types that the texts define."""

    def __init__(self, texts: Sequence[str], defines: Iterable[str]) -> None:
        bodies: defaultdict[str, set[str | None]] = defaultdict(set)
        self.specifiers = {"__global__"}  # ``__global__`` and the macros that contain it
        for text in texts:
            for directive in _DIRECTIVE.finditer(text):
                if macro := _DEFINE.fullmatch(directive.group()):
                    is_simple = not macro["list"] and _PLAIN_BODY.fullmatch(macro["body"])
                    bodies[macro["name"]].add(macro["body"].strip() if is_simple else None)
                    if "__global__" in macro["body"] and not macro["list"]:
                        self.specifiers.add(macro["name"])
                elif undefined := _UNDEFINE.fullmatch(directive.group()):
                    bodies[undefined["name"]].add(None)
        for define in defines:  # a definition in the source is for when it is not given
            name, equals, body = define.partition("=")
            bodies[name] = {body if equals else "1"}
        self.macros = frozenset(bodies)
        # The types that the texts declare.
        self.own_types = {name for text in texts for name in _OWN_TYPE.findall(text)}
        for text in texts:
            for alias in _ALIAS.finditer(text):
                name, meaning = alias["name"] or alias["new"], alias["old"] or alias["of"]
                if meaning.split()[-1:] != [name]:  # typedef struct S S;
                    # A parameter of some template may have the same name.
                    bodies[name].add(None if name in self.own_types else " ".join(meaning.split()))
            for name in _ALIAS_TEMPLATE.findall(text):
                bodies[name].add(None)
        # The tokens of each macro and alias; ``None`` for one with several meanings.
        self.meanings: dict[str, list[str] | None] = {}
        for name, several in bodies.items():
            only = next(iter(several)) if len(several) == 1 else None
            self.meanings[name] = None if only is None else _TOKEN.findall(only)

    def expand(self, tokens: Iterable[str], within: frozenset[str] = frozenset()) -> Iterator[str]:
        """Yield the tokens with macros and aliases replaced by their meanings.

        Raises:
            _NotUnderstood: A name has several meanings, takes arguments, or is an alias that is a
                part of a qualified name.
        """
        before = ""
        for token in tokens:
            is_alias = before in self.meanings and before not in self.macros
            if token in ("::", "<") and is_alias and before not in within:
                raise _NotUnderstood(before)
            if token not in self.meanings or token in within:
                yield token
            else:
                meaning = self.meanings[token]
                if meaning is None or (before == "::" and token not in self.macros):
                    raise _NotUnderstood(token)
                yield from self.expand(meaning, within | {token})
            before = token


# --- declarations --------------------------------------------------------------------------------


def _declaration(text: str, position: int, names: _Names) -> Declaration:
    """Parse what follows ``__global__``: ``void __launch_bounds__(256) name(…) {``."""
    previous = ""
    is_of_template = False
    for _ in range(_MOST_TOKENS):
        match = _TOKEN.search(text, position)
        if match is None or match.group() in names.specifiers:
            break
        token = match.group()
        position = match.end()
        if token == "<" and (arguments := _ARGUMENTS.match(text, position)):
            position = arguments.end()  # of a specialization, or of an instantiation
            is_of_template = True
            continue
        if token in (";", "{", "}", "=", "<"):
            break
        if token != "(":
            previous = token
            continue
        inside, position = _balanced(text, position)
        if not previous.isidentifier():
            break
        following = _TOKEN.search(text, position)
        after = following.group() if following else ""
        is_last = not after.isidentifier() or after in _AFTER_PARAMETERS or after.startswith("__")
        if previous in names.macros or not is_last or (previous.startswith("__") and after != "{"):
            continue  # the arguments of an attribute
        parameters = tuple(_parameter(each, names) for each in _split(inside))
        if parameters == (DeclaredParameter("void", None),):
            parameters = ()
        end = _BODY_OR_END.search(text, position)  # a body may follow ``noexcept``
        is_definition = end is not None and end.group() != ";"
        if is_of_template and not is_definition:
            break  # an instantiation repeats what is declared elsewhere
        return Declaration(previous, parameters, is_definition)
    raise _NotUnderstood(previous)


def _balanced(text: str, position: int) -> tuple[str, int]:
    """Return the text up to the parenthesis that closes, and the position behind it."""
    depth = 1
    for match in _PARENTHESIS.finditer(text, position, position + _LONGEST_LIST):
        depth += 1 if match.group() == "(" else -1
        if depth == 0:
            return text[position : match.start()], match.end()
    raise _NotUnderstood(text[position : position + 20])


def _split(parameters: str) -> Iterator[list[str]]:
    """Yield the tokens of each parameter, without its default value."""
    tokens: list[str] = []
    closers: list[str] = []
    in_default = False
    for token in _TOKEN.findall(parameters):
        if token == "," and not closers:
            yield tokens
            tokens, in_default = [], False
            continue
        if token in _CLOSED_BY and not (in_default and token == "<"):
            closers.append(_CLOSED_BY[token])
        elif token in _SURE_CLOSERS:
            while closers and closers.pop() != token:  # a "<" that was no bracket
                pass
        elif closers and token == closers[-1]:
            closers.pop()
        in_default = in_default or (token == "=" and not closers)
        if not in_default:
            tokens.append(token)
    if tokens:
        yield tokens


def _parameter(tokens: Sequence[str], names: _Names) -> DeclaredParameter:
    """Return the type and the name of a parameter.

    Raises:
        _NotUnderstood: It is a function pointer, a pack, or made by a macro.
    """
    kept = [each for each in tokens if each not in _IGNORED and not each.startswith("[[")]
    dimensions = kept.index("[") if "[" in kept else len(kept)
    kept, is_array = kept[:dimensions], dimensions < len(kept)
    if "(" in kept or "..." in kept:
        raise _NotUnderstood(" ".join(tokens))
    name = None
    *others, last = kept or [""]
    is_word = last.isidentifier() and last not in _WORDS_OF_TYPES | _QUALIFIERS
    # Whether it is the parameter's name and not part of its type.
    if is_word and others[-1:] != ["::"] and any(each not in _QUALIFIERS for each in others):
        name = kept.pop()
        if name in names.macros:
            raise _NotUnderstood(name)
    if is_array:
        kept.append("*")
    return DeclaredParameter(_type(kept, names), name)


def _type(tokens: Sequence[str], names: _Names) -> str | None:
    """Return a type as text; ``None`` where a name of CUDA's types means another type here."""
    try:
        words = [*islice(names.expand(tokens), _MOST_TOKENS)]
    except _NotUnderstood:
        return None
    if len(words) == _MOST_TOKENS:
        return None
    words = [word for word in words if word not in _IGNORED]
    if names.own_types.intersection(words).intersection(NAMED):
        return None
    text = re.sub(r" ?(::|<|>) ?", r"\1", " ".join(words))
    text = text.replace(" *", "*").replace(" &", "&").replace(" ,", ",")
    return _OF_STD.sub(lambda found: found[1] if found[1] in NAMED else found[0], text) or None


# --- kernels -------------------------------------------------------------------------------------


def _declared(kernel: KernelFacts, found: Sequence[Declaration]) -> KernelFacts:
    """Return a kernel with the names and types on which its declarations agree."""
    own = kernel.parameters
    is_c = kernel.demangled == kernel.name
    fitting = [each for each in found if len(each.parameters) == len(own)]
    if not is_c:  # some can be those of overloads
        fitting = [each for each in fitting if _fits(each, own, _same)]
    fitting = [each for each in fitting if each.is_definition] or fitting
    if is_c:  # of several, for instance of #if, the PTX may contradict some
        fitting = [each for each in fitting if _fits(each, own, _is_possible)] or fitting
    if not fitting:
        return kernel
    parameters = []
    for index, parameter in enumerate(kernel.parameters):
        names = {each.parameters[index].name for each in fitting}
        types = {each.parameters[index].type for each in fitting}
        parameter = replace(parameter, name=names.pop() if len(names) == 1 else None)
        declared = types.pop() if len(types) == 1 else None
        if is_c and declared is not None and _is_of(declared, parameter):
            parameter = replace(parameter, type=declared)
        parameters.append(parameter)
    return replace(kernel, parameters=tuple(parameters))


def _fits(
    declaration: Declaration,
    parameters: Sequence[Parameter],
    fits: Callable[[str | None, Parameter], bool],
) -> bool:
    pairs = zip(declaration.parameters, parameters, strict=True)
    return all(fits(declared.type, parameter) for declared, parameter in pairs)


def _is_possible(declared: str | None, parameter: Parameter) -> bool:
    """Return whether a type does not contradict the PTX."""
    return expected_type(declared) is None or _is_of(declared or "", parameter)


def _same(declared: str | None, parameter: Parameter) -> bool:
    """Return whether a type is the same as the mangled one, or one of them is unknown."""
    one, other = expected_type(declared), expected_type(parameter.type)
    if isinstance(one, PointerType) and isinstance(other, PointerType):
        first, second = NAMED.get(one.pointee), NAMED.get(other.pointee)
        return first is None or second is None or first == second
    return one is None or other is None or one == other


def _is_of(declared: str, parameter: Parameter) -> bool:
    """Return whether a parameter with the size and type in PTX can have the declared type."""
    ptx = expected_type(parameter.type)
    match expected_type(declared):
        case None:  # a class, or an enumeration, of which PTX tells more
            return not isinstance(ptx, PtxType)
        case PointerType():
            return parameter.size == 8 and not (isinstance(ptx, PtxType) and ptx.letter == "f")
        case ScalarType() as scalar if isinstance(ptx, PtxType) and ptx.letter != "b":
            return scalar.size == parameter.size and (ptx.letter == "f") == scalar.is_float
        case expected:
            return expected.size == parameter.size
