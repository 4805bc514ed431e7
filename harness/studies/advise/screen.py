"""An answer on the screen, made from the content of `advise.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from harness import quantity

_BAR = 24  # characters

Answered = Mapping[str, Any]  # as of `Answer.as_json`


def show(answered: Answered, console: Console) -> None:
    """Print an answer and the command that measures it in full."""
    console.print(
        f"{answered['env']} x {answered['actors']} on {answered['cores']} cores: a step takes "
        f"{quantity.show(answered['step_ns']['mean'], 'ns')}, its message has "
        f"{quantity.show(answered['message_bytes'], 'bytes')}\n"
    )
    for sentence in answered["sentences"]:
        console.print(sentence)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "", "a round", "speed", "95 %", "not stepping", ""):
        table.add_column(heading, justify="left" if heading == "" else "right", no_wrap=True)
    for cost, bar in zip(answered["backends"], _bars(answered), strict=True):
        mark, speed = "->" if cost["backend"] == answered["best"] else "", cost["speed"]
        table.add_row(
            mark, cost["backend"], quantity.show(cost["round_ns"], "ns"), f"{speed['value']:.2f}x",
            f"[{speed['low']:.2f}, {speed['high']:.2f}]", f"{100 * cost['share_not_stepping']:.0f} %", bar,
        )  # fmt: skip
    console.print()
    console.print(table)
    starts = answered["starts"]
    console.print(
        "speed: of the plain loop's; bars: of a round, # stepping on all cores, - what comes on top; 95 %: over "
        + (f"{starts} starts" if starts > 1 else "turns of one start, so without what differs from start to start")
    )
    console.print(f"\nTo measure it in full:\n  {answered['proof']}", soft_wrap=True)


def _bars(answered: Answered) -> Iterator[str]:
    longest = max(one["round_ns"] for one in answered["backends"])
    for one in answered["backends"]:
        whole = max(1, round(_BAR * one["round_ns"] / longest))
        solid = min(whole, round(_BAR * answered["ideal_round_ns"] / longest))
        yield "#" * solid + "-" * (whole - solid)
