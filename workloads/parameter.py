"""Parameters of a workload: declared as dataclass fields, checked in one place, read from text.

Owns the declaration, the checks of type and range, `ParameterError` and `UnsupportedError`. Never knows a particular
workload.
"""

import dataclasses
import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Value = int | float | str | bool
T = TypeVar("T")

_KEY = "parameter"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(k|M|G|T)(i?)B", re.IGNORECASE)


class ParameterError(ValueError):
    """A parameter that cannot be used. The text is one line: the mistake, and a correct value."""


class UnsupportedError(RuntimeError):
    """A backend that cannot run here, or not with these parameters, for no fault of anybody's.

    The text is one line: the reason.
    """

    @classmethod
    def missing(cls, package: str, extra: str = "peers") -> "UnsupportedError":
        """A package of an extra is not installed."""
        return cls(f"{package} is not installed; it comes with the extra `{extra}`: pip install -e '.[{extra}]'")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a workload: its name, type, default and range (inclusive)."""

    name: str
    kind: type
    default: Value
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Value, ...] | None = None

    def check(self, value: object) -> Value:
        """`value` as this parameter's type (an int is accepted for a float); raises ParameterError."""
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind:
            raise ParameterError(
                f"{self.name}: expected {_TYPE_WORDS[self.kind]}, got {type(value).__name__} {value!r}"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise ParameterError(f"{self.name}: expected a finite number, got {value}")
        if self.choices is not None and value not in self.choices:
            raise ParameterError(unknown(self.name, value, self.choices))
        if self.minimum is not None and value < self.minimum:  # type: ignore[operator]
            raise ParameterError(f"{self.name}: must be at least {self.minimum}, got {value}")
        if self.maximum is not None and value > self.maximum:  # type: ignore[operator]
            raise ParameterError(f"{self.name}: must be at most {self.maximum}, got {value}")
        return value  # type: ignore[return-value]

    def parse(self, text: str) -> Value:
        """The value that `text` writes, checked; a size may carry a unit (`10MiB`). Raises ParameterError."""
        return self.check(self._read(text.strip()))

    def _read(self, text: str) -> Value:
        if self.kind is str:
            return text
        if self.kind is bool:
            if text.lower() in ("true", "false"):
                return text.lower() == "true"
            raise ParameterError(f"{self.name}: expected true or false, got {text!r}")
        size = _SIZE.fullmatch(text)
        if size is not None and self.name.endswith("_bytes"):
            base = 1024 if size[3] else 1000
            return int(float(size[1]) * base ** (1 + "kmgt".index(size[2].lower())))
        try:
            return int(text) if self.kind is int else float(text)
        except ValueError:
            raise ParameterError(f"{self.name}: expected {_TYPE_WORDS[self.kind]}, got {text!r}") from None


_TYPE_WORDS = {int: "an integer", float: "a number", str: "text", bool: "true or false"}


def parameter(
    default: Any,
    help: str,  # noqa: A002 - the word that argparse and its readers use
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Iterable[Value] | None = None,
) -> Any:
    """A dataclass field that declares a parameter of a task; its type is the default's."""
    allowed = None if choices is None else tuple(choices)
    declared = Parameter("", type(default), default, help, minimum, maximum, allowed)
    return dataclasses.field(default=default, metadata={_KEY: declared})


def parameters_of(task: Any) -> dict[str, Parameter]:
    """The parameters of a task class (or task), by name, in the order of their declaration."""
    fields = dataclasses.fields(task)
    return {field.name: dataclasses.replace(field.metadata[_KEY], name=field.name) for field in fields}


def validate(task: Any) -> None:
    """Check every parameter of a task and store it in its declared type; raises ParameterError."""
    for name, declared in parameters_of(task).items():
        # A task is frozen; this is its construction, where an int given for a float becomes that float.
        object.__setattr__(task, name, declared.check(getattr(task, name)))


def build(task_class: type[T], values: Mapping[str, Any]) -> T:
    """A task from parameter values; raises ParameterError, also for a name that the task does not have."""
    known = parameters_of(task_class)
    for name in values:
        if name not in known:
            raise ParameterError(unknown("parameter", name, known))
    return task_class(**values)


def unknown(what: str, value: object, known: Iterable[object], limit: int = 12) -> str:
    """One line that `value` is no `what`, with the nearest known ones, or all when they are few."""
    names = [str(name) for name in known]
    near = difflib.get_close_matches(str(value), names, n=3, cutoff=0.6)
    if near:
        return f"{what}: unknown {value!r}; did you mean {' or '.join(near)}?"
    if len(names) <= limit:
        return f"{what}: unknown {value!r}; known: {', '.join(names)}"
    return f"{what}: unknown {value!r}; {len(names)} are known, such as {', '.join(names[:limit])}"
