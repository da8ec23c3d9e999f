import copy
import itertools
import pickle
import re

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from abmarl.gridworld import MoveActor, OneTeamRemainingDone
from abmarl.gridworld.observer import ObserverBase, PositionCenteredEncodingObserver
from abmarl.sim.conversion import FlattenConversion, RavelConversion
from abmarl.sim.wrappers import (
    FlattenActionWrapper,
    FlattenWrapper,
    RavelDiscreteActionWrapper,
    RavelDiscreteWrapper,
)
from tests.support.grid_worlds import WINDOW, battle, build, fighter

WORLDS = 6


def short_battle():
    """Two fights that end at once, so that worlds are reset all the time."""
    return battle(dones=[OneTeamRemainingDone])


def vectorise(**parameters):
    return short_battle().vectorize(WORLDS, seed=3, horizon=12, **parameters)


def convert(kind, vec):
    return {
        "ravel": lambda: vec.ravel(),
        "flatten": lambda: vec.flatten(),
        "numbers": lambda: vec.flatten(one_hot=False),
    }[kind]()


def expected_conversion(kind, space):
    if kind == "ravel":
        return RavelConversion(space)
    return FlattenConversion(space, one_hot=kind == "flatten")


def check_points(kind, space, converted, channels):
    """Every point of a batch is what it is alone."""
    conversion = expected_conversion(kind, space)
    for b, k in itertools.product(range(converted.shape[0]), range(converted.shape[1])):
        point = {key: array[b, k] for key, array in channels.items()}
        assert np.array_equal(converted[b, k], conversion.convert(point))


@pytest.mark.parametrize("kind", ["ravel", "flatten", "numbers"])
@pytest.mark.parametrize("autoreset", [True, False])
def test_converted_worlds_are_the_same_worlds(kind, autoreset):
    plain, inner = vectorise(autoreset=autoreset), vectorise(autoreset=autoreset)
    vec = convert(kind, inner)
    obs, infos = vec.reset()
    expected, _ = plain.reset()
    ended = 0
    for _ in range(25):
        for name, group in plain.groups.items():
            check_points(kind, group.observation_space, obs[name], expected[name])
        actions = vec.sample_actions()
        chosen = plain.sample_actions()
        for name, group in plain.groups.items():
            check_points(kind, group.action_space, actions[name], chosen[name])
        obs, rewards, terminated, truncated, infos = vec.step(actions)
        expected, *others, plain_infos = plain.step(chosen)
        for one, other in zip((rewards, terminated, truncated), others, strict=True):
            assert all(np.array_equal(one[name], other[name]) for name in plain.groups)
        assert np.array_equal(infos["ended"], plain_infos["ended"])
        worlds = np.flatnonzero(infos["ended"])
        ended += len(worlds)
        for name, group in plain.groups.items():
            final = {k: array[worlds] for k, array in plain_infos["final_obs"][name].items()}
            check_points(kind, group.observation_space, infos["final_obs"][name][worlds], final)
            assert np.array_equal(infos["active"][name], plain_infos["active"][name])
    assert ended >= WORLDS


@pytest.mark.parametrize("kind", ["ravel", "flatten"])
def test_a_world_is_the_wrapped_single_simulation(kind):
    wrapper = {"ravel": RavelDiscreteWrapper, "flatten": FlattenWrapper}[kind]
    vec = wrapper(short_battle()).vectorize(3, seed=5, autoreset=False)
    obs, _ = vec.reset()
    sims = [wrapper(short_battle()) for _ in range(3)]
    for world, sim in enumerate(sims):
        sim.reset(seed=(5, world))
    for _ in range(6):
        actions = vec.sample_actions()
        running = vec.episodes.running.copy()
        alive = vec.episodes.alive.copy()
        for world in np.flatnonzero(running):
            sims[world].step(
                {
                    agent_id: actions[name][world, k]
                    for name, group in vec.groups.items()
                    for k, agent_id in enumerate(group.agent_ids)
                    if alive[world, group.slots[k]]
                }
            )
        obs, rewards, *_ = vec.step(actions)
        for name, group in vec.groups.items():
            for k, agent_id in enumerate(group.agent_ids):
                for world in np.flatnonzero(running):
                    found = sims[world].get_obs(agent_id)
                    assert np.array_equal(obs[name][world, k], found)
                    assert rewards[name][world, k] == sims[world].get_reward(agent_id)


