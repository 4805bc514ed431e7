"""Which names of a module its code may change, read from the source: each worker process has a copy of such state.

Also whether code only reads an input. Where the source leaves a doubt, the answer is that a name may be changed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

FIXED = (int, float, complex, str, bytes, tuple, range, frozenset, type(None), type, ModuleType, FunctionType,
         BuiltinFunctionType)  # fmt: skip
_PLAIN = (list, dict, set, bytearray)
_CHANGING = {name for kind in _PLAIN for name in vars(kind)} - {*dir(tuple), *dir(frozenset), *dir(bytes)}
_CHANGING -= {"get", "keys", "values", "items"}


def changed_by_functions(trees: Iterable[ast.stmt], names: Mapping[str, Any]) -> set[str]:
    """The names that functions change. The statements around the functions run once, before the program."""
    nodes = (node for tree in trees for node in ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {name for function in functions for name in changed_names([function], names)}


def changed_names(trees: Iterable[ast.stmt], names: Mapping[str, Any]) -> set[str]:
    """The names, of those of a module, whose objects this code may change; `self.name` for attributes."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    told = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    local = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    seen = {name: value for name, value in names.items() if name in told or name not in local}
    touched = {name for node in nodes for name in _touched(node, seen)}
    return told | {name for name in touched if name in seen and not hasattr(builtins, name)}


def is_only_read(port: str, tree: ast.AST, several: bool = True) -> bool:
    """Whether code asks a port for its value and presence only, or those of its channels if it is `several`."""
    reads: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=asked, attr="value" | "is_present" | "width", ctx=ast.Load()):
                reads.add(asked.value if isinstance(asked, ast.Subscript) else asked)
            case ast.Call(func=ast.Name(id="len"), args=[asked]):
                reads.add(asked)
            case ast.For(target=item, iter=asked) | ast.comprehension(target=item, iter=asked) if several:
                match asked, item:
                    case ast.Call(func=ast.Name(id="enumerate"), args=[asked]), ast.Tuple(elts=[_, item]):
                        pass
                if isinstance(item, ast.Name) and is_only_read(item.id, tree, several=False):
                    reads.add(asked)
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return all(name in reads for name in names if name.id == port)


def _touched(node: ast.AST, names: Mapping[str, Any]) -> Iterator[str]:
    """The names that one node may change: by assignment to a part, by a method, by a function that gets the object."""
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield _root(node.value)
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute):
        root = _root(node.func.value)
        value = names.get(root)
        if not isinstance(value, FIXED) and (not isinstance(value, _PLAIN) or node.func.attr in _CHANGING):
            yield root
    if isinstance(names.get(_root(node.func)), FunctionType | type):
        for given in (*node.args, *(keyword.value for keyword in node.keywords)):
            if not isinstance(names.get(_root(given)), FIXED):
                yield _root(given)


def _root(node: ast.expr) -> str:
    """The name at the beginning of `name.part[index]`, with `self` that of its attribute."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return f"self.{node.attr}"
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
