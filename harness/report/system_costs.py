"""The costs of each backend beside its speed: start-up, memory, processor time, slow rounds, and lines of code."""

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness import quantity
from harness.report.summary import LOOP, Cell, PointSummary, Summary, in_order
from harness.report.text_table import NOTHING, TextTable
from harness.stats.intervals import Estimate
from harness.stats.judgement import SLOWER, standing
from harness.stats.reference_ceiling import is_limit
from workloads.actors.system import SYSTEMS
from workloads.catalogue import BACKENDS, WORKLOADS

_COSTS = (
    "backend",
    "start-up",
    "memory",
    "CPU time, times the loop's",
    "99 % / 50 % of round times",
    "lines of its file",
)
# The programs of a workload that are read side by side.
_PROGRAMS = {"the loop": "on_serial", "reactors": "on_reactors", "actor systems": "on_actors", "Ray": "on_ray_paper"}


def tables(summary: Summary) -> Iterator[TextTable]:
    """The costs of each backend, from the least to the most at any point, and the lines of each workload's programs."""
    cells: dict[str, list[tuple[PointSummary, Cell]]] = {}
    for point in summary.points:
        for cell in point.cells:
            if cell.main and not is_limit(cell.backend):
                cells.setdefault(cell.backend, []).append((point, cell))
    rows = tuple((name, *_costs(cells[name]), _lines_of_system(name)) for name in in_order(cells))
    yield TextTable("Costs", _COSTS, rows)
    workloads = dict.fromkeys(point.workload for point in summary.points)
    programs = tuple((name, *(_lines_of_program(name, module) for module in _PROGRAMS.values())) for name in workloads)
    yield TextTable("Lines of the programs", ("workload", *_PROGRAMS), programs)


def _costs(found: Iterable[tuple[PointSummary, Cell]]) -> Iterator[str]:
    """A cost per column, from the point where it is least to that where it is most."""
    cells = list(found)
    for name in ("startup_time", "peak_rss"):
        known = [(cell.metrics[name].value, point.units[name]) for point, cell in cells if name in cell.metrics]
        yield " to ".join(dict.fromkeys(quantity.show(*one) for one in (min(known), max(known)))) if known else NOTHING
    loops = [(cell, loop) for point, cell in cells if (loop := point.cell(LOOP))]
    used = [[one.metrics["cpu_time"].value for one in pair if "cpu_time" in one.metrics] for pair in loops]
    yield quantity.from_to((pair[0] / pair[1] for pair in used if len(pair) == 2), quantity.times) or NOTHING
    tails = (cell.tails for _, cell in cells if cell.tails)
    yield quantity.from_to((slow / half for half, _, slow in tails if half and slow), quantity.times) or NOTHING


def losses(summary: Summary) -> Iterator[str]:
    """For each rival a sentence on where reactors are slower, and one on where they may be; nothing for the others."""
    rivals: dict[str, list[tuple[PointSummary, Estimate]]] = {}
    for point in summary.points:
        own = point.cell(summary.ours)
        for name, ratio in own.speedups.items() if own else ():
            if point.cell(name) and not is_limit(name):  # and not the ceiling, which is none of the cells
                rivals.setdefault(name, []).append((point, ratio))
    for name in in_order(rivals):
        of_all = quantity.counted(len(rivals[name]), "point")
        behind = [(point, standing(ratio, summary.floor)) for point, ratio in rivals[name] if ratio.value < 1]
        for words, points in (
            (f"Reactors are slower than {name}", [point for point, stands in behind if stands == SLOWER]),
            (f"Reactors may be slower than {name}", [point for point, stands in behind if stands != SLOWER]),
        ):
            where = "; ".join(f"{point.workload} {point.label}" for point in points)
            yield from [f"{words} at {len(points)} of {of_all}: {where}."] if points else []


def _lines_of_system(backend: str) -> str:
    system = BACKENDS[backend].options.get("system") if backend in BACKENDS else None
    if system not in SYSTEMS:
        return NOTHING
    return str(_lines([_folder("workloads.actors") / f"{system.replace('-', '_')}.py"]))


def _lines_of_program(workload: str, program: str) -> str:
    if workload not in WORKLOADS:  # it is gone, or from outside
        return NOTHING
    known = WORKLOADS[workload]
    folders = [known.module, *([WORKLOADS[known.programs].module] if known.programs else [])]
    found = next(filter(None, (list(_folder(one).rglob(f"{program}.py")) for one in folders)), [])
    return str(_lines(found)) if found else NOTHING


def _folder(package: str) -> Path:
    (path,) = importlib.import_module(package).__path__
    return Path(path)


def _lines(files: Iterable[Path]) -> int:
    """The lines of these files that are not blank."""
    return sum(bool(line.strip()) for file in files for line in file.read_text(encoding="utf-8").splitlines())
