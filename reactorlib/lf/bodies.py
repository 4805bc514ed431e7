"""Python in a Lingua Franca file: bodies, preambles, expressions, compiled with the lines and columns they have there.

The text stays as in the file, with a line of ours before it. The code that Python makes of it is moved to its lines.
Owns no names: what a body sees is the module that it is given.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from traceback import walk_tb
from types import CodeType, FunctionType
from typing import Any

from reactorlib import Time
from reactorlib.errors import did_you_mean, words_of
from reactorlib.lf.syntax import Code, Expression, Literal, PortReference
from reactorlib.lf.tokens import fault

Names = dict[str, Any]
Function = Callable[..., Any]
Scope = Mapping[str, Any]
Value = Callable[[Scope], Any]
WIDTH_OF = "<widthof>"  # the name, in a scope, of the function for the width of a port
AROUND = "<around>"  # the name, in the scope of a bank's member, of the scope around the bank


class BodyError(Exception):
    """Python that is none, or that raises while it is loaded; the text is a whole fault."""


def function(name: str, arguments: Iterable[str], code: Code, names: Names, first: Collection[str] = ()) -> Function:
    """A method that takes `arguments`; the statements `first` come before its code. Raises BodyError."""
    text, indent = _block(code)
    if not indent:
        text, indent = "\n".join(f" {line}" for line in (text or "pass").split("\n")), " "
    opening = f"\n{indent}{'; '.join(first)}" if first else ""
    return _defined(name, ["self", *arguments], f"{opening}\n{text}", code, names, 2 if first else 1)


def execute(code: Code, names: Names, into: Names) -> None:
    """Run a preamble, whose names go `into` those of a module or a class. Raises BodyError."""
    compiled = _moved(_compiled(_preamble(code), code, 1), code, 1, "<preamble>")
    try:
        exec(compiled, names, into)
    except (Exception, SystemExit) as error:
        frames = walk_tb(error.__traceback__)
        lines = [code.line, *(line for frame, line in frames if frame.f_code.co_filename == code.path)]
        raise _error(code, lines[-1], f"the preamble raised {type(error).__name__}: {words_of(error)}") from error


def _error(code: Code, line: int, message: str, column: int | None = None) -> BodyError:
    return BodyError(fault(code.path, line, column, linecache.getline(code.path, line), message))


def statements(code: Code) -> list[ast.stmt]:
    """The statements of a preamble, a body or an expression, their lines counted from the line before its code."""
    try:
        body = ast.parse(_preamble(code)).body
    except SyntaxError:  # an expression may have lines that are no statements
        return ast.parse(f"(\n{code.text}\n)").body
    return body[0].body if isinstance(body[0], ast.If) and body[0].lineno == 1 else body


def _preamble(code: Code) -> str:
    """Statements after one line of ours."""
    text, indent = _block(code)
    return f"if True:\n{text or ' pass'}" if indent or not text else f"\n{text}"


def _block(code: Code) -> tuple[str, str]:
    """Statements as they stand in the file, and their indentation. Those on the line of `{=` join the others."""
    first, *rest = code.text.rstrip().split("\n")
    is_code = bool(first.strip()) and not first.lstrip().startswith("#")
    begins = next((line for line in rest if line.strip() and not line.lstrip().startswith("#")), "")
    if not begins:
        indent = " " * (code.column + len(first) - len(first.lstrip()))
        return (indent + first.strip(), indent) if is_code else ("", "")
    indent = begins[: len(begins) - len(begins.lstrip())]
    if is_code:
        opens = first.rstrip().endswith(":")
        first = (indent[:-1] if opens else indent) + first.strip()
    return "\n".join([first if is_code else "", *rest]), indent


def _defined(name: str, arguments: Iterable[str], text: str, code: Code, names: Names, ours: int) -> Function:
    """A function whose body is the text, which begins after this number of lines of ours."""
    compiled = _compiled(f"def {_WRAPPER}({', '.join(arguments)}):{text}", code, ours)
    if compiled.co_code != _ALONE:
        raise _error(code, code.line, "a line of this code is indented less than its first one, which ends it")
    [body] = [constant for constant in compiled.co_consts if isinstance(constant, CodeType)]
    return FunctionType(_moved(body, code, ours, name), names, name)


_WRAPPER = "__of_lingua_franca__"
_ALONE = compile(f"def {_WRAPPER}(): pass", "", "exec").co_code  # of a module that defines a function, and nothing else


def _compiled(text: str, code: Code, ours: int) -> CodeType:
    try:
        # Of a file that exists Python would read the line of an error, at another number.
        return compile(text, "<body>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        number, column = getattr(error, "lineno", None) or ours + 1, getattr(error, "offset", None)
        words = getattr(error, "msg", None) or words_of(error) or type(error).__name__
        last, line = code.line + code.text.count("\n"), number + code.line - 1 - ours
        if number == 1:
            words = "an argument has a name that Python does not take"
        column = None if column is None or number <= ours or line > last else column - 1
        raise _error(code, min(max(line, code.line), last), f"this is no Python: {words}", column) from error


def _moved(compiled: CodeType, code: Code, ours: int, name: str) -> CodeType:
    """The compiled code, at its lines of its file, with its function renamed."""
    constants = [_moved(one, code, ours, name) if isinstance(one, CodeType) else one for one in compiled.co_consts]
    return compiled.replace(
        co_filename=code.path,
        co_firstlineno=max(0, compiled.co_firstlineno + code.line - 1 - ours),
        co_consts=tuple(constants),
        co_name=name if compiled.co_name == _WRAPPER else compiled.co_name,
        co_qualname=compiled.co_qualname.replace(_WRAPPER, name, 1),
    )


def names_in(tree: Expression | None) -> frozenset[str]:
    """The names that an expression may refer to; of code, all its words."""
    if isinstance(tree, PortReference):
        return frozenset([tree.name])
    if isinstance(tree, Code):
        return frozenset(re.findall(r"\w+", tree.text))
    parts = () if tree is None or isinstance(tree, Literal) else tree.items
    return frozenset().union(*map(names_in, parts))


def value_of(tree: Expression, names: Collection[str], module: Names | None) -> Value:
    """The function of a scope, which holds `names`, that gives the value. Times are plain integers of nanoseconds.

    Without a `module`, as in a file for another target, code and texts mean nothing and are None. Raises BodyError.
    """
    if isinstance(tree, Literal):
        value = int(tree.value) if isinstance(tree.value, Time) else tree.value
        return lambda _: value
    if isinstance(tree, PortReference):
        if tree.name not in names:
            raise BodyError(f"{tree.where}: {tree.name!r} is no parameter here{did_you_mean(tree.name, names)}")
        # Of the reactor that the expression stands in: code alone sees the index of each member.
        return lambda scope: {**scope, **scope.get(AROUND, {})}[tree.name]
    if isinstance(tree, Code):
        if module is None:
            return lambda _: None
        used = names_in(tree)
        visible = [name for name in names if name in used]
        called = _defined("expression", visible, f" return (\n{' ' * tree.column}{tree.text}\n)", tree, module, 1)
        return lambda scope: called(**{name: scope[name] for name in visible})
    if tree.kind == "widthof":
        port: Any = tree.items[0]
        if "self" not in names:
            raise BodyError(f"{port.where}: widthof({port}) has a meaning in the width of a bank only")
        return lambda scope: scope[WIDTH_OF](port)
    parts = [value_of(part, names, module) for part in tree.items]
    braced: Any = list if module is None else set if parts else dict  # {} is what Python makes of it
    kind = {"(": tuple, "{": braced, "+": sum}.get(tree.kind, list)
    return lambda scope: kind(part(scope) for part in parts)


def as_time(value: Any) -> Any:
    """A number of nanoseconds as the kernel takes it. Code of another target is no time to wait for."""
    return Time(round(value or 0)) if value is None or isinstance(value, int | float) else value
