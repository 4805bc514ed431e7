"""Which state of a program all its reactors share: what preambles define and bodies change. Read from the source.

Lingua Franca runs reactions on threads of one process. Worker processes have copies of such state, so that a program
that changes it runs on threads. Where the source leaves a doubt, the answer is that state is shared.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from reactorlib.lf.bodies import statements
from reactorlib.lf.syntax import codes
from reactorlib.lf.translate import Program

_FIXED = (int, float, complex, str, bytes, range, frozenset, type(None), type, ModuleType, FunctionType,
          BuiltinFunctionType)  # fmt: skip
_PLAIN = (list, dict, set, bytearray)
_CHANGING = {name for kind in _PLAIN for name in vars(kind)} - {*dir(tuple), *dir(frozenset), *dir(bytes)}
_CHANGING -= {"get", "keys", "values", "items"}


def shared_state(program: Program) -> list[str]:
    """The names of what the preambles define and bodies may change."""
    names = program.names or {}
    translations = [made for made in program.translations.values() if made is not None]
    own = {f"self.{name}": value for made in translations for name, value in made.methods.items()}
    found: set[str] = set()
    for file in program.files.files.values():
        for preamble in file.preambles:
            found |= _of_functions(statements(preamble.code), names)
        for code in codes(file.reactors):
            found |= _changed(statements(code), {**names, **own})
    for module in _modules_of(program, names):
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        found |= {f"{module.__name__}.{name}" for name in _of_functions(tree.body, vars(module))}
    return sorted(found)


def _modules_of(program: Program, names: Mapping[str, Any]) -> Iterator[ModuleType]:
    """The modules that preambles import from the folders of the program's files."""
    folders = tuple(str(path.parent) for path in program.files.files)
    asked = {getattr(value, "__module__", None) or getattr(value, "__name__", None) for value in names.values()}
    for module in [module for name, module in sys.modules.items() if name in asked]:
        file = getattr(module, "__file__", None) or ""
        if file.endswith(".py") and file.startswith(folders):
            yield module


def _of_functions(trees: Iterable[ast.stmt], names: Mapping[str, Any]) -> set[str]:
    """What functions change: the statements around them run once, before the program."""
    nodes = (node for tree in trees for node in ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {name for function in functions for name in _changed([function], names)}


def _changed(trees: Iterable[ast.stmt], names: Mapping[str, Any]) -> set[str]:
    nodes = [node for tree in trees for node in ast.walk(tree)]
    told = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    local = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    seen = {name: value for name, value in names.items() if name in told or name not in local}
    touched = {name for node in nodes for name in _touched(node, seen)}
    return told | {name for name in touched if name in seen and not hasattr(builtins, name)}


def _touched(node: ast.AST, names: Mapping[str, Any]) -> Iterator[str]:
    """The names that one node may change: by assignment to a part, by a method, by a function that gets the object."""
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield _root(node.value)
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute):
        root = _root(node.func.value)
        value = names.get(root)
        if not isinstance(value, _FIXED) and (not isinstance(value, _PLAIN) or node.func.attr in _CHANGING):
            yield root
    if isinstance(names.get(_root(node.func)), FunctionType | type):
        for given in (*node.args, *(keyword.value for keyword in node.keywords)):
            if not isinstance(names.get(_root(given)), (*_FIXED, tuple)):
                yield _root(given)


def _root(node: ast.expr) -> str:
    """The name at the beginning of `name.part[index]`, with `self` that of its attribute."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return f"self.{node.attr}"
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