@pytest.mark.parametrize("kind", ["ravel", "flatten"])
def test_threads_change_nothing(kind):
    one, two = (convert(kind, vectorise(num_threads=count)) for count in (1, 2))
    one.reset()
    two.reset()
    for _ in range(15):
        outcome, other = one.step(one.sample_actions()), two.step(two.sample_actions())
        for first, second in zip(outcome[:4], other[:4], strict=True):
            assert all(np.array_equal(first[name], second[name]) for name in first)


def test_spaces_of_the_groups():
    vec = vectorise()
    name, group = next(iter(vec.groups.items()))
    assert vec.ravel().groups[name].action_space == Discrete(18)
    assert vec.ravel().groups[name].observation_space == Discrete(5**9)
    flat = vec.flatten().groups[name]
    assert flat.action_space == Box(np.array([0, 0, -1, -1]), np.array([1, 1, 1, 1]), (4,), np.int8)
    assert flat.observation_space == Box(-2, 2, (9,), np.int8)
    assert flat.agent_ids == group.agent_ids
    obs, _ = vec.flatten().reset()
    assert obs[name].dtype == np.int8
    assert obs[name].shape == (WORLDS, 2, 9)
    obs, _ = vec.ravel().reset()
    assert obs[name].dtype == np.int64
    assert obs[name].shape == (WORLDS, 2)


@pytest.mark.parametrize("method", ["ravel", "flatten"])
def test_one_side_only(method):
    vec = vectorise()
    name, group = next(iter(vec.groups.items()))
    actions_only = getattr(vec, method)(observations=False)
    obs, infos = actions_only.reset()
    assert obs[name][WINDOW].shape == (WORLDS, 2, 3, 3)
    assert infos["final_obs"][name][WINDOW].shape == (WORLDS, 2, 3, 3)
    assert actions_only.groups[name].observation_space == group.observation_space
    assert actions_only.groups[name].action_space != group.action_space
    actions_only.step(actions_only.sample_actions())
    observations_only = getattr(vec, method)(actions=False)
    obs, _ = observations_only.reset()
    assert isinstance(obs[name], np.ndarray)
    assert observations_only.groups[name].action_space == group.action_space
    observations_only.step(observations_only.sample_actions())
    with pytest.raises(TypeError, match="actions must be True or False, got 1"):
        getattr(vec, method)(actions=1)


def test_wrappers_vectorise_alike():
    vec = RavelDiscreteActionWrapper(short_battle()).vectorize(2)
    assert vec.groups["fighter_1"].action_space == Discrete(18)
    assert vec.groups["fighter_1"].observation_space[WINDOW].shape == (3, 3)
    vec = FlattenActionWrapper(short_battle(), one_hot=False).vectorize(2)
    assert vec.groups["fighter_1"].action_space.shape == (3,)
    vec = FlattenWrapper(RavelDiscreteActionWrapper(short_battle())).vectorize(2)
    assert vec.groups["fighter_1"].action_space.shape == (18,)
    assert vec.groups["fighter_1"].observation_space.shape == (9,)
    vec.reset()
    vec.step(vec.sample_actions())


def test_joint_masks():
    vec = vectorise().ravel()
    vec.reset()
    for _ in range(4):
        masks = {name: mask.copy() for name, mask in vec.action_masks().items()}
        single = vec.unwrapped.action_masks()
        for name, mask in masks.items():
            assert mask.shape == (WORLDS, 2, 18)
            attack, move = single[name]["attack"], single[name]["move"]
            for b, k, code in np.ndindex(mask.shape):
                hit, row, col = np.unravel_index(code, (2, 3, 3))
                assert mask[b, k, code] == (attack[b, k, hit] & move[b, k, row, col])
        vec.step(vec.sample_actions())


def test_masks_of_flat_actions_are_by_channel():
    vec = vectorise().flatten()
    vec.reset()
    assert set(vec.action_masks()["fighter_1"]) == {"attack", "move"}


def test_too_many_joint_actions_for_a_mask():
    sim = build([fighter("a", at=(0, 0), move_range=200), fighter("b", 2, at=(0, 2))],
                actors=[MoveActor])  # fmt: skip
    vec = sim.vectorize(2).ravel()
    vec.reset()
    with pytest.raises(ValueError, match=r"'fighter_1' has 160801 joint actions; masks are made"):
        vec.action_masks()


class LonelyActor(MoveActor):
    """Moves without masks."""

    key = "walk"
    masks = property()


