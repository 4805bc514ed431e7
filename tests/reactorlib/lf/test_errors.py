"""A fault of a file is reported with its line, the line's text and the right form. Several are reported at once."""

import re
import traceback

import pytest

from reactorlib import ElaborationError, ReactionError, elaborate, run
from reactorlib.lf import load
from tests.reactorlib.lf.test_fuzz import faults_of

NOT_HERE = "mutations are not supported, and watchdogs exist in Lingua Franca's C target only"
MEMBER = "a declaration such as input, state or reaction, a connection or '}'"
# In the grammar: line 2 holds the fault, the text behind ^ is marked.
SYNTAX = {
    "reaction(startup {= =}": ("expected ')', got code", "{="),
    "input [2 x": ("expected ']', got 'x'", "x"),
    "input [] x": (
        "expected a width (one that follows from the connections is not supported), got ']'", "]"
    ),
    "timer t(1 sec, 2 sec, 3 sec)": ("a timer has an offset and a period, and no more", None),
    "reation(startup) {= =}": (f"expected {MEMBER} (did you mean 'reaction'?), got 'reation'", "reation"),
    "x = Foo()": ("expected 'new', got 'Foo'", "Foo"),
    "x = new Foo(a)": ("expected '=' and the value, got ')'", ")"),
    "a.b c.d": ("expected '->' or '~>', got 'c'", "c"),
    "state x = ": ("expected a value, got ','", None),
    "state x = 1e999 s": ("a number that is too large", "s"),
    "state x = -y": ("expected a number, got 'y'", "y"),
    "logical action a(0, 0, drop)": ("expected the policy, in quotation marks, got 'drop'", "drop"),
    "state x: = 3": ("expected a type, got '='", "="),
    "method m {= =}": ("expected '(', got code", "{="),
    "watchdog w(1 s) {= =}": (NOT_HERE, "watchdog"),
    "mutation(startup) {= =}": (NOT_HERE, "mutation"),
    "mode M { mode N {} }": ("'mode' cannot stand in a mode", "mode N"),
    "state x = 3 $": ("a character that means nothing here: '$'", "$"),
    'state x = "abc': ("a text whose closing quotation mark is missing", '"'),
    'state x = "\\N{nonesuch}"': ("a text that Python cannot read", '"'),
    "reaction(startup) {= pass": ("a body that begins with {= and does not end with =}", "{="),
    "mutable output x": ("expected 'input', got 'output'", "output"),
    "reaction(startup) {= =} deadline(1 s) deadline(2 s)": ("a reaction has one deadline", "deadline(2"),
    "reaction(startup) {= =} deadline(1 s, 2 s)": ("a deadline has one time", None),
    "/* state": ("a comment that begins with /* and does not end with */", "/*"),
}  # fmt: skip


@pytest.mark.parametrize("line", SYNTAX)
def test_a_syntax_error_shows_line_column_and_what_was_expected(line):
    message, marked = SYNTAX[line]
    faults = faults_of(f"target Python\nmain reactor {{\n  {line}\n  , state after = 1\n}}\n")
    [told] = [fault for fault in faults if message in fault]
    first, shown, mark = told.splitlines()
    place = re.fullmatch(r"Main\.lf:(\d+):(\d+): (.*)", first)
    assert place is not None
    assert place[3] == message
    if marked is not None:
        assert place[1] == "3"
        assert shown == f"      {line}"
        assert shown[mark.index("^") :].startswith(marked)
        assert int(place[2]) == mark.index("^") - 3


FILES = {
    "": "expected 'target', got the end of the file",
    "target": "expected the name of the target, such as Python, got the end of the file",
    "target Python { timeout 3 }": "expected ':', got '3'",
    "target Python { timeout: }": "expected a value, got '}'",
    "target Python reactor { }": "expected the name of the reactor, got '{'",
    "target Python import from 'x'": "expected 'from', got \"'x'\"",
    "target Python import A as P, B as P from 'x.lf'": "a name that is imported twice",
    "target Python import A from x": "expected the file to import from, in quotation marks, or a package's",
    "target Python mian reactor {}": "expected import, preamble or reactor (did you mean 'main'?), got 'mian'",
    "target Python main reactor {": "expected '}', got the end of the file",
    "target Python main reactor (3) {}": "expected the name of a parameter, got '3'",
}


@pytest.mark.parametrize("text", FILES)
def test_a_file_that_is_none(text):
    assert FILES[text] in faults_of(text)[0]


def test_several_syntax_errors_are_told_at_once():
    text = """target Python
reactor A {
  input [x
  state y = 3
  timer t(
  mode M { input z reaction }
  output o
}
reactor B( {
  input i
}
main reactor {
  a = new A(
}"""
    assert [fault.split(":")[1] for fault in faults_of(text)] == ["4", "6", "9", "14"]


