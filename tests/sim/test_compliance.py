"""What `check_simulation` says of simulations that break one rule each."""

import re

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple

from abmarl.examples import shipped
from abmarl.gridworld import MoveActor, SmartGridWorldSimulation
from abmarl.managers import AllStepManager
from abmarl.sim import ActingAgent, Agent, AgentBasedSimulation, PrincipleAgent, check_simulation
from abmarl.sim.compliance import difference, why_outside
from tests.support.grid_worlds import battle, build, fighter


class Corridor(AgentBasedSimulation):
    """Agents walk to the right, on a corridor of five cells, and are done at its end."""

    end = 5

    def __init__(self):
        self.agents = {
            name: Agent(
                id=name,
                action_space=Discrete(3),
                observation_space={"cell": Box(0, 4, (1,), int), "wind": Box(0, 1, (1,), float)},
                null_action=1,
                null_observation={"cell": [0], "wind": [0.0]},
            )
            for name in ("ann", "bob")
        }
        self.agents["sign"] = PrincipleAgent(id="sign")
        self.rng = np.random.default_rng()
        self.finalize()

    def reset(self, seed=None, **kwargs):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.cells = {"ann": 0, "bob": int(self.rng.integers(3))}
        self.rewards = dict.fromkeys(self.cells, 0)
        self.wind = self.rng.random()

    def step(self, action_dict, **kwargs):
        self.wind = self.rng.random()
        for name, action in action_dict.items():
            self.cells[name] = min(max(self.cells[name] + int(action) - 1, 0), self.end - 1)
            self.rewards[name] -= 1

    def get_obs(self, agent_id, **kwargs):
        return {"cell": [self.cells[agent_id]], "wind": np.array([self.wind])}

    def get_reward(self, agent_id, **kwargs):
        reward, self.rewards[agent_id] = self.rewards[agent_id], 0
        return reward

    def get_done(self, agent_id, **kwargs):
        return self.cells[agent_id] == self.end - 1

    def get_all_done(self, **kwargs):
        return all(cell == self.end - 1 for cell in self.cells.values())

    def get_info(self, agent_id, **kwargs):
        return {}

    def render(self, **kwargs):
        pass


def refused(error, message):
    return pytest.raises(error, match=r"^" + re.escape(message) + "$")


def test_a_simulation_that_keeps_to_the_rules():
    checked = check_simulation(Corridor(), num_steps=60)
    assert (checked.steps, checked.vector_steps) == (180, 0)
    assert checked.episodes >= 6


@pytest.mark.parametrize("name", shipped)
def test_shipped_simulations(name):
    checked = check_simulation(shipped[name](), num_steps=60, seed=3)
    assert checked.vector_steps == 50
    assert checked.steps == 3 * 60 + 2 * 50


class ReturnsObs(Corridor):
    def reset(self, **kwargs):
        super().reset(**kwargs)
        return {"ann": [0]}


class StepReturns(Corridor):
    def step(self, action_dict, **kwargs):
        super().step(action_dict)
        return 0, {}


class BadObservation(Corridor):
    def get_obs(self, agent_id, **kwargs):
        obs = super().get_obs(agent_id)
        return {**obs, "cell": [7]} if self.cells[agent_id] == 1 else obs


class MissingChannel(Corridor):
    def get_obs(self, agent_id, **kwargs):
        return {"cell": [0]}


class WrongShape(Corridor):
    def get_obs(self, agent_id, **kwargs):
        return {**super().get_obs(agent_id), "wind": np.array(self.wind)}


class KeptReward(Corridor):
    def get_reward(self, agent_id, **kwargs):
        return self.rewards[agent_id]


class NanReward(Corridor):
    def get_reward(self, agent_id, **kwargs):
        super().get_reward(agent_id)
        return float("nan")


class NoReward(Corridor):
    def get_reward(self, agent_id, **kwargs):
        return None


class NumberDone(Corridor):
    def get_done(self, agent_id, **kwargs):
        return int(super().get_done(agent_id))


class ComesBack(Corridor):
    steps = 0

    def step(self, action_dict, **kwargs):
        self.steps += 1
        super().step(action_dict)

    def get_done(self, agent_id, **kwargs):
        return agent_id == "bob" and self.steps == 1

    def get_all_done(self, **kwargs):
        return False


