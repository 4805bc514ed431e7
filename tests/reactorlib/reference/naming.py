"""Odd names for a program that was drawn under plain ones: what they stand for stays the same.

None of them is a mistake of its program. A class body may not use a name that it rebinds. Names that begin with two
underscores belong to Python.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tests.reactorlib.reference.choices import Choices, pick
from tests.reactorlib.reference.rule import Rule
from tests.reactorlib.reference.specification import ChildSpec, ClassSpec, ProgramSpec, times_name

# Short ones that make up one another, as paths make up the names of generated source: a.b, a[0].b, its rows, ...
STEMS = ["a", "b", "a_b", "a_0_b", "b_a", "a_1", "a_2", "b_2", "a_b_2", "b_0", "x", "x_1", "x_2", "_", "_1", "_0"]
ENDINGS = ["_", "_out", "_action", "_mode", "_late", "_delayed", "_rows", "_2", "_out_2"]
RUNTIMES = (
    ["schedule", "time", "soon", "later", "go", "collect", "finish", "now", "started", "due", "record", "clock", "of"]
    + ["deepcopy", "present", "any_present", "switch", "physical", "physical_connection", "arrive", "index", "react"]
    + ["condition", "cell", "context", "rows", "startup", "shutdown", "reset", "history", "may_be_present"]
    + [f"{what}_worker_{number}" for what in ("send_to", "wait_for") for number in range(3)]
    + ["value", "is_present", "set", "path", "bank", "set_", "main", "startup_", "shutdown_", "Main", "Reactor"]
    + ["Timer"]
    + ["cells", "encode", "decode", "whole", "some", "blame", "message", "pack", "c0", "c1", "v0", "v1", "data", "at"]
)
PYTHONS = (
    [f"{word}_" for word in ("if", "None", "def", "lambda", "class", "import")]
    + ["match", "case", "type", "print", "len", "list", "tuple", "int", "id", "any", "object", "str", "range", "map"]
    + ["exec", "compile", "globals", "locals", "tick", "hub", "answer", "hub_answer"]
)
UNICODE = ["größe", "μ", "μ_b", "порт", "名前", "x٣", "a·b", "ñ_1", "S", "K_", "_μ", "a_μ"]
SUFFIXED = [stem + ending for stem in ("a", "b", "a_b", "x") for ending in ENDINGS]
NAMES = [*STEMS, *SUFFIXED, *RUNTIMES, *PYTHONS, *UNICODE]
TIMES = ["d0", "d_", "due", "deepcopy", "decode", "drop", "data", "dμ", "d_rows", "d"]
NUMBERS = ["n", "n_", "number", "names", "now", "nμ", "node", "next"]
OURS = frozenset(("rl", "self", "perform", "Rule", "memory", "invocations", "super", "bank_index"))  # of every program


def rename(choices: Choices, program: ProgramSpec) -> ProgramSpec:
    """The same program under names of the lists above."""
    classes = _chosen(choices, [spec.name for spec in program.classes], set())
    inner: dict[str, dict[str, str]] = {}  # of each class, also inherited names
    done: list[ClassSpec] = []
    for spec in program.classes:
        known = dict(inner[spec.base]) if spec.base is not None else {}
        taken = {*known.values(), *(f"{name}_late" for name in known.values()), *classes.values()}
        for names, pool in ((_parameters(spec, True), TIMES), (_parameters(spec, False), NUMBERS)):
            known |= _chosen(choices, names, taken, pool)
        known |= _chosen(choices, _elements(spec), taken)
        inner[spec.name] = known
        done.append(_renamed(spec, classes, inner))
    return replace(program, classes=tuple(done))


def _chosen(choices: Choices, names: Iterable[str], taken: set[str], pool: list[str] = NAMES) -> dict[str, str]:
    """A new name for each, that nothing has: taken ones grow by them, and by the handlers that they may have."""
    found: dict[str, str] = {}
    for name in names:
        new = pick(choices, pool)
        while new in taken or new in OURS or f"{new}_late" in taken or keyword.iskeyword(new):
            new = f"x_{new}" if pool is NAMES else f"{new}_x"  # the first letter of a parameter says what it holds
        taken |= {new, f"{new}_late"}
        found[name] = new
    return found


def _parameters(spec: ClassSpec, times: bool) -> list[str]:
    return [name for name, _ in spec.parameters if times_name(name) == times]


def _elements(spec: ClassSpec) -> list[str]:
    named: tuple[Any, ...] = (*spec.ports, *spec.timers, *spec.actions, *spec.reactions, *spec.children)
    return [*spec.modes, *(each.name for each in named)]


def _renamed(spec: ClassSpec, classes: dict[str, str], inner: dict[str, dict[str, str]]) -> ClassSpec:
    """The class with its names replaced. Texts that are no name of the class or its children stay."""
    known = inner[spec.name]
    of_child = {child.name: inner[child.reactor] for child in spec.children}

    def new(old: Any) -> Any:
        if isinstance(old, str):
            child, dot, port = old.partition(".")
            return f"{known[child]}.{of_child[child][port]}" if dot else known.get(old, classes.get(old, old))
        if isinstance(old, ChildSpec):  # the first of each argument is a name of the child's class
            arguments = tuple((inner[old.reactor][parameter], new(value)) for parameter, value in old.arguments)
            return replace(parts_of(old), arguments=arguments)
        if isinstance(old, tuple):
            return tuple(map(new, old))
        return parts_of(old) if is_dataclass(old) and not isinstance(old, Rule) else old

    def parts_of(old: Any) -> Any:
        return replace(old, **{field.name: new(getattr(old, field.name)) for field in fields(old)})

    return replace(parts_of(spec), name=classes[spec.name])
