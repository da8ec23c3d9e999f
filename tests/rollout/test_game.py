"""Games of people: who acts, what is scored, and what a rollout of them holds."""

import numpy as np
import pytest

from abmarl.examples import shipped
from abmarl.rollout import load, save
from abmarl.rollout.game import Game
from abmarl.rollout.pilot import Order
from abmarl.rollout.replay import Replay
from tests.support.grid_worlds import one_world, small_battle


def test_people_and_policies_act():
    game = Game(one_world(), ["red0"], "heuristic")
    assert game.acts("red0")
    game.play({"red0": Order(use=True)})
    # Red is the first to act and kills one, the other one kills red.
    assert game.over
    assert not game.acts("red0")
    assert game.score("red0") == pytest.approx(1 - 1 - 0.01)
    assert game.scores() == pytest.approx({"red": -0.01, "blue": 1 - 1 - 0.02})
    (result,) = game.results
    assert (result.steps, result.ended) == (1, True)
    assert result.agents == pytest.approx({"red0": -0.01})


def test_who_gets_no_order_waits():
    game = Game(one_world(), ["red0", "blue0", "blue1"])
    before = game.vec.store.position.copy()
    game.play({})
    assert np.array_equal(game.vec.store.position, before)
    assert not game.over
    game.play({"blue0": Order((1, 0))})
    assert game.vec.store.position[0, 1].tolist() == [2, 3]
    (result,) = game.results
    assert (result.steps, result.ended) == (2, False)


def test_one_game_after_the_other():
    game = Game(one_world(horizon=3), ["red0", "blue0", "blue1"])
    game.play({})
    with pytest.raises(ValueError, match="has not ended"):
        game.start()
    game.play({})
    game.play({})
    assert game.over
    with pytest.raises(ValueError, match="start another one"):
        game.play({})
    game.start()
    game.play({})
    assert [(one.steps, one.ended) for one in game.results] == [(3, True), (1, False)]
    assert game.num_steps == 4


@pytest.mark.parametrize("name", shipped)
def test_a_saved_game_can_be_simulated_again(name, tmp_path):
    sim = shipped[name]()
    vec = sim.vectorize(num_envs=1, seed=5, horizon=12, autoreset=False, copy=True)
    people = [group.agent_ids[-1] for group in vec.groups.values()]
    game = Game(vec, people)
    rng = np.random.default_rng(0)
    for _ in range(40):
        if game.over:
            game.start()
        orders = {one: Order(tuple(rng.integers(-1, 2, 2).tolist()), True) for one in people}
        game.play(orders)
    rollout = game.rollout(name)
    assert (rollout.num_steps, rollout.num_envs, rollout.simulation) == (40, 1, name)
    assert len(rollout.episodes) == len([one for one in game.results if one.ended]) >= 3
    save(rollout, tmp_path / "game.npz")
    replay = Replay(shipped[name](), load(tmp_path / "game.npz"))
    replay.check()
    assert replay.mismatch is None
    assert replay.good == len(replay.moments)


def test_a_game_that_ended_shows_the_next_start_as_rollouts_do():
    game = Game(one_world(horizon=2), ["red0", "blue0", "blue1"])
    start = game.vec.observations()["red"]["position_centered_encoding"]
    game.play({"red0": Order((0, -1))})
    game.play({"red0": Order((0, -1))})
    rollout = game.rollout("battle")
    column = rollout.last_observations["red"]["position_centered_encoding"]
    assert np.array_equal(column, start)
    final = rollout.final_observations["red"]["position_centered_encoding"][0]
    assert not np.array_equal(final, start[0])
    with pytest.raises(ValueError, match="start another one"):
        game.play({})


def test_nothing_played():
    with pytest.raises(ValueError, match="nothing was played"):
        Game(one_world(), ["red0"]).rollout("battle")


def test_only_worlds_that_wait_can_be_played():
    with pytest.raises(ValueError, match="autoreset=False"):
        Game(small_battle().vectorize(num_envs=1), ["red0"])
