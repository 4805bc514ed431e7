"""Check that workers that each made the program run the same: short texts about program, code, partition, versions."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from types import CodeType
from typing import Any

from reactorlib.elaboration.records import Elaborated
from reactorlib.schedule.partition import Partition
from reactorlib.worker.canonical_form import canonical

VERSIONED = ("reactorlib", "numpy", "torch")  # whose values travel

Fingerprint = dict[str, str]  # aspect: what this worker has


def versions() -> Fingerprint:
    """The versions of Python and of the imported packages that values depend on."""
    found = {"the version of Python": platform.python_version()}
    for name in VERSIONED:
        if name in sys.modules:
            found[f"the version of {name}"] = str(getattr(sys.modules[name], "__version__", "unknown"))
    return found


def parameters(program: Elaborated) -> Fingerprint:
    """The parameters of a program."""
    shown = ", ".join(f"{name}={_shown(value)}" for name, value in program.parameters.items())
    return {"the parameters of the program": shown}


def fingerprint(program: Elaborated, placed: Partition) -> Fingerprint:
    """Aspects that must be equal on all workers, in the order in which a difference is best reported."""
    reactions = program.reactions
    found = {
        "the program": program.cls.__qualname__,
        "the reactors": _digest([instance.path for instance in program.instances]),
        "the reactions": _digest([(r.path, r.triggers, r.reads, r.writes, r.deadline, r.mode) for r in reactions]),
        "the connections": _digest([program.triggers, program.cell_of, program.forwards, program.order]),
    }
    for declaration in dict.fromkeys(reaction.declaration for reaction in reactions):
        for function in (declaration.body, declaration.handler):
            code = getattr(function, "__code__", None)
            if code is not None:
                found[f"the code of {code.co_qualname}"] = _digest(_code(code))
    return found | {"the partition": _digest(placed.of_node)}


def difference(found: Sequence[Fingerprint], names: Sequence[str]) -> str | None:
    """The first difference between workers of these names, in words. None if all are equal."""
    first = found[0]
    for name, other in zip(names, found, strict=True):
        for aspect in {**first, **other}:
            mine, its = first.get(aspect, "nothing"), other.get(aspect, "nothing")
            if mine != its:
                kind = names[0].partition(" ")[0]  # rank or worker
                return f"the {kind}s do not run the same: {aspect} is {mine} on {names[0]}, {its} on {name}"
    return None


def _shown(value: object) -> str:
    try:
        form = canonical(value)
    except Exception:  # noqa: BLE001  # the user's classes; their code is compared all the same
        return type(value).__qualname__
    # Its form names its class, or the class of its stand-in.
    return f"a value of form {blake2b(form, digest_size=4).hexdigest()}" if len(form) > 40 else repr(value)


def _digest(parts: Iterable[Any]) -> str:
    return blake2b("\n".join(map(repr, parts)).encode("utf-8", "replace"), digest_size=4).hexdigest()


def _code(code: CodeType) -> Iterator[Any]:
    """The behaviour of a function, whatever its file is."""
    yield from (code.co_code.hex(), code.co_names, code.co_varnames)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant
