"""The files: the same bytes each time, valid, self-contained, and readable on light and dark pages."""

import os
import re
import shlex
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from reactorlib import Input, Reactor, elaborate, reaction
from reactorlib.cli import main
from reactorlib.elaboration.elaborate import examine
from reactorlib.view.diagram import WRITERS, diagram_of
from reactorlib.view.diagram.html import fragment_text
from reactorlib.view.diagram.model import Box, Diagram, Edge, PortSymbol, Symbol
from reactorlib.view.diagram.style import DARK, LIGHT
from tests.reactorlib.diagram.programs import PROGRAMS, HubAndWorkers
from tests.reactorlib.scripts import ROOT, printed

GALLERY = ROOT / "docs" / "diagrams"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'a <b> & "c" $d$ \\e {f} %g \x07 ]]> --> #h'


def diagram(name, **overlays):
    program, faults = examine(PROGRAMS[name])
    return diagram_of(program, faults=faults, **overlays)


def hostile():
    symbol = Symbol("s" + HOSTILE, "reaction", HOSTILE, (HOSTILE,), "1", HOSTILE)
    box = Box("b" + HOSTILE, "reactor", HOSTILE, HOSTILE, inputs=(PortSymbol("p" + HOSTILE, HOSTILE, HOSTILE),),
              symbols=(symbol,), edges=(Edge("trigger", ("p" + HOSTILE,), (symbol.id,), HOSTILE),))  # fmt: skip
    return Diagram(box, 1, 1, (HOSTILE,))


def test_bytes_do_not_depend_on_the_process():
    code = (
        "import sys; from tests.reactorlib.diagram.test_formats import diagram, WRITERS\n"
        "for name in ('Modal', 'Nested', 'Tangle', 'AllToOthers'):\n"
        "    for unfold in (False, True):\n"
        "        for write in WRITERS.values():\n"
        "            sys.stdout.write(write(diagram(name, unfold=unfold)))\n"
    )
    environments = [os.environ | {"PYTHONHASHSEED": seed} for seed in ("1", "2")]
    runs = [printed("-c", code, env=environment) for environment in environments]
    assert runs[0] == runs[1]
    assert len(runs[0]) > 100_000


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_svg_is_xml_with_a_title_and_every_role_has_its_style(name):
    tree = ET.fromstring(WRITERS["svg"](diagram(name)))
    assert tree.tag == f"{SVG}svg"
    assert tree.findtext(f"{SVG}title", "").startswith("Dataflow of ")
    style = tree.findtext(f"{SVG}style", "")
    used = {element.get("class") for element in tree.iter() if element is not tree} - {None}
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    assert all(f".{role} {{" in light and f".{role} {{" in dark for role in used)


def test_words_of_any_kind_survive_in_an_svg():
    tree = ET.fromstring(WRITERS["svg"](hostile()))
    shown = {"".join(element.itertext()) for element in tree.iter(f"{SVG}text")}
    assert HOSTILE.replace("\x07", "\N{REPLACEMENT CHARACTER}") in shown


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, two):
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=["light", "dark"])
def test_words_stand_out_from_all_surfaces(look):
    """WCAG 2 asks for a contrast of 4.5 for text and 3 for lines."""
    surfaces = [style.fill for role, style in look.items() if style.fill and style.line]
    assert [s for s in surfaces if contrast(look["text"].fill, s) < 7] == []
    assert [s for s in surfaces if contrast(look["quiet"].fill, s) < 4.5] == []
    boxes = [look[role].fill for role in ("surface", "box", "box-odd", "mode")]
    lines = ("connection", "delayed", "physical", "trigger", "use", "effect", "transition", "cyclic")
    assert [(role, s) for role in lines for s in boxes if contrast(look[role].line, s) < 3] == []
    assert [s for s in boxes if contrast(look["label"].fill, s) < 4.5] == []