def test_channels_without_masks_allow_everything():
    sim = build([fighter("a", at=(0, 0)), fighter("b", 2, at=(0, 2))], actors=[LonelyActor])
    vec = sim.vectorize(2).ravel()
    vec.reset()
    assert vec.unwrapped.action_masks()["fighter_1"] == {}
    mask = vec.action_masks()["fighter_1"]
    assert mask.shape == (2, 1, 9)
    assert mask.all()


def valid(vec):
    return {name: array.copy() for name, array in vec.sample_actions().items()}


@pytest.mark.parametrize("kind", ["ravel", "flatten"])
def test_bad_actions_change_nothing(kind):
    vec = convert(kind, vectorise())
    vec.reset()
    shape = vec.sample_actions()["fighter_2"].shape
    before = vec.state_dict()
    zeros = {name: np.zeros(shape, int) for name in vec.groups}
    wrong = np.zeros(shape, int)
    wrong[4, 1] = 18
    shown = "18" if kind == "ravel" else str([18] * 4)
    cases = [
        (3, TypeError, "actions must be a dict by group, got int"),
        ({"fighter_1": zeros["fighter_1"]}, ValueError, "actions must have exactly the groups ["),
        ({**zeros, "more": 1}, ValueError, "actions must have exactly the groups ["),
        ({**zeros, "fighter_2": wrong[:2]}, ValueError, "actions['fighter_2'] must have shape"),
        ({**zeros, "fighter_2": wrong}, ValueError,
         f"Action of agent 'blue1' in world 4 is {shown}, which is not in"),
        ({**zeros, "fighter_2": -1 - wrong}, ValueError, "Action of agent 'blue0' in world 0 is"),
        ({**zeros, "fighter_2": wrong / 20}, TypeError, "points of"),
    ]  # fmt: skip
    for actions, error, message in cases:
        if error is ValueError and kind == "flatten" and "blue0" in message:
            actions = {**zeros, "fighter_2": -9 - wrong}
        with pytest.raises(error, match="^" + re.escape(message)):
            vec.step(actions)
    after = vec.state_dict()
    assert all(np.array_equal(before[name], after[name]) for name in before if name != "signature")


@pytest.mark.parametrize("kind", ["ravel", "flatten"])
def test_steps_go_on_from_a_saved_state(kind):
    vec, other = convert(kind, vectorise()), convert(kind, vectorise())
    vec.reset()
    for _ in range(7):
        vec.step(valid(vec))
    other.load_state_dict(vec.state_dict())
    assert other.started
    for name, array in vec.observations().items():
        assert np.array_equal(array, other.observations()[name])
    for _ in range(7):
        actions = valid(vec)
        assert all(np.array_equal(one, actions[k]) for k, one in other.sample_actions().items())
        outcome, twin = vec.step(actions), other.step(actions)
        for one, two in zip(outcome[:4], twin[:4], strict=True):
            assert all(np.array_equal(one[name], two[name]) for name in one)


def test_arrays_are_reused_unless_copies_are_wanted():
    for wanted in (False, True):
        vec = vectorise(copy=wanted).flatten()
        first, _ = vec.reset()
        second, *_ = vec.step(vec.sample_actions())
        assert np.shares_memory(first["fighter_1"], second["fighter_1"]) is not wanted
        one, other = vec.sample_actions(), vec.sample_actions()
        assert np.shares_memory(one["fighter_1"], other["fighter_1"]) is not wanted


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda vec: pickle.loads(pickle.dumps(vec))])
def test_copies(duplicate):
    vec = vectorise().ravel()
    vec.reset()
    twin = duplicate(vec)
    actions = valid(vec)
    outcome, others = vec.step(actions), twin.step(actions)
    assert all(np.array_equal(outcome[0][name], others[0][name]) for name in vec.groups)
    assert not np.shares_memory(outcome[0]["fighter_1"], others[0]["fighter_1"])


class Luck(ObserverBase):
    """A number that is never 0, and a share."""

    key = "luck"

    def space(self, agent):
        return Discrete(2, start=5)

    def observe(self, out=None):
        return np.full((self.store.num_worlds, self.store.num_agents), 6)


class Share(ObserverBase):
    key = "share"

    def space(self, agent):
        return Box(0.0, 1.0, (2,), np.float32)

    def observe(self, out=None):
        return np.repeat(self.store.health[:, :, None], 2, axis=2) / 4


