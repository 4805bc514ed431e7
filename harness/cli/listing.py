"""The output of `harness list`: workloads with their parameters, backends, presets. Runs nothing."""

import textwrap

from harness.plan.presets import PRESETS
from workloads.catalogue import BACKENDS, WORKLOADS
from workloads.parameter import Parameter, parameters_of

_TYPE_WORDS = {int: "integer", float: "number", str: "text", bool: "true or false"}
_NAME_WIDTH = 22
_SHOWN_CHOICES = 8
_IGNORED_BY_RUN = ("rounds", "warmup_rounds")  # it decides itself how many rounds a trial has


def as_text(width: int) -> str:
    """All of it, wrapped at the width."""
    lines = ["WORKLOADS and their parameters (--workload NAME, --set PARAMETER=VALUE,...)"]
    for name, workload in WORKLOADS.items():
        lines += ["", f"{name}: {workload.summary}"]
        for declared in parameters_of(workload.task_class()).values():
            if declared.name not in _IGNORED_BY_RUN:
                lines.append(_entry(f"  {declared.name}", _describe(declared), width))
    lines += ["", "BACKENDS (--backend NAME)", ""]
    for name, backend in BACKENDS.items():
        lines.append(_entry(f"  {name}", "; ".join(filter(None, (backend.summary, backend.note))), width))
    lines += ["", "PRESETS (--preset NAME)", ""]
    for name, preset in PRESETS.items():
        lines.append(_entry(f"  {name}", f"{preset.summary}; on {', '.join(preset.backends)}", width))
    return "\n".join(lines)


def _describe(declared: Parameter) -> str:
    """A parameter's meaning, the values it takes, and its default."""
    limits = {"at least": declared.minimum, "at most": declared.maximum}
    taken = [f"{words} {limit:g}" for words, limit in limits.items() if limit is not None]
    if declared.choices is not None:
        shown = [str(choice) for choice in declared.choices[:_SHOWN_CHOICES]]
        taken = [" | ".join(shown) + (" | ..." if len(declared.choices) > _SHOWN_CHOICES else "")]
    kind = _TYPE_WORDS[declared.kind]
    default = str(declared.default).lower() if declared.kind is bool else declared.default
    return f"{declared.help}; {', '.join([kind, *taken])}; default {default}"


def _entry(name: str, text: str, width: int) -> str:
    indent = " " * _NAME_WIDTH
    return textwrap.fill(f"{name:<{_NAME_WIDTH - 1}} {text}", max(width, 60), subsequent_indent=indent)