class FlickeringDone(Corridor):
    asked = 0

    def get_all_done(self, **kwargs):
        self.asked += 1
        return self.asked % 2 == 0


class StillDone(Corridor):
    def get_all_done(self, **kwargs):
        return True


class ListInfo(Corridor):
    def get_info(self, agent_id, **kwargs):
        return []


class EatsActions(Corridor):
    def step(self, action_dict, **kwargs):
        super().step(action_dict)
        action_dict.pop("ann", None)


class Picky(Corridor):
    def step(self, action_dict, **kwargs):
        if self.rewards["ann"] == 0 and action_dict.get("ann") == 2:
            raise KeyError("right")
        super().step(action_dict)


class OwnChance(Corridor):
    def reset(self, **kwargs):
        super().reset()


class UnreadRewards(Corridor):
    def reset(self, **kwargs):
        before = getattr(self, "rewards", None)
        super().reset(**kwargs)
        self.rewards = before or self.rewards


class SharedArray(Corridor):
    def reset(self, **kwargs):
        self.breeze = np.zeros(1)
        super().reset(**kwargs)

    def get_obs(self, agent_id, **kwargs):
        self.breeze[0] = self.wind
        return {"cell": [self.cells[agent_id]], "wind": self.breeze}


class SharedBuffer(Corridor):
    buffer = np.zeros(1, int)

    def get_obs(self, agent_id, **kwargs):
        self.buffer[0] = self.cells[agent_id]
        return {**super().get_obs(agent_id), "cell": self.buffer}


class Unseeded(Corridor):
    def reset(self):
        super().reset()


class Removes(Corridor):
    def step(self, action_dict, **kwargs):
        super().step(action_dict)
        self.agents = {"ann": self.agents["ann"]}


class Unfinished(Corridor):
    def finalize(self):
        pass


class SpoiltNull(Corridor):
    def __init__(self):
        super().__init__()
        self.agents["bob"].null_action = 3


class Unconfigured(Corridor):
    def __init__(self):
        super().__init__()
        self.agents["bob"]._action_space = None


class WrongKey(Corridor):
    def __init__(self):
        super().__init__()
        self.agents["rob"] = self.agents.pop("bob")


class Nobody(Corridor):
    def __init__(self):
        self.agents = {"a": ActingAgent(id="a", action_space=Discrete(2))}
        self.finalize()


