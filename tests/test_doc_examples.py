"""Every example in README and the pages under docs runs. `make test-adapters` has the libraries that some need."""

import re
import sys
import textwrap

import gymnasium
import numpy as np
import pytest

from reactorlib.gymnasium import ReactorVectorEnv
from tests import pages
from tests.pages import DOCS, PAGES, ROOT, execute

OPTIONAL = r"^(?:from|import) (stable_baselines3|tianshou|torchrl|ray\.rllib|pettingzoo|moviepy)\b"


def examples():
    """Every example with its shown output, the block of text that follows, or None without such a block."""
    for page in PAGES:
        found = pages.blocks(page)
        for number, (kind, block) in enumerate(found):
            if kind == "python":
                following, output = found[number + 1] if number + 1 < len(found) else ("", "")
                shown = output if following == "text" else None
                yield pytest.param(block, shown, id=f"{pages.name(page)}-{number}")


@pytest.mark.parametrize(("example", "shown"), list(examples()))
def test_an_example_runs_and_prints_what_is_shown(example, shown, tmp_path):
    for module in re.findall(OPTIONAL, example, re.MULTILINE):
        needed = {"pettingzoo": "pygame"}.get(module, module)  # the example has one of its games
        pytest.importorskip(needed, exc_type=ImportError)
    for folder in ("examples", "results"):  # read from the root of the repository, as readers do
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "random_walk").symlink_to(ROOT / "examples" / "suite" / "random_walk")  # of a user's folder
    (tmp_path / "example.py").write_text(example)
    done = execute([sys.executable, "example.py"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    if shown is not None:
        assert done.stdout == shown


def test_the_line_that_changes_in_cleanrl_changes_nothing_else(tmp_path):
    pytest.importorskip("torch")
    found = [block for _, block in pages.blocks(DOCS / "howto" / "training-loop.md") if "was: gym.vector" in block]
    (example,) = found
    theirs = example.replace("envs = ReactorVectorEnv(", "envs = gym.vector.SyncVectorEnv(")
    assert theirs != example
    outputs = []
    for program in (example, theirs):
        (tmp_path / "example.py").write_text(program + "    print(episodes, *parameters)\n")
        done = execute([sys.executable, "example.py"], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert outputs[0].startswith("[")
    assert not outputs[0].startswith("[]")


def _with_statistics():
    return gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("CartPole-v1"))


def test_the_two_lines_that_gymnasium_1_changes_in_cleanrl_find_each_end_of_an_episode():
    (shown,) = [block for kind, block in pages.blocks(DOCS / "howto" / "training-loop.md") if kind == "diff"]
    added = textwrap.dedent("\n".join(line[1:] for line in shown.splitlines() if line[0] == "+"))
    program = compile(f"{added}\n        told.append((info['episode']['r'], info['episode']['l']))", "page", "exec")
    found = []
    for make in (ReactorVectorEnv, gymnasium.vector.SyncVectorEnv):
        envs = make([_with_statistics] * 2, autoreset_mode="SameStep")
        told = []
        envs.reset(seed=1)
        for step in range(60):
            *_, infos = envs.step(np.array([step % 2, 1]))
            if "final_info" in infos:
                exec(program, {"np": np, "infos": infos, "told": told})
        envs.close()
        found.append(told)
    assert found[0] == found[1]
    assert len(found[0]) > 3
    assert all(reward == length for reward, length in found[0])
