"""Power by playing the schedule: nulls are rarely called held, large effects mostly, too few runs never."""

from __future__ import annotations

import pytest
from test_verdicts import design

from app.study.draw import schedule
from app.study.prereg import TASKS, Preset
from app.study.simulate import Effects, Power, simulate


def played(preset: Preset, effects: Effects, rounds: int = 300, **changes: object) -> dict[str, Power]:
    wanted = design(preset, **changes)
    tasks = [f"t{n}" for n in range(TASKS[preset])]
    drawn = schedule("s", tasks, wanted.preregistration.conditions)
    return {one.hypothesis: one for one in simulate(wanted, drawn, effects, rounds=rounds)}


@pytest.mark.parametrize("preset", ["first-pass", "full"])
def test_with_no_effect_nothing_is_called_held_more_often_than_alpha_allows(preset: Preset) -> None:
    alpha = design(preset).preregistration.alpha
    for one in played(preset, Effects().null()).values():
        assert one.shares["held"] <= alpha + 4 * (alpha * (1 - alpha) / one.rounds) ** 0.5


def test_the_papers_own_predictions_would_mostly_be_found_by_the_full_study() -> None:
    found = played("full", Effects())
    assert all(found[name].shares["held"] > 0.6 for name in ("H1", "H2", "H3"))


def test_more_effect_is_called_more_often() -> None:
    shares = [played("full", Effects(hf_keeper=mean))["H1"].shares["held"] for mean in (0.8, 0.86, 0.95)]
    assert shares == sorted(shares) and shares[0] < shares[-1]


def test_six_runs_at_a_strict_alpha_can_answer_nothing() -> None:
    found = played("first-pass", Effects(), alpha=0.05)
    assert all(found[name].shares["not enough runs"] == 1 for name in ("H1", "H2", "H3", "H4"))


def test_a_seed_gives_the_same_power_again() -> None:
    assert played("first-pass", Effects(), 50) == played("first-pass", Effects(), 50)


def test_the_shares_of_a_hypothesis_add_up_to_one() -> None:
    for one in played("full", Effects(), 50).values():
        assert sum(one.shares.values()) == pytest.approx(1)
