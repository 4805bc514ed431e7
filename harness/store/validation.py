"""JSON from a file, and whether it has the shape that its readers rely on. Knows no file."""

import json
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

# Of more digits than this some whole numbers have no float.
_DIGITS = 300
_WORDS = {str: "text", int: "an integer", float: "a number", bool: "true or false", NoneType: "null"}


def parse(text: bytes | str) -> Any:
    """What JSON text says. Raises ValueError for what is none, has no end in numbers, or can't be written again."""
    try:
        content = json.loads(text, parse_int=_integer)
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise ValueError("nested too deep") from None
    return content


def _integer(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def mismatch(content: object, kind: Any, where: str = "") -> str:
    """In a few words, where `content` isn't of a kind; empty where it is.

    `kind`: a type that JSON has, a list, a dict, a union of these, or a class with fields (a TypedDict, a dataclass).
    An integer is a number. Of a class, fields may be missing, and others be there.
    """
    if get_origin(kind) is UnionType:
        found = [mismatch(content, one, where) for one in get_args(kind)]
        return "" if "" in found else found[0]
    if kind in _WORDS:
        same = type(content) is kind or (kind is float and type(content) is int)
        return "" if same else _expected(_WORDS[kind], content, where)
    container = list if get_origin(kind) is list else dict
    if not isinstance(content, container):
        return _expected("an array" if container is list else "an object", content, where)
    return next(filter(None, (mismatch(*part) for part in _parts(content, kind, where))), "")


def _parts(content: Any, kind: Any, where: str) -> Iterator[tuple[object, Any, str]]:
    """What a container holds, each with its kind and its place."""
    if isinstance(content, list):
        (inner,) = get_args(kind)
        yield from ((value, inner, f"{where}[{index}]") for index, value in enumerate(content))
    else:
        fields = dict.fromkeys(content, get_args(kind)[1]) if get_origin(kind) is dict else get_type_hints(kind)
        yield from ((content[name], fields[name], f"{where}.{name}".strip(".")) for name in fields if name in content)


def _expected(word: str, content: object, where: str) -> str:
    got = _WORDS.get(type(content), "an array" if isinstance(content, list) else "an object")
    return f"{where}{': ' if where else ''}expected {word}, got {got}"
