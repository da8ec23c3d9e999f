"""Actors in wrappers: ravelled and exclusive channels."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from abmarl.gridworld import (
    BinaryAttackActor,
    EncodingBasedAttackActor,
    ExclusiveChannelActionWrapper,
    GridWorldSimulation,
    HealthState,
    MoveActor,
    PositionState,
    RavelActionWrapper,
    SelectiveAttackActor,
    SmartGridWorldSimulation,
)
from abmarl.gridworld.actor import ActorBase
from tests.support.equivalence import replay
from tests.support.grid_worlds import FighterAgent, build, fighter

# The actions of {2: Discrete(3), 3: Discrete(3)} by number.
EXCLUSIVE = [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2)]
RAVELLED = [(b, c) for b in range(3) for c in range(3)]
CODED = partial(ExclusiveChannelActionWrapper, EncodingBasedAttackActor)


def agents():
    """a (1) may attack two b (2) and two c (3) around it."""
    return [
        fighter("a", 1, (1, 1), simultaneous_attacks=2, attack_strength=0.25),
        fighter("b0", 2, (0, 0)),
        fighter("b1", 2, (0, 1)),
        fighter("c0", 3, (2, 1)),
        fighter("c1", 3, (2, 2)),
    ]


def skirmish(*actors, **parameters):
    return build(agents(), actors=list(actors), attack_mapping={1: {2, 3}}, **parameters)


def counts(hit):
    return tuple(sum(agent.encoding == encoding for agent in hit) for encoding in (2, 3))


@pytest.mark.parametrize(
    ("wrapper", "expected"),
    [(ExclusiveChannelActionWrapper, EXCLUSIVE), (RavelActionWrapper, RAVELLED)],
)
def test_the_numbers_of_a_dict_channel(wrapper, expected):
    sim = skirmish(partial(wrapper, EncodingBasedAttackActor))
    agent = sim.agents["a"]
    assert agent.action_space == Dict(attack=Discrete(len(expected)))
    assert agent.null_action == {"attack": 0}
    for code, attacks in enumerate(expected):
        sim.reset(seed=0)
        attempted, hit = sim.actors["attack"].process_action(agent, {"attack": code})
        assert attempted == (code > 0)
        assert counts(hit) == attacks
    for wrong in (-1, len(expected), 1.0, {2: 1, 3: 0}):
        with pytest.raises(ValueError, match="agent 'a' on channel 'attack' is"):
            sim.actors["attack"].process_action(agent, {"attack": wrong})
    assert sim.actors["attack"].process_action(sim.agents["b0"], {"attack": 1}) == (False, [])
    assert sim.actors["attack"].process_action(agent, {}) == (False, [])


def test_numbers_of_moves():
    sim = build(
        [fighter("a", 1, (2, 2), move_range=2)], actors=[partial(RavelActionWrapper, MoveActor)]
    )
    sim.reset(seed=0)
    assert sim.agents["a"].action_space["move"] == Discrete(25)
    assert sim.agents["a"].null_action["move"] == 12
    assert sim.actors["move"].process_action(sim.agents["a"], {"move": 3}) is True
    assert sim.agents["a"].position.tolist() == [0, 3]
    assert sim.actors["move"].process_action(sim.agents["a"], {"move": 0}) is False


def test_a_move_mask_is_ravelled_row_by_row():
    plain = build([fighter("a", 1, (0, 1))], actors=[MoveActor]).vectorize(1, seed=0)
    coded = build([fighter("a", 1, (0, 1))], actors=[partial(RavelActionWrapper, "MoveActor")])
    coded = coded.vectorize(1, seed=0)
    for vec in (plain, coded):
        vec.reset()
    mask = plain.action_masks()["fighter"]["move"][0, 0]
    assert not mask.all()
    assert np.array_equal(coded.action_masks()["fighter"]["move"][0, 0], mask.reshape(-1))


@pytest.mark.parametrize(
    ("wrapper", "expected"),
    [(ExclusiveChannelActionWrapper, EXCLUSIVE), (RavelActionWrapper, RAVELLED)],
)
def test_masks(wrapper, expected):
    vec = skirmish(partial(wrapper, EncodingBasedAttackActor)).vectorize(2, seed=0, num_threads=2)
    vec.reset()
    group = next(name for name, one in vec.groups.items() if "a" in one.agent_ids)
    for name in ("b0", "b1"):
        slot = vec.store.index[name]
        vec.store.active[1, slot] = False
    found = vec.action_masks()[group]["attack"][:, 0]
    assert found[0].all()
    assert found[1].tolist() == [b == 0 for b, _ in expected]


def test_joint_masks_of_ravelled_worlds():
    vec = skirmish(EncodingBasedAttackActor).vectorize(2, seed=0)
    vec.reset()
    group = next(name for name, one in vec.groups.items() if "a" in one.agent_ids)
    for name in ("c0", "c1"):
        vec.store.active[1, vec.store.index[name]] = False
    joint = vec.ravel(observations=False).action_masks()[group][:, 0]
    assert joint[0].all()
    assert joint[1].tolist() == [c == 0 for _, c in RAVELLED]


def test_too_many_actions_for_masks():
    sim = skirmish(partial(RavelActionWrapper, SelectiveAttackActor))
    assert sim.agents["a"].action_space["attack"] == Discrete(3**9)
    assert hasattr(sim.actors["attack"], "masks")
    large = build(
        [fighter("a", 1, attack_range=1, simultaneous_attacks=3)],
        actors=[partial(RavelActionWrapper, SelectiveAttackActor)], attack_mapping={},
    )  # fmt: skip
    assert large.agents["a"].action_space["attack"] == Discrete(4**9)
    assert not hasattr(large.actors["attack"], "masks")


class ObjectStyleSim(GridWorldSimulation):
    """Wraps its actors by hand."""

    def __init__(self, **kwargs):
        super().__init__(agents=kwargs["agents"], grid=kwargs["grid"])
        self.states = [PositionState(**kwargs), HealthState(**kwargs)]
        self.attack = ExclusiveChannelActionWrapper(EncodingBasedAttackActor(**kwargs))
        self.move = RavelActionWrapper(MoveActor(**kwargs))
        self.finalize()

    def reset(self, **kwargs):
        for state in self.states:
            state.reset(**kwargs)

    def step(self, action_dict, **kwargs):
        self.hit = {
            name: self.attack.process_action(self.agents[name], action)
            for name, action in action_dict.items()
        }
        for name, action in action_dict.items():
            self.move.process_action(self.agents[name], action)

    def get_obs(self, agent_id, **kwargs):
        return {}

    get_reward = get_done = get_all_done = get_obs


def test_the_object_style():
    team = {agent.id: agent for agent in agents()}
    sim = ObjectStyleSim.build_sim(3, 5, agents=team, attack_mapping={1: {2, 3}})
    assert sim.agents["a"].action_space == Dict(attack=Discrete(5), move=Discrete(9))
    sim.reset(seed=0)
    action = {"attack": 4, "move": 5}
    sim.step({"a": action})
    assert counts(sim.hit["a"][1]) == (0, 2)
    assert sim.agents["a"].position.tolist() == [1, 2]
    assert action == {"attack": 4, "move": 5}


class ArrayStyleSim(SmartGridWorldSimulation):
    """Makes its actors in __init__, keeps the one within too, and runs them in step_batch."""

    def __init__(self, **kwargs):
        super().__init__(states=[PositionState, HealthState], **kwargs)
        self.inner = EncodingBasedAttackActor(**kwargs)
        self.attack = ExclusiveChannelActionWrapper(self.inner)

    def step_batch(self, actions):
        outcome = self.attack.process(actions)
        self.store.rewards[...] += outcome.hits


def test_the_array_style():
    team = {agent.id: agent for agent in agents()}
    sim = ArrayStyleSim.build_sim(
        3, 5, agents=team, attack_mapping={1: {2, 3}}, observers=["AbsolutePositionObserver"]
    )
    sim.reset(seed=0)
    sim.step({"a": {"attack": 2}})
    assert sim.get_reward("a") == 2
    vec = sim.vectorize(3, seed=0)
    vec.reset()
    group = next(name for name, one in vec.groups.items() if "a" in one.agent_ids)
    actions = {name: {key: 0 * array for key, array in channels.items()}
               for name, channels in vec.sample_actions().items()}  # fmt: skip
    actions[group]["attack"][:, 0] = [0, 1, 4]
    assert vec.step(actions)[1][group][:, 0].tolist() == [0, 1, 2]
    assert vec.attackable(group) == {2, 3}


def make_sim():
    team = [
        fighter(f"{encoding}{k}", encoding, simultaneous_attacks=k + 1, attack_strength=0.5)
        for encoding in (1, 2, 3) for k in (0, 1)
    ]  # fmt: skip
    return build(
        team, 5, 4, actors=[CODED, partial(RavelActionWrapper, MoveActor)],
        attack_mapping={1: {2, 3}, 2: {3, 1}},
        rewards={"attack_missed": -0.1, "kill": 1, "killed": -1, "move_failed": -0.5},
    )  # fmt: skip


@pytest.mark.parametrize("num_threads", [1, 2])
def test_worlds_are_single_simulations(num_threads):
    assert replay(make_sim, 60, 3, 5, 20, "random", num_threads, save_at=30) >= 3


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda sim: pickle.loads(pickle.dumps(sim))])
def test_copies(twin):
    one = make_sim()
    one.reset(seed=3)
    other = twin(one)
    for sim in (one, other):
        sim.step({"10": {"attack": 1, "move": 0}, "21": {"attack": 3, "move": 8}})
    before, after = one.state_dict(), other.state_dict()
    assert all(np.array_equal(before[name], after[name]) for name in before)


class NudgeActor(ActorBase):
    """A user's own actor, without kernels."""

    key = "nudge"
    supported_agent_type = FighterAgent

    def space(self, agent):
        return Dict(down=Discrete(2), by=Box(-1, 1, (2,), int))

    def run(self, turns, num_turns, flat, rows_of, fresh):
        self.outcome = [
            flat[rows_of[i, 0] : rows_of[i, 0] + 3].tolist() for i in turns[0, : num_turns[0]]
        ]
        return self.outcome


