"""Bad input: an error of a line or two that says what and what to do, and a state as before."""

import numpy as np
import pytest

from abmarl.gridworld import GridWorldAgent, HealthState, SmartGridWorldSimulation
from abmarl.gridworld.state import StateBase
from abmarl.managers import AllStepManager
from tests.support.grid_worlds import act, battle, build, fighter, same, wall


def refuses(sim, call, error, message):
    """The call raises a short error and leaves the simulation's state alone."""
    before = sim.state_dict()
    with pytest.raises(error, match=message) as caught:
        call()
    assert str(caught.value).count("\n") <= 1
    assert len(str(caught.value)) < 300
    assert same(before, sim.state_dict())


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ({"red9": act()}, ValueError, "There is no agent 'red9' in this simulation"),
        ({"red0": act(), "red9": act()}, ValueError, "There is no agent 'red9'"),
        (None, TypeError, "Actions must be a dict of agent id to action, got NoneType"),
        ([act()], TypeError, "Actions must be a dict of agent id to action, got list"),
        ({"red0": 1}, ValueError, r"'red0' must be a dict with channels \['attack', 'move'\]"),
        ({"red0": {"jump": 1}}, ValueError, "Agent 'red0' has no channel 'jump'"),
        ({"wall": {"move": 1}}, ValueError, r"Agent 'wall' has no channel 'move'; it has \[\]"),
        ({"red0": act(2)}, ValueError, r"'red0' on channel 'attack' is 2, which is not in Discr"),
        ({"red0": act(-1)}, ValueError, "'red0' on channel 'attack' is -1, which is not in"),
        ({"red0": act(0.5)}, ValueError, "'red0' on channel 'attack' is 0.5, which is not in"),
        ({"red0": act(True)}, ValueError, "'red0' on channel 'attack' is True, which is not in"),
        ({"red0": act(None)}, ValueError, "'red0' on channel 'attack' is None, which is not in"),
        ({"red0": act(np.array([1]))}, ValueError, "'red0' on channel 'attack' is array"),
        ({"red0": act(0, (0, 2))}, ValueError, r"'red0' on channel 'move' is array\(\[0, 2\]\)"),
        ({"red0": act(0, (0, 0, 0))}, ValueError, "'red0' on channel 'move' is array"),
        (
            {"red0": act(0, (0.0, 1.0))},
            ValueError,
            r"'move' is array\(\[0\., 1\.\]\) of dtype float64, which is not in Box\(-1, 1",
        ),
        ({"red0": act(np.float32(1))}, ValueError, "'attack' is .* of dtype float32, which is not"),
        ({"red0": {"move": "up"}}, ValueError, "'red0' on channel 'move' is 'up', which is not"),
        ({"red0": {"move": [[1], [1, 2]]}}, ValueError, "'red0' on channel 'move' is"),
        ({"blue0": act(1), "red0": act(2)}, ValueError, "'red0' on channel 'attack' is 2"),
    ],
)
def test_actions_of_single_simulations(actions, error, message):
    sim = battle_with_a_wall()
    sim.reset(seed=0)
    refuses(sim, lambda: sim.step(actions), error, message)


def battle_with_a_wall():
    agents = [fighter("red0", 1, (0, 0)), fighter("blue0", 2, (0, 1)), wall("wall", 9, (2, 2))]
    return build(agents, attack_mapping={1: {2}, 2: {1}})


@pytest.mark.parametrize("getter", ["get_obs", "get_reward", "get_done"])
def test_unknown_agents(getter):
    sim = battle()
    sim.reset(seed=0)
    refuses(sim, lambda: getattr(sim, getter)("red9"), ValueError, "There is no agent 'red9'")
    refuses(sim, lambda: sim.random_order(["red9"]), ValueError, "There is no agent 'red9'")


def test_actions_of_agents_that_are_done():
    sim = battle()
    manager = AllStepManager(sim)
    manager.reset(seed=0)
    manager.step({"red0": act(1)})
    message = "action from agent 'blue0', which is done; may act now: 'red0', 'red1', 'blue1'"
    refuses(sim, lambda: manager.step({"blue0": act(1)}), ValueError, message)


def test_refused_actions_in_random_order():
    """The order was drawn already when an action is found to be wrong."""
    plain, troubled = (AllStepManager(battle(), randomize_action_input=True) for _ in range(2))
    for manager in (plain, troubled):
        manager.reset(seed=0)
    everybody = {name: act() for name in troubled.sim.agents}
    wrong = {**everybody, "red1": act(7)}
    for _ in range(3):
        refuses(troubled.sim, lambda: troubled.step(wrong), ValueError, "'attack' is 7, which is")
        for manager in (plain, troubled):
            manager.step(everybody)
    assert same(plain.sim.state_dict(), troubled.sim.state_dict())