def test_faults_of_meaning_are_told_at_once_with_their_lines(faults):
    told = faults("""
    reactor Child(width = 1) {
      input[width] inp
      output out
      timer t(0, perid)
    }
    main reactor {
      a = new Chidl()
      b = new Child(witdh = 3)
      b.out -> b.imp
      c.out -> b.inp
      b.out -> d.out
      state b = 1
      reaction(startup) -> reset(Nowhere) {= =}
      reaction(startup) {= x = ( =}
      reaction(startup) {= break =}
      method f() {= =}
      method m(class) {= =}
      state e = {= 1 + =}
      state f = g
      input if
    }""")
    expected = [
        "1. Main.lf:5: 'perid' is no parameter here",
        "2. Main.lf:8: no reactor 'Chidl' is defined in this file or imported: did you mean 'Child'?",
        "3. Main.lf:9: Child has no parameter 'witdh': did you mean 'width'?",
        "4. Main.lf:13: Main.b is declared in line 9 already",
        "5. Main.lf:18: this is no Python: an argument has a name that Python does not take",
        "6. Main.lf:19: this is no Python: invalid syntax",
        "7. Main.lf:20: 'g' is no parameter here",
        "8. Main.lf:21: 'if' is a word of Python's and cannot be a name",
        "9. Main.lf:10: Child has no port 'imp': did you mean 'inp'?",
        "10. Main.lf:11: Main contains no reactor 'c'",
        "11. Main.lf:12: Main contains no reactor 'd'",
        "12. Main.lf:14: Main has no mode 'Nowhere'",
        "13. Main.lf:15:28: this is no Python: '(' was never closed",
        "14. Main.lf:16:24: this is no Python: 'break' outside loop",
    ]
    found = [line.strip() for line in told.splitlines() if "Main.lf" in line]
    assert [line[: len(start)] for line, start in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("reactor A {}", "Main.lf has no main reactor: name one of A"),
        ("reactor A { b = new B() }\nreactor B { a = new A() }", "Main.lf:3: A contains itself"),
        ("main reactor A extends A {}", "Main.lf:2: A extends itself"),
        ("preamble {=\n  import math\n  1 / 0\n=} main reactor {}",
         "Main.lf:4: the preamble raised ZeroDivisionError: division by zero\n    1 / 0"),
        ("main reactor { preamble {=\n  oops\n=} }",
         "Main.lf:3: the preamble raised NameError: name 'oops' is not defined"),
        ("main reactor { state x =\n {= oops =} }", "Main.x: NameError: name 'oops' is not defined (Main.lf:2)"),
        ("reactor A(n = {= oops =}) {}\nmain reactor {\na = new A() }",
         "Main.A.n: NameError: name 'oops' is not defined (Main.lf:2)"),
        ("main reactor {\n  input[0] x\n}", "Main.x: width must be a positive integer, got 0 (Main.lf:3)"),
        ("main reactor {\n  timer t(5)\n}", "Main.t: offset must have a unit: 5 * NSEC if 5 is in nanoseconds"),
        ("main reactor {\n  reaction(tick) {= =}\n}",
         "Main.reaction_1: trigger 'tick' names no element of Main (Main.lf:3)"),
        ("reactor A {}\nmain reactor { a = new A()\n reaction(a.x) {= =} }", "'a.x' names no element of A (Main.lf:4)"),
        ("reactor A {}\nmain reactor {\n a = new[0] A() }", "width must be a positive integer, got 0 (Main.lf:4)"),
        ("reactor A { input i output o } main reactor { a = new A() b = new A()\n\n\n b.o -> a.i\n b.o -> a.i }",
         "two sources: Main.b.o (connected at Main.lf:5) and Main.b.o (connected at Main.lf:6)"),
        ("main reactor { } reactor Main { }", "Main.lf:2: Main is defined in line 2 already"),
        ("main reactor A { }\nmain reactor B { }", "Main.lf:3: the main reactor is defined in line 2 already"),
        ("reactor A { output o input i }\nmain reactor { a = new A() a.o -> a.i after 5 }",
         "Main.lf:3: after 5: a time has a unit"),
        ("main reactor { state t = {= lf.time.logical() =} }", "Main.t: RunError: "),
        ("main reactor {\n reaction(startup) {=\n   if x == 1\n     pass\n =}\n}",
         "Main.lf:4:13: this is no Python: expected ':'\n       if x == 1\n                ^"),
        ("main reactor(lambda = 1) { }", "Main.lf:2: 'lambda' is a word of Python's and cannot be a name"),
        ("reactor A(n = 1,\n self = 2) { } main reactor { }", "Main.lf:3: 'self' is a word of Python's"),
        ("main reactor(n = 1,\n n = 2) { }", "Main.lf:3: Main.n is declared in line 2 already"),
        ("main reactor {\n method m() {= =}\n method m() {= =}\n}", "Main.lf:4: Main.m() is declared in line 3"),
        ("main reactor {\n reaction(startup) {= yield 1 =}\n}", "Main.lf:3: a reaction with yield is a generator"),
        ("main reactor {\n reaction(startup) {= =} deadline(1 s) {=\n yield =}\n}", "Main.lf:3: a reaction with yield"),
        ("preamble {=\n  raise SystemExit(3)\n=} main reactor { }", "Main.lf:3: the preamble raised SystemExit: 3"),
        ("main reactor { state x = {= sys.exit(4) =} }", "Main.x: SystemExit: 4 (Main.lf:2)"),
    ],
)  # fmt: skip
def test_a_fault_names_its_line(faults, text, told):
    assert told in faults(text)


