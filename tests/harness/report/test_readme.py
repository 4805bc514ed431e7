"""The text that the report writes into README and the pages."""

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from harness.errors import UsageError
from harness.report import markdown, readme, readme_claims, run_answer, system_costs
from harness.stats.intervals import Estimate
from tests.harness.report import made_up
from tests.harness.report.made_up import MACHINE, STEADY, THEIRS, times

HOSTILE = "<script>alert(1)</script> [a](javascript:alert(1)) a|b & <!-- c"


@pytest.mark.parametrize(
    ("ours", "bold"),
    [
        ([100, 300, 150, 400, 120], [True, True, False]),
        (times(300), [False, True, False]),
        (times(60), [True, False, False]),
    ],
    ids=["a tie", "ours", "the loop"],
)
def test_in_readme_the_best_of_a_point_and_a_tie_with_it_are_bold(results, ours, bold):
    row = readme.table(results({"serial": times(160), "reactor-processes": ours, "ray-pooled": times(20)})).rows[0]
    assert [cell.startswith("**") for cell in row[2:5]] == bold


def test_readme_has_the_ends_of_a_run_and_of_that_of_the_paper_s_points_beside_it_of_the_same_commit(tmp_path):
    several = made_up.rows(backends=("reactor-processes", "ray-pooled"))
    alone = made_up.summary(
        tmp_path / "quick", [row for row in several if '"object_bytes": 524288000' in row.parameters]
    )
    assert readme_claims.answered_by(alone) == (alone,)
    beside = made_up.summary(tmp_path / "reference", several)
    runs = readme_claims.answered_by(alone)
    assert [run.path for run in runs] == [alone.path, beside.path]
    (answer,) = [one for one in run_answer.answers(*runs) if one.workload == "broadcast_gather"]
    assert len(answer.points) == len(alone.points) + sum(one.workload == "broadcast_gather" for one in beside.points)
    rows = [row[:2] for row in readme.table(*runs).rows]
    at = [workload for workload, _ in rows].index("broadcast_gather")
    weakest, strongest = rows[at][1], rows[at + 1][1]
    assert weakest.startswith(f"weakest: {answer.points[0].point.label}")
    assert strongest.startswith(f"strongest: {answer.points[-1].point.label}")
    for run in runs:
        assert f"({run.path.name}/report.md)" in readme.section(alone, {}, tmp_path)
    other = {**MACHINE, "sessions": [{**MACHINE["sessions"][0], "commit": "another"}]}
    made_up.summary(beside.path, several, described=other)
    assert readme_claims.answered_by(alone) == (alone,)


def test_a_page_gets_what_its_markers_ask_for(results, tmp_path):
    summary = results({"serial": times(150), "reactor-processes": times(100), "ray-paper": times(5)}, setting=THEIRS)
    page = tmp_path / "page.md"
    begin, end = readme.marks("claims")
    page.write_text(f"before {begin} old {end} after")
    readme.update(page, summary, {})
    text = page.read_text()
    assert text.startswith(f"before {begin}\n| claim | published |")
    assert text.endswith(f"{end} after")
    assert " old " not in text
    assert "same direction" in text
    assert "| not measured |" in text  # of threads, in no run beside it
    for broken in (begin, f"{end} {begin}", f"{begin}{end}" * 2, "none"):
        page.write_text(broken)
        with pytest.raises(UsageError, match="markers" if broken == "none" else "once each"):
            readme.update(page, summary, {})
        assert page.read_text() == broken


def test_a_page_of_threads_begins_with_their_losses_and_has_dashes_for_what_was_not_measured(results):
    ours = {"reactor-threads-nogil": times(200)}
    beside = {"lockstep-threads-nogil": times(250), "ray-pooled": times(300)}
    summary = results({**ours, **beside}, ours, {"serial": times(1)})
    losses, _, table, *_ = readme.without_a_gil(summary, {}, summary.path).split("\n\n")
    head, _, _, row = (line.split(" | ") for line in table.splitlines())  # without threads, a point has none
    assert [name for name in head if "lockstep" in name] == ["threads over lockstep-threads-nogil"]
    assert row[3:7] == ["-"] * 4
    # At one point there is no Ray, and at none are there processes.
    assert losses == "- Threads are slower than the best Ray at 1 of 1 point: gym_sampling CartPole-v1, 2 actors."
    assert "| workload |" not in readme.without_a_gil(results({"serial": times(150)}), {}, summary.path)