def test_a_users_actor():
    sim = build([fighter("a")], actors=[partial(RavelActionWrapper, NudgeActor)])
    assert sim.agents["a"].action_space["nudge"] == Discrete(18)
    assert sim.agents["a"].null_action == {}
    sim.reset(seed=0)
    assert sim.actors["nudge"].process_action(sim.agents["a"], {"nudge": 17}) == [[1, 1, 1]]
    sim.step({"a": {"nudge": 1}})
    assert sim.actors["nudge"].outcome == [[0, -1, 0]]


def test_wrappers_nest():
    twice = partial(RavelActionWrapper, partial(RavelActionWrapper, MoveActor))
    sim = build([fighter("a", 1, (1, 1))], actors=[twice])
    sim.reset(seed=0)
    move = sim.actors["move"]
    assert repr(move) == "RavelActionWrapper(RavelActionWrapper(MoveActor()))"
    assert isinstance(move.unwrapped, MoveActor)
    sim.step({"a": {"move": 8}})
    assert sim.agents["a"].position.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("actor", "error", "message"),
    [
        (
            partial(ExclusiveChannelActionWrapper, MoveActor),
            TypeError,
            "takes an actor with a Dict",
        ),
        (partial(RavelActionWrapper, "MoveActr"), ValueError, "did you mean 'MoveActor'"),
        (partial(RavelActionWrapper, PositionState), TypeError, "actors are given as subclasses"),
        (partial(RavelActionWrapper, 3), TypeError, "actors are given as subclasses"),
        (partial(dict, 3), TypeError, "actors are given as subclasses"),
        (partial(MoveActor, speed=3), TypeError, "No component of this simulation takes 'speed'"),
        (
            partial(RavelActionWrapper, partial(MoveActor, speed=3)),
            TypeError,
            "No component of this simulation takes 'speed'",
        ),
    ],
)
def test_bad_input(actor, error, message):
    with pytest.raises(error, match=message):
        build([fighter("a")], actors=[actor])


def test_too_many_points():
    with pytest.raises(ValueError, match=r"channel 'attack' has .* points"):
        build(
            [fighter("a", attack_range=4)],
            actors=[partial(RavelActionWrapper, SelectiveAttackActor)], attack_mapping={},
        )  # fmt: skip


def test_a_partial_has_parameters_of_its_own():
    sim = build(
        agents(), actors=[partial(BinaryAttackActor, stacked_attacks=True)], stacked_attacks=False,
        attack_mapping={1: 2},
    )  # fmt: skip
    assert sim.actors["attack"].stacked_attacks
