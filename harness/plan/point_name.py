"""The name of a point: its workload, and each parameter that is not at its default, in the order of the task's fields.

`gym_sampling/actors=8,env=busy:2ms,rounds=20` is one. A workload at its defaults has its own name, such as `ppo`. A
name follows from the point and the defaults, and not from what else a run holds.

The rounds and the seed are part of it. They decide what a backend must have computed, of which the first rounds are
verified. So points that differ in nothing else are two, with two digests.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from workloads import outside
from workloads.catalogue import WORKLOADS, make_task, workload_of
from workloads.parameter import Parameter, ParameterError, parameters_of, unknown


def point_name(workload: str, parameters: str) -> str:
    """The name of the point with these parameters, as JSON. It lists them all where the workload is not there."""
    return _named(workload, parameters, workload in WORKLOADS or workload in outside.PLACES)


@lru_cache(maxsize=4096)
def _named(workload: str, parameters: str, _is_there: bool) -> str:
    listed = ",".join(f"{name}={_text(value)}" for name, value in not_default(workload, json.loads(parameters)).items())
    return f"{workload}/{listed}" if listed else workload


def not_default(workload: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that are not the workload's defaults, in the order of its fields."""
    declared: Mapping[str, Parameter] = {}
    with suppress(ParameterError, ImportError):  # a package of its task may be absent where it was not measured
        declared = parameters_of(workload_of(workload).task_class())
    ordered = sorted(values, key=[*declared, *values].index)
    return {name: values[name] for name in ordered if name not in declared or values[name] != declared[name].default}


def _text(value: object) -> str:
    """A value as `--set` reads it."""
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    return str(value).lower() if isinstance(value, bool) else str(value)


def named_task(name: str) -> tuple[str, Any]:
    """The workload and the task of a name, which may begin with the path of a workload from outside.

    Defaults may be listed, in any order. Raises UsageError.
    """
    workload, _, listed = name.partition("/")
    try:
        if workload not in WORKLOADS and workload not in outside.PLACES:
            path, *rest = re.split(r"/(?=\w+=|$)", name, maxsplit=1)
            place = str(Path(path).resolve()) if Path(path).is_dir() else path  # a slash marks a path
            workload, listed = outside.entered(place), "".join(rest)
        declared, values = parameters_of(workload_of(workload).task_class()), dict[str, Any]()
        for pair in re.split(r",(?=\w+=)", listed) if listed else ():
            parameter, equals, text = pair.partition("=")
            if not equals or parameter in values:
                raise ParameterError(f"expected {workload}/PARAMETER=VALUE,... with each parameter once")
            if parameter not in declared:
                raise ParameterError(unknown("parameter", parameter, declared, limit=40))
            values[parameter] = declared[parameter].parse(text)
        return workload, make_task(workload, values)
    except (ParameterError, ImportError) as error:
        raise UsageError(f"--point {name}: {error}") from None