def test_a_page_of_actor_systems_begins_with_losses(results):
    loop, ours = times(100), times(200)
    lost = results({"serial": loop, "reactor-processes": ours, "pipes": times(300), "lockstep": times(900)})
    losses, *_ = readme.systems(lost, {}, lost.path).split("\n\n")
    assert losses == "- Reactors are slower than pipes at 1 of 1 point: gym_sampling CartPole-v1, 2 actors."
    few = results({"serial": loop, "reactor-processes": [99.0], "pipes": [98.0]})
    assert list(system_costs.losses(few)) == [
        "Reactors may be slower than serial at 1 of 1 point: gym_sampling CartPole-v1, 2 actors."
    ]


def test_costs_are_from_the_least_to_the_most_and_lines_are_of_files_that_exist(results):
    loop, pipes = {"serial": times(100)}, {"pipes": times(150)}
    summary = results(loop | pipes, loop | pipes)
    units = {"startup_time": "ns", "peak_rss": "bytes", "cpu_time": "ns/observation"}

    def with_costs(cell, number):
        values = {"startup_time": 5e6 * number, "peak_rss": 2.0**30, "cpu_time": 100.0}
        values["cpu_time"] *= number if cell.backend == "pipes" else 1
        metrics = {name: Estimate(value, value, value, 5) for name, value in values.items()}
        return replace(cell, metrics=metrics, tails=(10.0, 15.0, 20.0 * number))

    points = [
        replace(point, units=units, cells=tuple(with_costs(cell, number) for cell in point.cells))
        for number, point in enumerate(summary.points, 1)
    ]
    costs, programs = system_costs.tables(replace(summary, points=tuple(points)))
    *told, lines = costs.rows[1]
    assert told == ["pipes", "5.00 ms to 10.0 ms", "1.00 GiB", "1.00x to 2.00x", "2.00x to 4.00x"]
    assert int(lines) > 100
    ((workload, *counted),) = programs.rows
    assert workload == "gym_sampling"
    assert all(int(count) > 10 for count in counted)


def test_what_a_file_says_is_text_on_every_page(results, tmp_path):
    described = {**MACHINE, "kernel": f"Linux\n\n# {HOSTILE}", "packages": {"numpy": HOSTILE}}
    described["sessions"] = [{**MACHINE["sessions"][0], "command": ["run", "\n```\n", HOSTILE]}]
    hostile = {"workload": HOSTILE, "scenario": HOSTILE}
    summary = results(
        {"serial": times(150), "reactor-inline": times(100), HOSTILE: STEADY}, described=described, **hostile
    )
    page = tmp_path / "README.md"
    page.write_text("".join(mark for part in readme.PARTS for mark in readme.marks(part)))
    readme.update(page, summary, {})
    filled = page.read_text()
    for part in readme.PARTS:
        for mark in readme.marks(part):
            filled = filled.replace(mark, "")
    for text in (markdown.to_markdown(summary), filled):
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
        for dangerous in ("<script", "](javascript", "<!-- c", "\n# <", "\n# &"):
            assert dangerous not in text, dangerous
        for table in re.findall(r"(?:^\| .*\n)+", text, re.MULTILINE):
            (width,) = {line.replace("\\|", "").count("|") for line in table.splitlines()}
            assert width > 2


@pytest.mark.parametrize(
    "name", ["plain.json", "my run (1).json", "a[b](c)#d?e.json", "<img src=x onerror=alert(1)>.json"]
)
def test_a_link_leads_to_a_file_of_any_name(name):
    link = markdown.markdown_link(name.removesuffix(".json"), Path("/pages/results", name), Path("/pages/docs"))
    (line,) = (one for one in MarkdownIt().parse(f"see {link} there") if one.type == "inline")
    _, opened, *shown, _, _ = line.children
    assert unquote(opened.attrs["href"]) == f"../results/{name}"
    assert "".join(one.content for one in shown) == name.removesuffix(".json")