class NoAgents(Corridor):
    def __init__(self):
        pass


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        (ReturnsObs, TypeError, "right after reset of episode 1 (0 steps tried): reset(seed=0) "
            "must return nothing, got dict {'ann': [0]}; what it has to say is asked for with the "
            "getters"),
        (StepReturns, TypeError, "in step 1 of episode 1 (1 step tried): step must return nothing, "
            "got tuple (0, {}); what it has to say is asked for with the getters"),
        (BadObservation, ValueError, "the observation of 'ann'['cell'] is list [7], which does not "
            "lie in Box(0, 4, (1,), int64)"),
        (MissingChannel, ValueError, "right after reset of episode 1 (0 steps tried): the "
            "observation of 'ann' has the keys ['cell'], its space has ['cell', 'wind']"),
        (WrongShape, ValueError, "right after reset of episode 1 (0 steps tried): the observation "
            "of 'ann'['wind'] has shape (), its space (1,): Box(0.0, 1.0, (1,), float64)"),
        (KeptReward, ValueError, "in step 1 of episode 1 (1 step tried): get_reward('ann') is -1 "
            "when read a second time; reading a reward sets it to 0"),
        (NanReward, ValueError, "in step 1 of episode 1 (1 step tried): get_reward('ann') must be "
            "finite, got nan"),
        (NoReward, TypeError, "in step 1 of episode 1 (1 step tried): get_reward('ann') must be a "
            "number, got NoneType None"),
        (NumberDone, TypeError, "right after reset of episode 1 (0 steps tried): get_done('ann') "
            "must be True or False, got int 0"),
        (ComesBack, ValueError, "in step 2 of episode 1 (2 steps tried): agent 'bob' was done "
            "before and is not done any more"),
        (FlickeringDone, ValueError, "right after reset of episode 1 (0 steps tried): "
            "get_all_done() is False, and True when asked again"),
        (StillDone, ValueError, "right after reset of episode 1 (0 steps tried): the simulation is "
            "done before the first step; reset must start a new episode"),
        (ListInfo, TypeError, "in step 1 of episode 1 (1 step tried): get_info('ann') must be a "
            "dict, got list []; return {} when there is nothing to say"),
        (EatsActions, ValueError, "in step 1 of episode 1 (1 step tried): step changes the dict of "
            "actions that it is given; copy it first"),
        (Picky, ValueError, "failed with KeyError: 'right'; every point of an agent's action space "
            "must be accepted"),
        (OwnChance, ValueError, "two runs with seed 0 and the same actions differ: observations"),
        (UnreadRewards, ValueError, "two runs with seed 0 and the same actions differ: "
            "rewards['ann'] is int -1 and int -2; draw from a stream that reset(seed=...) starts, "
            "and set everything again"),
        (SharedArray, ValueError, "in step 1 of episode 1 (1 step tried): the observation that "
            "get_obs('ann') has returned before has changed since then; return a copy"),
        (SharedBuffer, ValueError, "right after reset of episode 1 (0 steps tried): the "
            "observation that get_obs('ann') has returned before has changed since then"),
        (Unseeded, ValueError, "right after reset of episode 1 (0 steps tried): reset(seed=0) "
            "failed with TypeError: Unseeded.reset() got an unexpected keyword argument 'seed'"),
        (Removes, ValueError, "in step 1 of episode 1 (1 step tried): the ids of the agents have "
            "changed; let agents be inactive instead"),
        (Unfinished, TypeError, "before the first reset (0 steps tried): observation_space of "
            "agent 'ann' must be a gymnasium space, got dict {'cell': Box(0, 4, (1,), int64), "
            "'wind': Box(0.0, 1.0, (1,), float64)}; call self.finalize() at the end of __init__"),
        (SpoiltNull, ValueError, "before the first reset (0 steps tried): null_action of 'bob' is "
            "int 3, which does not lie in Discrete(3)"),
        (Unconfigured, ValueError, "before the first reset (0 steps tried): check_configured() "
            "failed with ValueError: agent 'bob' (Agent) is not configured: action_space missing"),
        (WrongKey, ValueError, "before the first reset (0 steps tried): agents['rob'] has the id "
            "'bob'; the key of an agent must be its id"),
        (Nobody, ValueError, "before the first reset (0 steps tried): no agent both observes and "
            "acts, so there is nobody to play with"),
        (NoAgents, ValueError, "before the first reset (0 steps tried): agents failed with "
            "AttributeError: NoAgents has no agents yet: set self.agents = {agent.id: agent, ...} "
            "in __init__"),
    ],
)  # fmt: skip
def test_broken_simulations(kind, error, message):
    with pytest.raises(error) as caught:
        check_simulation(kind(), num_steps=30)
    text = str(caught.value)
    assert text.startswith(f"{kind.__name__}, ")
    assert message in text
    assert re.search(r"\(\d+ steps? tried\): ", text)


@pytest.mark.parametrize("kind", [OwnChance, Unseeded])
def test_simulations_that_are_not_meant_to_be_seeded(kind):
    assert check_simulation(kind(), num_steps=20, seeded=False).steps == 40


class InTurns(Corridor):
    """One after the other, as a dynamic-order simulation."""

    def reset(self, **kwargs):
        super().reset(**kwargs)
        self.next_agent = "ann"

    def step(self, action_dict, **kwargs):
        assert list(action_dict) == [self.next_agent]
        super().step(action_dict)
        self.pass_on()

    def pass_on(self):
        other = {"ann": "bob", "bob": "ann"}[self.next_agent]
        if not self.get_done(other):
            self.next_agent = other


class Stuck(InTurns):
    def pass_on(self):
        pass


def test_simulations_that_say_who_acts_next():
    assert check_simulation(InTurns(), num_steps=40).steps == 120
    with pytest.raises(ValueError, match=r"next_agent names \['ann'\], none of whom can act; name"):
        check_simulation(Stuck(), num_steps=40)


