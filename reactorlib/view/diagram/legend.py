"""The legend: one small drawing for each sign, drawn as the diagrams draw it."""

from __future__ import annotations

from reactorlib.view.diagram.draw import scene_of_box, scene_of_symbol
from reactorlib.view.diagram.model import Box, Port, Symbol
from reactorlib.view.diagram.scene import Path, Scene

_LINES = {
    "connection": "connection, within the same tag",
    "delayed": "connection that takes time; after 0 is the next microstep",
    "physical": "physical connection: arrives by the wall clock",
    "trigger": "triggers a reaction",
    "use": "is read by a reaction, does not trigger it",
    "effect": "may be set or scheduled by a reaction",
    "transition": "switches to a mode",
    "cyclic": "on a causality cycle: the program cannot run",
}


def legend() -> list[tuple[Scene, str]]:
    """Each sign as a scene, with what it means."""
    reactor = Box("box", "reactor", "reactor", "Class", inputs=(Port("i", "in"),), outputs=(Port("o", "out[2]"),))
    return [
        (scene_of_box(reactor), "a reactor with its ports, one a multiport"),
        (scene_of_box(Box("box", "reactor", "bank[4]", "Class", width=4)), "a bank, its members folded into one box"),
        (scene_of_box(Box("box", "mode", "mode", initial=True)), "a mode, the initial one with a bold border"),
        (scene_of_symbol(Symbol("x", "reaction", "serve", (), "1")), "a reaction, numbered as ordered in its reactor"),
        (scene_of_symbol(Symbol("x", "startup", "startup")), "the start of the program, or its shutdown"),
        (scene_of_symbol(Symbol("x", "timer", "tick")), "a timer"),
        (scene_of_symbol(Symbol("x", "logical action", "act")), "a logical action"),
        (scene_of_symbol(Symbol("x", "physical action", "ext")), "a physical action"),
        *((_line(role), meaning) for role, meaning in _LINES.items()),
    ]


def _line(role: str) -> Scene:
    return Scene(56, 14, role, (Path((("M", ((3, 7),)), ("L", ((53, 7),))), role),))