def test_worlds_that_were_not_reset_yet_hold_zeros():
    """Which need not lie in the space; nobody is there to observe them."""
    vec = battle(observers=[Luck]).vectorize(4).ravel()
    obs, _ = vec.reset(worlds=[1, 2])
    assert obs["fighter_1"][1:3].tolist() == [[1, 1], [1, 1]]
    obs, *_ = vec.step(vec.sample_actions())
    assert obs["fighter_1"][1:3].tolist() == [[1, 1], [1, 1]]
    vec.reset(worlds=[0])


def test_floats_among_integers():
    sim = battle(observers=[Luck, Share])
    vec = sim.vectorize(4).flatten()
    obs, _ = vec.reset()
    space = vec.groups["fighter_1"].observation_space
    assert obs["fighter_1"].dtype == space.dtype
    assert obs["fighter_1"][3, 1].tolist() == [0, 1, 0.25, 0.25]
    assert all(one in space for one in obs["fighter_1"].reshape(-1, 4))
    numbers, _ = sim.vectorize(4).flatten(one_hot=False).reset()
    assert numbers["fighter_1"][3, 1].tolist() == [1, 0.25, 0.25]


def test_delegation():
    inner = vectorise(order="random")
    vec = inner.flatten().flatten(actions=False, observations=False)
    for name in ("num_envs", "horizon", "num_threads", "order", "autoreset", "copy", "sim",
                 "agents", "rows", "cols", "seed", "store", "episodes", "started"):  # fmt: skip
        assert getattr(vec, name) is getattr(inner, name) or getattr(vec, name) == getattr(
            inner, name
        )
    assert vec.unwrapped is inner
    assert vec.attackable("fighter_1") == {2}
    assert vec.attackers("fighter_1") == {2}
    assert repr(vec) == f"ConvertedSimulation(ConvertedSimulation({inner!r}))"
    with pytest.raises(ValueError, match=r"Call reset\(\) before step\(\)"):
        inner.flatten().step(inner.flatten().sample_actions())


def test_what_cannot_be_ravelled_names_its_group():
    sim = build([fighter("a", at=(0, 0), view_range=4), fighter("b", 2, at=(0, 2))])
    with pytest.raises(
        ValueError, match=r"observation_space of group 'fighter_1' has about .* points"
    ):
        sim.vectorize(2).ravel()


class Liar(PositionCenteredEncodingObserver):
    """Says that it shows less than it does."""

    def space(self, agent):
        return Box(-2, 0, (3, 3), int)


def test_observations_outside_of_their_space_are_told():
    sim = build([fighter("a", at=(0, 0)), fighter("b", 2, at=(0, 1))], observers=[Liar])
    with pytest.raises(ValueError, match=r"Agent 'a' in world 0 observes something that is not in"):
        sim.vectorize(2).ravel().reset()


def test_only_the_groups_named_are_converted():
    plain, inner = vectorise(), vectorise()
    vec = inner.ravel(observations=False, groups=["fighter_1"]).flatten(
        actions=False, groups=["fighter_1"]
    )
    assert vec.groups["fighter_2"].action_space == inner.groups["fighter_2"].action_space
    assert vec.groups["fighter_1"].action_space == Discrete(18)
    vec.reset()
    plain.reset()
    for _ in range(20):
        actions, chosen = vec.sample_actions(), plain.sample_actions()
        assert actions["fighter_1"].shape == (WORLDS, 2)
        obs, *_, infos = vec.step(actions)
        expected, *_, plain_infos = plain.step(chosen)
        assert obs["fighter_1"].shape == (WORLDS, 2, 9)
        for found, wanted in ((obs, expected), (infos["final_obs"], plain_infos["final_obs"])):
            assert np.array_equal(found["fighter_2"][WINDOW], wanted["fighter_2"][WINDOW])
    ended = plain_infos["ended"]
    assert np.array_equal(
        infos["final_obs"]["fighter_1"][ended].reshape(-1, 2, 3, 3),
        plain_infos["final_obs"]["fighter_1"][WINDOW][ended],
    )
    assert vec.action_masks()["fighter_1"].shape == (WORLDS, 2, 18)
    assert set(vec.action_masks()["fighter_2"]) == {"attack", "move"}


def test_groups_to_convert_must_be_there():
    with pytest.raises(ValueError, match=re.escape("There is no group 'green'; the groups are")):
        vectorise().ravel(groups=["green"])
    with pytest.raises(TypeError, match="groups must be None or a list of names, got 'fighter_1'"):
        vectorise().flatten(groups="fighter_1")