# Grid worlds whose worlds are not all alike.


class OnlyTheFirst(MoveActor):
    """Moves agents in world 0 of a vectorised simulation only."""

    def process(self, actions):
        found = super().process(actions)
        if self.store.num_worlds > 1:
            self.store.rewards[1:] += 1.0
        return found


class Favours(SmartGridWorldSimulation):
    def step_batch(self, actions):
        super().step_batch(actions)
        self.store.rewards[1:] += 1.0


class Lingers(SmartGridWorldSimulation):
    """Counts steps in an attribute, which single and vectorised worlds do not share."""

    played = 0

    def step_batch(self, actions):
        super().step_batch(actions)
        self.played += 1
        if self.store.num_worlds > 1 and self.played == 3:
            self.store.health[:, 0] = 0.25
            self.store.active[:, 0] = False


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: battle(kind=Favours), "Favours, in step 1 of episode "),
        (lambda: battle(kind=Lingers), "Lingers, in step "),
        (lambda: build([fighter("a"), fighter("b")], actors=[OnlyTheFirst]),
            "SmartGridWorldSimulation, in step 1 of episode "),
    ],
)  # fmt: skip
def test_vectorised_worlds_that_differ(make, message):
    pattern = (
        r"\): world \d of the vectorised simulation is not the single one: .* is .* there and "
        r".* in the single simulation$"
    )
    with pytest.raises(ValueError, match=pattern) as caught:
        check_simulation(make(), num_steps=20)
    assert str(caught.value).startswith(message)


def test_what_is_no_simulation():
    message = "check_simulation takes an AgentBasedSimulation, got "
    with pytest.raises(TypeError, match=f"^{message}AllStepManager .*; check its .sim$"):
        check_simulation(AllStepManager(Corridor()))
    with pytest.raises(TypeError, match=f"^{message}ABCMeta <class .*Corridor'>$"):
        check_simulation(Corridor)
    for name, least, value in (("num_steps", 1, 0), ("num_steps", 1, 2.0), ("seed", 0, -1)):
        with refused(ValueError, f"{name} must be an int of {least} or more, got {value}"):
            check_simulation(Corridor(), **{name: value})


SPACE = Dict({"a": Tuple((Discrete(3), MultiBinary(2))), "b": Dict({"c": MultiDiscrete([2, 3])})})


@pytest.mark.parametrize(
    ("point", "reason"),
    [
        ({"a": (1, [0, 1]), "b": {"c": [1, 2]}}, None),
        ({"a": (1, [0, 1]), "b": {"c": [1, 3]}}, "it['b']['c'] is list [1, 3], which does not lie "
            "in MultiDiscrete([2 3])"),
        ({"a": (1, [0, 1]), "b": {}}, "it['b'] has the keys [], its space has ['c']"),
        ({"a": (3, [0, 1]), "b": {"c": [1, 2]}}, "it['a'] is tuple (3, [0, 1]), which does not lie "
            "in Tuple(Discrete(3), MultiBinary(2))"),
        ([1, 2], "it is list [1, 2], which does not lie in Dict("),
    ],
)  # fmt: skip
def test_why_a_point_is_not_in_a_space(point, reason):
    found = why_outside(SPACE, point, "it")
    assert found == reason if reason is None else found.startswith(reason)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"a": [1, np.array([2.0, np.nan])]}, {"a": [1, np.array([2.0, np.nan])]}, None),
        ({"a": [1, 2]}, {"a": [1, 3]}, "it['a'][1] is int 2 and int 3"),
        ({"a": [1, 2]}, {"a": [1]}, "it['a'] has 2 and 1 entries"),
        ({"a": 1}, {"b": 1}, "it has the keys ['a'] and ['b']"),
        (np.zeros((1, 2)), np.zeros((2, 1)), "it is ndarray array([[0., 0.]]) and ndarray array("),
        (None, None, None),
        ([np.int64(3)], [np.int64(5)], "it[0] is int64 3 and int64 5"),
        ("x", "y", "it is str 'x' and str 'y'"),
    ],
)
def test_differences(one, other, expected):
    found = difference(one, other, "it")
    assert found == expected if expected is None else found.startswith(expected)
