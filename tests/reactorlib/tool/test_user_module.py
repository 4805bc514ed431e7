"""A module of the user is complete for every thread, finds no arguments of the tool, and fails in one line."""

import sys
import threading

import pytest

from reactorlib.tool import user_module

WAITS = "import gate\ngate.began.set()\nassert gate.go.wait(30)\nvalue = 3\n"
GATE = "import threading\nbegan, go = threading.Event(), threading.Event()\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_a_thread_that_asks_while_the_module_runs_gets_it_complete(folder):
    (folder / "gate.py").write_text(GATE)
    (folder / "waits.py").write_text(WAITS)
    import gate

    found = []

    def ask():
        found.append(getattr(user_module.module("of_a_file", folder / "waits.py"), "value", "incomplete"))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    threads[0].start()
    assert gate.began.wait(30)
    for thread in threads[1:]:
        thread.start()
    threads[1].join(0.1)  # a thread that does not wait has ended
    gate.go.set()
    for thread in threads:
        thread.join(30)
    assert found == [3, 3, 3]


@pytest.mark.parametrize("name", ["script.py", "script"])
def test_a_module_that_parses_its_arguments_finds_none(folder, name, monkeypatch):
    (folder / "script.py").write_text("import sys\narguments = sys.argv[:]\n")
    monkeypatch.setattr(sys, "argv", ["tool", "--of-the-tool"])
    by_file = name.endswith(".py")
    found = user_module.module("script", folder / name if by_file else None)
    assert found.arguments == [str(folder / name) if by_file else name]
    assert sys.argv == ["tool", "--of-the-tool"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("ends.py", "x = 1\nimport sys\nsys.exit(0)\n",
         "ends.py ends the program when it is imported ({folder}/ends.py:3): put what only a script does under if"),
        ("asks.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('n')\np.parse_args()",
         "asks.py ends the program when it is imported ({folder}/asks.py:4): put "),
        ("package/inner.py", "from .other import X\n",
         "name the module instead of the file, package.inner, with PYTHONPATH={folder}"),
        ("alone.py", "from .other import X\n", "only a file of a package, a folder with an __init__.py, has relative"),
        ("lacks.py", "import nowhere_at_all\n", "lacks.py cannot be imported: ModuleNotFoundError: No "),
        ("breaks.py", "1 / 0\n", "imported: ZeroDivisionError: division by zero ({folder}/breaks.py:1)"),
    ],
)  # fmt: skip
def test_why_a_module_cannot_be_imported_is_one_line_with_a_remedy(folder, name, text, words):
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").touch()
    (folder / name).write_text(text)
    with pytest.raises((Exception, SystemExit)) as raised:
        user_module.module("fails", folder / name)
    told = user_module.failure(name, raised.value)
    assert words.format(folder=folder) in told
    assert "\n" not in told
    assert "fails" not in sys.modules


def test_a_file_that_is_missing_is_named(folder):
    with pytest.raises(FileNotFoundError) as raised:
        user_module.module("missing", folder / "missing.py")
    assert user_module.failure("missing.py", raised.value) == "no file missing.py"