def put(group, channel, value, at=None):
    def change(actions):
        if at is None:
            actions[group][channel] = value
        else:
            actions[group][channel][at] = value

    return change


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda a: [1], TypeError, "actions must be a dict by group, got list"),
        (lambda a: {**a, "red": {}}, ValueError, "actions has unknown group 'red'; it needs exact"),
        (lambda a: {"fighter_1": a["fighter_1"]}, ValueError, "actions has no group 'fighter_2'"),
        (
            lambda a: {**a, "fighter_1": 3},
            TypeError,
            "'fighter_1'.* must be a dict by channel, got",
        ),
        (put("fighter_1", "jump", 1), ValueError, "has unknown channel 'jump'"),
        (lambda a: {**a, "fighter_1": {"attack": 1}}, ValueError, "has no channel 'move'"),
        (
            put("fighter_1", "attack", np.zeros((2, 3), int)),
            ValueError,
            r"'fighter_1'\]\['attack'\] must have shape \(2, 2\), got \(2, 3\)",
        ),
        (
            put("fighter_1", "attack", np.zeros((2, 2))),
            TypeError,
            r"'fighter_1'\]\['attack'\] must be integers, got float64",
        ),
        (
            put("fighter_1", "attack", np.zeros((2, 2), bool)),
            TypeError,
            r"'fighter_1'\]\['attack'\] must be integers, got bool",
        ),
        (
            put("fighter_2", "attack", 2, (1, 1)),
            ValueError,
            "Action of agent 'blue1' in world 1 on channel 'attack' is 2, which is not in Discrete",
        ),
        (
            put("fighter_1", "move", -2, (0, 1, 0)),
            ValueError,
            r"Action of agent 'red1' in world 0 on channel 'move' is \[-2, 0\], which is not in",
        ),
    ],
)
def test_actions_of_vectorised_simulations(change, error, message):
    vec = battle().vectorize(2, seed=0)
    vec.reset()

    def call():
        actions = {
            name: {"attack": np.zeros((2, 2), int), "move": np.zeros((2, 2, 2), int)}
            for name in vec.groups
        }
        given = change(actions)
        vec.step(actions if given is None else given)

    refuses(vec, call, error, message)


def test_refused_actions_leave_sampled_ones_alone():
    vec = battle().vectorize(2, seed=0)
    vec.reset()
    sampled = vec.sample_actions()
    kept = {name: {key: a.copy() for key, a in one.items()} for name, one in sampled.items()}
    other = {name: {key: 1 - abs(a) for key, a in one.items()} for name, one in kept.items()}
    other["fighter_2"]["move"][1, 1] = 5
    refuses(vec, lambda: vec.step(other), ValueError, "channel 'move' is \\[5, 5\\], which is not")
    for name, one in kept.items():
        for key, array in one.items():
            assert np.array_equal(sampled[name][key], array)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64])
def test_any_integers_are_actions(dtype):
    vec = battle().vectorize(2, seed=0)
    vec.reset()
    vec.step(
        {
            name: {"attack": np.ones((2, 2), dtype), "move": np.ones((2, 2, 2), dtype)}
            for name in vec.groups
        }
    )


def test_large_values_do_not_wrap_around():
    vec = battle().vectorize(2, seed=0)
    vec.reset()
    actions = {
        name: {"attack": np.full((2, 2), 256), "move": np.zeros((2, 2, 2), int)}
        for name in vec.groups
    }
    refuses(vec, lambda: vec.step(actions), ValueError, "on channel 'attack' is 256, which is not")


def bad_rule(value):
    def rule(health):
        rewards = np.zeros_like(health)
        rewards[-1, -1] = value
        return rewards

    return rule


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rewards_that_are_not_finite(value):
    sim = battle(rewards={"mine": bad_rule(value)})
    sim.reset(seed=0)
    message = f"Reward rule 'mine' gave {value} to agent 'blue1' in world 0; rewards must be finite"
    refuses(sim, lambda: sim.step({"red0": act(1, (1, 1))}), ValueError, message)
    for num_threads, message in ((1, "'blue1' in world 2; rewards"), (2, "'blue1' in world 0")):
        # On two threads the rule sees world 0 by itself and spoils its last world too.
        vec = sim.vectorize(3, seed=0, num_threads=num_threads)
        vec.reset()
        actions = vec.sample_actions()
        refuses(vec, lambda vec=vec, a=actions: vec.step(a), ValueError, message)


def test_rewards_of_the_wrong_shape():
    sim = battle(rewards={"mine": lambda health: health[0]})
    sim.reset(seed=0)
    message = r"Reward rule 'mine' must return shape \(1, 4\) \(worlds, agents\), got \(4,\)"
    refuses(sim, lambda: sim.step({"red0": act(1, (1, 1))}), ValueError, message)