class Page(HTMLParser):
    """Keeps the text and the addresses of a page, and checks that its tags are closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.text = [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs): ...

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_a_page_is_whole_and_needs_no_network():
    page = Page(WRITERS["html"](diagram("DirectCycle")))
    assert page.addresses == []
    assert "causality cycle" in page.text
    assert "on a causality cycle" in page.text
    assert Page(WRITERS["html"](hostile())).text.count(HOSTILE.replace("\x07", "")) == 0


def test_a_program_shows_itself_in_a_notebook():
    shown = elaborate(HubAndWorkers)._repr_html_()
    assert shown == fragment_text(diagram_of(elaborate(HubAndWorkers)))
    Page(shown)
    assert "workers[4]" in shown


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", [*PROGRAMS, "hostile"])
def test_graphviz_draws_the_dot(name):
    text = WRITERS["dot"](hostile() if name == "hostile" else diagram(name))
    done = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", PROGRAMS)
def test_braces_and_quotes_of_a_dot_are_balanced(name):
    text = re.sub(r'"(?:[^"\\]|\\.)*"', "", WRITERS["dot"](diagram(name)))
    assert '"' not in text
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_mermaid_file_declares_what_it_links(name):
    lines = [line.strip() for line in WRITERS["mmd"](diagram(name)).splitlines()]
    assert lines[0] == "flowchart LR"
    assert sum(line.startswith("subgraph ") for line in lines) == lines.count("end")
    declared = {match[1] for line in lines if (match := re.match(r"(n\d+)[>(\[]", line))}
    links = [match for line in lines if (match := re.match(r'(n\d+) (?:-->|---|-\.->)(?:\|"[^"]*"\|)? (n\d+)$', line))]
    assert {end for match in links for end in match.groups()} <= declared
    styled = [int(line.split()[1]) for line in lines if line.startswith("linkStyle")]
    assert all(number < len(links) for number in styled)
    assert bool(styled) == (name in ("DirectCycle", "CycleByOrder", "RingOfPorts"))


def test_a_mermaid_file_escapes_what_means_something_to_it():
    text = WRITERS["mmd"](hostile())
    assert all(line.count('"') in (0, 2) for line in text.splitlines() if "fault" not in line)


def pages():
    return "\n".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").rglob("*.md")))


# The packages that an example imports, where there are any.
NEEDED = {"examples/guide/values.py": ("numpy",), "examples/guide/vector.py": ("gymnasium",)}


def gallery_commands():
    found = re.findall(r"^python -m reactorlib (graph .* -o docs/diagrams/.*)$", pages(), re.MULTILINE)
    return sorted(set(found))


@pytest.mark.parametrize("command", gallery_commands())
def test_the_gallery_is_what_its_commands_draw(command, tmp_path, monkeypatch, capsys):
    *arguments, target = shlex.split(command)
    for needed in NEEDED.get(arguments[1].partition(":")[0], ()):
        pytest.importorskip(needed)
    monkeypatch.chdir(ROOT)
    code = main([*arguments, str(tmp_path / "drawn.svg")])
    assert code == (1 if "cycle" in target else 0), capsys.readouterr().err
    assert (tmp_path / "drawn.svg").read_bytes() == (ROOT / target).read_bytes()


def test_the_pages_show_every_picture_that_they_draw():
    shown = set(re.findall(r"\]\((?:[./]*diagrams/)?(\w+\.svg)\)", pages()))
    assert shown == {path.name for path in GALLERY.glob("*.svg")}
    assert shown == {Path(shlex.split(command)[-1]).name for command in gallery_commands()}


def test_documentation_of_a_program_is_shown_under_the_pointer():
    class Documented(Reactor):
        """What it is for.

        And more.
        """

        inp = Input()

        @reaction(inp)
        def hear(self, inp):
            """What it does."""

    text = WRITERS["svg"](diagram_of(elaborate(Documented)))
    assert "<title>Documented: What it is for.</title>" in text
    assert "<title>reaction 1 hear: What it does.</title>" in text