@pytest.mark.parametrize(
    "written",
    ["workers: -1", "workers: true", "workers: 2 ms", "timeout: 5", "timeout: -1 s", "timeout: false", "fast: maybe",
     "keepalive: 1", "single-threaded: 1", "threading: no"],
)  # fmt: skip
def test_a_target_property_that_cannot_have_its_value(faults, written):
    told = faults(f"target Python {{ {written} }} main reactor {{ }}")
    assert told.startswith(f"Main.lf:1: the target property {written.partition(':')[0]} cannot be ")


def test_a_word_of_python_is_refused_for_every_target(write):
    with pytest.raises(ElaborationError, match="'lambda' is a word of Python's"):
        load(write("target C main reactor(lambda: int = 1) { }"), structure=True)


def test_a_cycle_is_told_with_lines_of_the_file(faults):
    told = faults("""
    reactor Echo {
      input i
      output o
      reaction(i) -> o {= o.set(1) =}
    }
    main reactor {
      a = new Echo()
      b = new Echo()
      a.o -> b.i
      b.o -> a.i
    }""")
    assert told.startswith(
        "causality cycle:\n    Main.a.reaction_1 (Main.lf:5)\n      sets Main.a.o, connected at Main.lf:10"
    )
    assert "connected at Main.lf:11" in told


def test_what_a_body_raises_is_traced_into_the_file(write):
    path = write("""
    main reactor {
      state text = "no number"
      method parse(text) {=
        return int(text)
      =}
      reaction(startup) {=
        for _ in range(1):
          value = self.parse(
            self.text)
      =}
    }""")
    with pytest.raises(ReactionError) as caught:
        run(load(path))
    assert str(caught.value).startswith("Main.reaction_1 raised ValueError at tag (0 ns, 0): invalid literal")
    ours = [
        frame for frame in traceback.extract_tb(caught.value.__cause__.__traceback__) if frame.filename == str(path)
    ]
    assert [(frame.name, frame.lineno, frame.line) for frame in ours] == [
        ("reaction_1", 9, "value = self.parse("),
        ("parse", 5, "return int(text)"),
    ]
    assert [(frame.colno, frame.end_lineno, frame.end_colno) for frame in ours] == [(14, 10, 18), (11, 5, 20)]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("{= 1 / 0 =}", 4),
        ("{=\n\n    # comment\n      1 / 0\n  =}", 7),
        ("{= x = 0\n      1 / x\n  =}", 5),
        ("{= if True:\n      1 / 0\n  =}", 5),
        ("{=\n      text = '''\n  less\n'''\n      1 / 0\n  =}", 8),
        ("{= # first:\n\n\tx = 1\n\t1 / 0 =}", 7),
        ("{=\n    if True:\n      pass\n    # less\n  # even less\n    1 / 0\n=}", 9),
    ],
)
def test_a_bodys_lines_are_those_of_the_file(write, body, line):
    path = write(f"main reactor {{\n\n  reaction(startup) {body}\n}}")
    with pytest.raises(ReactionError) as caught:
        run(load(path))
    last = traceback.extract_tb(caught.value.__cause__.__traceback__)[-1]
    assert (last.filename, last.lineno) == (str(path), line)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ElaborationError, match="cannot be read"):
        load(tmp_path / "None.lf")


def test_parameters_that_are_not_there(write):
    main = load(write("main reactor(n = 1, m) {}"))
    with pytest.raises(ElaborationError, match="unexpected keyword argument 'k'"):
        elaborate(main, k=1, m=2)
    with pytest.raises(ElaborationError, match="missing a required"):
        elaborate(main)
    assert elaborate(main, m=2).instances[0].parameters == {"n": 1, "m": 2}


def test_a_body_may_stand_in_the_first_line(tmp_path, capfd):
    path = tmp_path / "Main.lf"
    path.write_text(
        "target Python reactor G { input x output y reaction(x) -> y {= x.set(2); y.set(x.value) =} } main reactor { "
        "g = new G() reaction(startup) -> g.x {= g.x.set(1) =} reaction(g.y) {= print(g_y.value) =} }"
    )
    run(load(path))
    assert capfd.readouterr().out == "2\n"
