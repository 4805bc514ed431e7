"""Which package may import which: harness -> workloads -> reactorlib, harness -> plots, nothing back."""

import ast
import re
import sys
from pathlib import Path

import pytest

import reactorlib

ROOT = Path(__file__).resolve().parent.parent
# The packages of the project that each one may import besides itself. Only the harness asks for figures.
ALLOWED = {
    "reactorlib": set(),
    "workloads": {"reactorlib"},
    "plots": {"harness"},  # as far as DRAWN allows
    "harness": {"workloads", "plots", "reactorlib"},
    "benchmarks": {"workloads", "harness", "reactorlib"},
}
# The packages and modules of the harness: each may import those before it.
HARNESS = (
    "errors",
    "grouping",
    "prediction",
    "plan",
    "store",
    "stats",
    "quantity",
    "measure",
    "report",
    "studies",
    "cli",
    "__main__",
)
# The values of a figure, and the spelling of its numbers.
DRAWN = ("harness.stats.intervals", "harness.quantity")
# Backends whose files a reader compares. Equal parts are written alike, and not shared.
MATCHED = ("on_serial", "on_reactors", "on_ray_paper", "on_actors")
# The runtime may meet values of these packages, made by the user's program or asked for by it.
OF_VALUES = {"numpy", "torch"}
# A front end to another library is there for those who have it: nothing else of the kernel imports it.
FRONT_ENDS = {"reactorlib/gymnasium/": {"gymnasium", "numpy", "cloudpickle", "stable_baselines3", "tianshou"}}
# A transport that is asked for by name brings its own.
OF_TRANSPORTS = {"reactorlib/mpi/transport.py": {"mpi4py"}, "reactorlib/mpi/ranks.py": {"mpi4py"}}


# The rooms of the kernel, and the modules at its top: each may import those before it, also inside functions and for
# annotations only. Further bounds: what a room may not know although it comes before.
ROOMS = ("tag", "errors", "cpus", "tool", "transport", "declaration", "elaboration", "schedule", "worker",
         "executors", "mpi", "view", "program", "execution", "runtime", "exploration", "session", "lf",
         "gymnasium", "cli", "__main__")  # fmt: skip
# The rooms of the front end to Gymnasium, in the same way. Other rooms import its exported names, and no module of it.
OF_GYMNASIUM = ("isolation", "saving", "vector", "contract", "evaluation", "pool")
# Front ends import the names that `reactorlib` exports. The exceptions are the record that a Program holds, the
# helpers of all packages, and the names in INSIDE, with the need for each. A name that is no longer imported has to go.
OF_PROGRAMS = {"reactorlib.elaboration.records", "reactorlib.declaration.instance"}
HELPERS = {"reactorlib.errors", "reactorlib.tag", "reactorlib.cpus", "reactorlib.tool", "reactorlib.exploration"}
INSIDE = {
    "lf": {
        "declaration.building.building",  # widths and defaults are evaluated before there is an instance
        "declaration.connect.Ports",  # the channels of any ports, in the order of Lingua Franca
        "worker.cells.Multiport",  # an input that a body has overwritten looks as before
        "schedule.partition.partition",  # inline, where nothing can run side by side
    },
    "gymnasium": {
        "worker.canonical_form.canonical",  # the digests of states, records and observations
        "transport.loan.loan_over",  # memory that is given back without losing a signal
        "transport.waiting.Spinner",  # waits of the same policy
        "executors.failure.Failure", "executors.failure.PortableFailure",  # an exception in a reply
        "executors.start_method.choose_start_method", "executors.start_method.forking_knowingly",
        "mpi.ranks.is_first", "mpi.ranks.serving",  # environments on ranks
    },
    "cli": {
        "elaboration.elaborate.examine",  # a program with faults
        "schedule.partition.partition",  # workers in a diagram
        "mpi.ranks.joined",  # a program that one rank cannot make
    },
    "view": set(),
}  # fmt: skip
ONLY = {"transport": {"errors", "cpus"}, "declaration": {"tag", "errors"}}


