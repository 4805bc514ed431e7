"""The paper's claims compared with the measurements."""

import pytest

from harness.report import markdown, paper_claims, published
from tests.harness.report.made_up import THEIRS, claimed, times
from workloads.catalogue import WORKLOADS


def test_the_paper_s_claim_stands_beside_what_was_measured(results):
    ours, rays = {"reactor-processes": times(100)}, {"ray-paper": times(5), "ray-pooled": times(50)}
    (row,) = claimed(results({"serial": times(80), **ours, **rays}, setting=THEIRS))
    # CartPole 3813.883 over 3276.540; here are neither Blackjack nor Pendulum
    assert row == {
        "claim": "Gymnasium: 1.21x the observations per second",
        "published": "1.16x (without 2 points)",
        "here, against ray-paper": "20.0x [20.0, 20.0]",
        "best Ray": "2.00x [2.00, 2.00]",
        "plain loop": "1.25x [1.25, 1.25]",
        "direction here": "same direction",
        "Ray otherwise": "ray-pooled 10.0x [10.0, 10.0]",
        "starts": "5",
    }


@pytest.mark.parametrize(
    ("points", "holds"),
    [
        ([times(105)], "same direction"),
        ([times(90)], "no"),
        ([times(90), [80, 120, 100, 90, 115]], "no"),
        ([[80, 120, 100, 90, 115]], "undecided"),
        ([times(90), times(190)], "not everywhere"),
        ([times(150), [100, 300, 150, 400, 120]], "undecided at some points"),
    ],
)
def test_whether_a_claim_holds_here_is_seen_from_the_whole_interval_at_every_point(results, points, holds):
    beside = [{"reactor-processes": ours, "ray-paper": times(100)} for ours in points]
    (row,) = claimed(results(*beside, setting=THEIRS))
    assert row["direction here"] == holds
    assert row["best Ray"] == row["here, against ray-paper"]


@pytest.mark.parametrize("setting", [{"actors": 4}, {"env": "busy:2ms"}, {"steps_per_message": 10}])
def test_a_point_that_the_paper_does_not_have_says_nothing_of_its_claim(results, setting):
    ours, ray = {"reactor-processes": times(150)}, {"ray-paper": times(100)}
    assert not claimed(results(ours | ray, setting=THEIRS | setting))


def test_without_ray_nothing_is_said_of_the_claim(results):
    summary = results({"serial": times(150), "reactor-processes": times(100)})
    assert not claimed(summary)
    assert paper_claims.HEADING not in markdown.to_markdown(summary)


def test_the_part_of_the_time_that_the_paper_claims_for_q_learning_is_that_of_one_minibatch():
    theirs, ours = (published.series("q_learning")[system].points for system in ("ray", "lf"))
    less = {x: f"{100 * (1 - ours[x].value / theirs[x].value):.1f} %" for x in ours}
    (minibatch,) = [x for x, part in less.items() if part == "31.2 %"]
    assert f"{less[minibatch]} less time with a minibatch of {minibatch}" in WORKLOADS["q_learning"].claim["text"]