@pytest.mark.parametrize("num_threads", [1, 2])
def test_rewards_of_the_array_style_that_are_not_finite(num_threads):
    class NaNSim(SmartGridWorldSimulation):
        """Its rewards are no numbers."""

        def step_batch(self, actions):
            super().step_batch(actions)
            self.store.rewards[-1, -1] = np.nan

    sim = build([fighter("a"), fighter("b")], kind=NaNSim)
    sim.reset(seed=0)
    refuses(
        sim,
        lambda: sim.step({"a": act()}),
        ValueError,
        "Agent 'b' in world 0 was given the reward nan",
    )
    vec = sim.vectorize(2, seed=0, num_threads=num_threads)
    vec.reset()
    actions = vec.sample_actions()
    message = f"Agent 'b' in world {2 - num_threads} was given the reward nan; rewards must be fin"
    refuses(vec, lambda: vec.step(actions), ValueError, message)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: build([]), ValueError, "A simulation needs at least one agent, got none"),
        (lambda: build([fighter("a")], rows=0), ValueError, "at least 1 row and 1 column"),
        (lambda: build([GridWorldAgent(id="a")]), ValueError, "has no encoding|encoding"),
        (lambda: build([fighter("a", at=(3, 0))]), ValueError, r"starts at \(3, 0\), which is not"),
        (lambda: build([fighter("a", view_range=None)]), (ValueError, TypeError), "view_range"),
        (
            lambda: build([fighter("a")], attack_mapping=None),
            ValueError,
            r"BinaryAttackActor needs to know who may attack whom: give attack_mapping .* or \{\}",
        ),
        (
            lambda: build([fighter("a")], states=[HealthState]),
            ValueError,
            r'BinaryAttackActor needs agents on the grid.*; add one, states=\["PositionState"',
        ),
        (
            lambda: build([fighter("a")], states=(), actors=()),
            ValueError,
            "PositionCenteredEncodingObserver needs agents on the grid, and no state component",
        ),
        (
            lambda: build([fighter("a")], overlapping={1: {1, 11}}),
            ValueError,
            r"overlapping names encoding 11, which no agent has; the agents' encodings are \[1\]",
        ),
        (lambda: battle().vectorize(0), ValueError, "num_envs must be 1 or more, got 0"),
        (lambda: battle().vectorize(2.0), TypeError, "num_envs must be an int, got 2.0"),
        (lambda: battle().vectorize(2, horizon=0), ValueError, "horizon must be 1 or more"),
        (lambda: battle().vectorize(2, seed="x"), TypeError, "seed must be an int"),
        (lambda: battle().vectorize(2, seed=-1), ValueError, "seed must be an int >= 0"),
        (lambda: battle().vectorize(2, seed=(1, 2)), TypeError, "takes an int seed"),
        (lambda: battle().vectorize(2, num_threads=0), ValueError, "num_threads must be a number"),
        (lambda: battle().vectorize(2, order="any"), ValueError, 'order must be "fixed" or "rand'),
        (lambda: battle().vectorize(2, autoreset="no"), TypeError, "autoreset must be True or"),
        (lambda: battle().vectorize(2, copy="no"), TypeError, "copy must be True or False"),
        (lambda: battle().vectorize(10**13), MemoryError, "worlds need"),
        (lambda: build([wall("w")]).vectorize(2), ValueError, "nobody to act for"),
        (lambda: battle().vectorize(2).step({}), ValueError, r"Call reset\(\) before step\(\)"),
    ],
)
def test_what_cannot_be_built(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert len(str(caught.value)) < 300


class DealState(StateBase):
    """Deals the agents out to the cells in a row; nobody told it of ``rank``."""

    def start(self, worlds):
        self.store.clear(worlds)
        for slot, agent in enumerate(self.agents.values()):
            self.grid.place(agent, (0, slot))


def test_what_places_agents_need_not_be_ours():
    sim = build([fighter("a"), fighter("b")], states=[DealState])
    sim.reset(seed=0)
    assert sim.agents["b"].position.tolist() == [0, 1]
    build([fighter("a")], states=[], actors=[], observers=[])  # nobody asks where it is


def test_two_agents_with_one_id():
    with pytest.raises(ValueError, match=r"agents\['b'\] has the id 'a'"):
        SmartGridWorldSimulation.build_sim(3, 5, agents={"a": fighter("a"), "b": fighter("a")})


@pytest.mark.parametrize("seed", ["x", 0.5, True, (1,), (1, 2, 3), (1, -1), -1])
def test_seeds(seed):
    sim = battle()
    sim.reset(seed=0)
    refuses(sim, lambda: sim.reset(seed=seed), (TypeError, ValueError), "seed must be an int")


def test_groups_that_do_not_exist():
    vec = battle().vectorize(2)
    with pytest.raises(ValueError, match=r"There is no group 'red'; the groups are \['fighter_1',"):
        vec.attackable("red")


def test_a_reset_that_fails_changes_nothing():
    """An impossible placement in the middle of a run, in one world of a batch."""
    sim = build([fighter("a", 1, (0, 0)), fighter("b", 2)], rewards={})
    vec = sim.vectorize(2, seed=0)
    vec.reset()
    vec.step(vec.sample_actions())
    vec.store.start[1] = vec.store.start[0]
    refuses(vec, vec.reset, ValueError, r"Agent 'b' cannot start at its initial position \(0, 0\)")
    refuses(vec, lambda: vec.reset(seed=3), ValueError, "Agent 'b' cannot start")
    # Of few worlds only what they are is kept at hand.
    for seed in (None, 3):
        refuses(vec, lambda seed=seed: vec.reset(seed, worlds=[1]), ValueError, "'b' cannot start")
    refuses(vec, lambda: vec.reset(worlds=[2]), ValueError, "Worlds are numbered 0 to 1")