def modules(package):
    return sorted((ROOT / package).rglob("*.py"))


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(tree):
    """(name, line) of every module that a tree imports, also inside functions and by import_module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            yield from ((text, node.lineno) for text in constants(node.args[0]))


def constants(node):
    """The text that an import_module call begins with, as far as it is written there."""
    first = node.values[0] if isinstance(node, ast.JoinedStr) else node
    return [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []


def root(name):
    return name.partition(".")[0]


def places(package, forbidden):
    return [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in modules(package)
        for name, line in imports(parsed(path))
        if forbidden(name)
    ]


@pytest.mark.parametrize("package", ALLOWED)
def test_packages_import_in_one_direction(package):
    others = ALLOWED.keys() - ALLOWED[package] - {package}
    assert modules(package)
    assert places(package, lambda name: root(name) in others) == []


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_are_absolute(package):
    assert places(package, lambda name: name.startswith(".")) == []


def kernel_imports():
    """(importing module, imported module) of the kernel, both by their full names."""
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
             for path in modules("reactorlib")}  # fmt: skip
    for name, path in names.items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and root(node.module or "") == "reactorlib":
                for alias in node.names:
                    member = f"{node.module}.{alias.name}"
                    yield name, member if member in names else node.module
            elif isinstance(node, ast.Import):
                yield from ((name, alias.name) for alias in node.names if root(alias.name) == "reactorlib")


def names_of(package, of="harness"):
    """(file, full name) of everything that a package imports from another."""
    for path in modules(package):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and root(node.module or "") == of:
                yield from ((path.relative_to(ROOT), f"{node.module}.{alias.name}") for alias in node.names)


def test_the_packages_of_the_harness_import_in_one_direction():
    def rank(name):
        return HARNESS.index(name)

    back = [
        (str(path), name)
        for path, name in names_of("harness")
        if rank(name.split(".")[1]) > rank(path.with_suffix("").parts[1])
    ]
    assert back == []


@pytest.mark.parametrize("package", ["harness", "reactorlib"])
def test_no_two_modules_or_classes_of_a_package_share_a_name(package):
    found = [path.stem for path in modules(package) if path.stem not in ("__init__", "__main__")]
    for path in modules(package):
        found += [node.name for node in parsed(path).body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
    assert sorted(name for name in set(found) if found.count(name) > 1) == []


def test_figures_know_estimates_and_how_numbers_are_written_and_nothing_else_of_the_harness():
    assert [(str(path), name) for path, name in names_of("plots") if not name.startswith(DRAWN)] == []


def room(module):
    return module.split(".")[1] if "." in module else ""


def test_the_rooms_of_the_kernel_import_in_one_direction():
    arrows = {(room(source), room(target)) for source, target in kernel_imports()}
    arrows = {(source, target) for source, target in arrows if source and source != target}
    assert {source for source, target in arrows if not target} <= INSIDE.keys()  # of front ends alone
    arrows = {(source, target) for source, target in arrows if target}
    assert {source for source, _ in arrows} <= set(ROOMS)
    back = [(source, target) for source, target in arrows if ROOMS.index(target) > ROOMS.index(source)]
    assert back == []
    assert [(s, t) for s, t in arrows if t not in ONLY.get(s, {t})] == []


@pytest.mark.parametrize("front_end", INSIDE)
def test_a_front_end_imports_what_reactorlib_exports_and_little_else(front_end):
    exported = set(reactorlib.__all__)
    found = {name for _, name in names_of(f"reactorlib/{front_end}", "reactorlib")
             if room(name) not in ("", front_end, *INSIDE)}  # fmt: skip
    found = {name for name in found if room(name) not in exported}
    assert [name for name in found if name.rpartition(".")[2] in exported] == []
    inside = {name for name in found if not name.startswith((*OF_PROGRAMS, *HELPERS))}
    assert inside == {f"reactorlib.{name}" for name in INSIDE[front_end]}


def test_the_kernel_names_no_front_end():
    words = re.compile(r"\b(lf|gymnasium|cli|lingua|franca)\b", re.IGNORECASE)
    title = re.compile(r'"(Toward|Polyglot) [^"]*"')  # of a paper
    files = [path for path in modules("reactorlib") if path.relative_to(ROOT).parts[1] not in (*INSIDE, "__main__.py")]
    texts = {path: title.sub("", path.read_text(encoding="utf-8")) for path in files}
    assert len(texts) > 70
    found = [f"{path}: {line}" for path in texts for line in texts[path].splitlines() if words.search(line)]
    assert found == []
    arrows = {(room(source), room(target)) for source, target in kernel_imports()}
    assert {(s, t) for s, t in arrows if t in INSIDE and s not in INSIDE} == {
        ("program", "view"),  # a notebook shows the picture of a program
        ("__main__", "cli"),
    }


def test_the_rooms_of_the_front_end_to_gymnasium_import_faces_in_one_direction():
    def room_of(module):
        parts = module.split(".")
        return parts[2] if parts[:2] == ["reactorlib", "gymnasium"] and len(parts) > 2 else ""

    places = {name: index for index, name in enumerate(OF_GYMNASIUM)}
    found = [(source, target) for source, target in kernel_imports() if room_of(source) != room_of(target) in places]
    assert len({target for _, target in found}) == len(OF_GYMNASIUM)
    assert [(source, target) for source, target in found if target.count(".") > 2] == []
    assert [(source, target) for source, target in found
            if places.get(room_of(source), len(places)) < places[room_of(target)]] == []  # fmt: skip


def test_no_module_of_the_front_end_to_gymnasium_uses_private_names_of_another():
    def is_private(name):
        return name.startswith("_") and not name.startswith("__") and name not in ("_make", "_replace", "_asdict")

    nodes = {path: list(ast.walk(parsed(path))) for path in modules("reactorlib/gymnasium")}
    own = {
        path: {node.attr for node in several if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
        | {node.name for node in several if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        for path, several in nodes.items()
    }
    private = {name for names in own.values() for name in names if is_private(name)}
    assert len(private) > 100
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for path, several in nodes.items()
        for node in several
        if isinstance(node, ast.Attribute) and node.attr in private - own[path]
        if ast.unparse(node.value) not in ("self", "super()")
    ]
    assert found == []
    imported = [name for path in nodes for node in nodes[path] if isinstance(node, ast.ImportFrom)
                for name in [alias.name for alias in node.names]
                if is_private(name) and root(node.module) == "reactorlib"]  # fmt: skip
    assert imported == []


def test_no_module_of_the_kernel_imports_itself_by_way_of_others():
    targets = {}
    for source, target in kernel_imports():
        targets.setdefault(source, set()).add(target)
    ended, under_way = set(), []

    def visit(module):
        assert module not in under_way, " -> ".join([*under_way[under_way.index(module) :], module])
        if module in ended or module == "reactorlib":
            return
        under_way.append(module)
        for target in targets.get(module, ()):
            if target != module:
                visit(target)
        ended.add(under_way.pop())

    for module in targets:
        visit(module)
    assert len(ended) > 100


@pytest.mark.parametrize("package", ["reactorlib/cli", "harness/cli", "benchmarks"])
def test_every_command_line_says_by_its_status_if_its_output_was_lost(package):
    found = [(path, node) for path in modules(package) for node in parsed(path).body
             if isinstance(node, ast.FunctionDef) and node.name == "main"]  # fmt: skip
    assert found
    without = [
        str(path) for path, node in found if "standard_output.ended" not in map(ast.unparse, node.decorator_list)
    ]
    assert without == []


def test_few_modules_lie_at_the_top_of_the_kernel():
    assert len(list((ROOT / "reactorlib").glob("*.py"))) <= 10


def test_the_runtime_needs_the_standard_library_only():
    known = sys.stdlib_module_names | {"reactorlib"} | OF_VALUES
    found = places("reactorlib", lambda name: root(name) not in known)
    assert [place for place in found if not wanted_there(place)] == []


def wanted_there(place):
    path, _, rest = place.partition(":")
    wanted = OF_TRANSPORTS.get(path, set())
    wanted = wanted.union(*(n for folder, n in FRONT_ENDS.items() if path.startswith(folder)))
    return root(rest.partition(" imports ")[2]) in wanted


def test_the_runtime_imports_what_it_can_do_without_only_when_it_meets_it():
    at_import = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in modules("reactorlib")
        if not str(path.relative_to(ROOT)).startswith(tuple(FRONT_ENDS))
        for statement in parsed(path).body
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef)
        for name, line in imports(statement)
        if root(name) in OF_VALUES.union(*OF_TRANSPORTS.values())
    ]
    assert at_import == []


def test_a_task_knows_no_framework():
    frameworks = {"reactorlib", "ray", "envpool"}
    tasks = [f"workloads/{path.parent.name}" for path in (ROOT / "workloads").glob("*/task.py")]
    assert tasks
    found = [place for task in tasks for place in places(task, lambda name: root(name) in frameworks)]
    assert [place for place in found if "/task.py:" in place] == []


@pytest.mark.parametrize("backend", MATCHED)
def test_a_backend_imports_no_other_backend(backend):
    others = {*MATCHED} - {backend}
    assert len(list((ROOT / "workloads").glob(f"*/{backend}.py"))) == 6
    found = places("workloads", lambda name: name.rpartition(".")[2] in others)
    assert [place for place in found if f"/{backend}.py:" in place] == []


def test_an_import_in_the_wrong_direction_is_noticed(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "import os\ndef late():\n    from harness.store.status import OK\n"
        "    import importlib\n    importlib.import_module(f'plots.{os}')\n"
    )
    assert {name for name, _ in imports(parsed(path))} == {"os", "harness.store.status", "importlib", "plots."}
