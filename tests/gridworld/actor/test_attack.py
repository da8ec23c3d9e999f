"""Attacks aimed at encodings and at cells, in the object form and as arrays."""

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete

from abmarl.gridworld import (
    AmmoAgent,
    AmmoObserver,
    BinaryAttackActor,
    CrossMoveActor,
    EncodingBasedAttackActor,
    MoveActor,
    OneTeamRemainingDone,
    RestrictedSelectiveAttackActor,
    SelectiveAttackActor,
)
from abmarl.managers import AllStepManager
from tests.support.equivalence import replay
from tests.support.grid_worlds import FighterAgent, build, fighter, wall

# Arrays are printed on several lines.
OUTSIDE = r"(?s)agent 'a' on channel 'attack' is .*, which is not in"
AIMED = [EncodingBasedAttackActor, SelectiveAttackActor, RestrictedSelectiveAttackActor]


def skirmish(actor, stacked=False, **attacker):
    """
    . . b . .
    c a b . .       a (1) attacks b (2) and c (3) twice; two b share a cell above it
    . . . w b       w (9) blocks
    """
    attacker = {"simultaneous_attacks": 2, "attack_strength": 0.25, **attacker}
    agents = [
        fighter("a", 1, (1, 1), **attacker),
        fighter("b0", 2, (0, 2)),
        fighter("b1", 2, (1, 2)),
        fighter("b2", 2, (0, 2)),
        fighter("c", 3, (1, 0)),
        wall("w", 9, (2, 3)),
        fighter("b3", 2, (2, 4)),
    ]
    return build(
        agents, actors=[actor], attack_mapping={1: {2, 3}, 2: 1}, stacked_attacks=stacked,
        overlapping={2: 2},
    )  # fmt: skip


def attack(sim, action, name="a"):
    attempted, hit = sim.actors["attack"].process_action(sim.agents[name], {"attack": action})
    return attempted, sorted(agent.id for agent in hit)


def test_spaces():
    channel = {kind: skirmish(kind).agents["a"] for kind in AIMED}
    spaces = [agent.action_space["attack"] for agent in channel.values()]
    assert spaces[0] == Dict({2: Discrete(3), 3: Discrete(3)})
    assert spaces[1] == Box(0, 2, (3, 3), int)
    assert spaces[2] == MultiDiscrete([10, 10])
    nulls = [agent.null_action["attack"] for agent in channel.values()]
    assert nulls[0] == {2: 0, 3: 0}
    assert nulls[1].tolist() == np.zeros((3, 3)).tolist()
    assert nulls[2].tolist() == [0, 0]


def test_attacks_by_encoding():
    sim = skirmish(EncodingBasedAttackActor)
    sim.reset(seed=0)
    assert attack(sim, {2: 0, 3: 0}) == (False, [])
    assert attack(sim, {2: 0, 3: 2}) == (True, ["c"])  # the second one is lost
    assert sim.agents["c"].health == 0.75
    attempted, hit = attack(sim, {2: 2, 3: 1})
    assert attempted
    assert len(hit) == 3
    assert "c" in hit
    assert len({"b0", "b1", "b2"} & set(hit)) == 2


def test_stacked_attacks_by_encoding():
    sim = skirmish(EncodingBasedAttackActor, stacked=True)
    sim.reset(seed=0)
    assert attack(sim, {2: 0, 3: 2}) == (True, ["c", "c"])
    assert sim.agents["c"].health == 0.5


def test_attacks_per_cell():
    sim = skirmish(SelectiveAttackActor)
    sim.reset(seed=0)
    assert attack(sim, [[0, 0, 0], [2, 0, 0], [2, 2, 2]]) == (True, ["c"])
    assert attack(sim, [[0, 0, 2], [0, 0, 0], [0, 0, 0]]) == (True, ["b0", "b2"])
    assert attack(sim, np.full((3, 3), 2)) == (True, ["b0", "b1", "b2", "c"])
    assert attack(sim, np.zeros((3, 3), int)) == (False, [])
    assert attack(sim, [[1, 0, 0], [0, 0, 0], [0, 0, 0]]) == (True, [])


def test_cells_that_are_listed():
    sim = skirmish(RestrictedSelectiveAttackActor)
    sim.reset(seed=0)
    assert attack(sim, [0, 4]) == (True, ["c"])
    assert attack(sim, [4, 4]) == (True, ["c"])  # nobody twice
    assert attack(sim, [3, 3]) == (True, ["b0", "b2"])
    assert attack(sim, [6, 1]) == (True, ["b1"])
    assert attack(sim, [0, 0]) == (False, [])
    stacked = skirmish(RestrictedSelectiveAttackActor, stacked=True)
    stacked.reset(seed=0)
    assert attack(stacked, [4, 4]) == (True, ["c", "c"])


@pytest.mark.parametrize("actor", AIMED)
def test_a_blocker_protects(actor):
    sim = skirmish(actor, attack_range=3)
    sim.reset(seed=0)
    window = np.zeros((7, 7), int)
    window[4, 6] = 1
    action = {
        EncodingBasedAttackActor: {2: 2, 3: 0},
        SelectiveAttackActor: window,
        RestrictedSelectiveAttackActor: [4 * 7 + 6 + 1, 0],
    }[actor]
    before = sim.agents["b3"].health
    for _ in range(4):
        assert "b3" not in attack(sim, action)[1]
    assert sim.agents["b3"].health == before
    sim.grid.remove(sim.agents["w"], (2, 3))
    if actor is not EncodingBasedAttackActor:
        assert attack(sim, action) == (True, ["b3"])


def test_agents_without_a_choice_do_not_have_the_channel():
    by_encoding = skirmish(EncodingBasedAttackActor)
    by_encoding.reset(seed=0)
    assert "attack" not in by_encoding.agents["c"].action_space.spaces
    assert attack(by_encoding, {}, "c") == (False, [])
    listed = skirmish(RestrictedSelectiveAttackActor, simultaneous_attacks=0)
    listed.reset(seed=0)
    assert "attack" not in listed.agents["a"].action_space.spaces


@pytest.mark.parametrize(
    ("actor", "action"),
    [
        (EncodingBasedAttackActor, {2: 3, 3: 0}),
        (EncodingBasedAttackActor, {2: 1}),
        (EncodingBasedAttackActor, {2: 1, 3: 1, 4: 0}),
        (EncodingBasedAttackActor, {2: 0.5, 3: 1}),
        (EncodingBasedAttackActor, [1, 1]),
        (SelectiveAttackActor, np.ones((3, 2), int)),
        (SelectiveAttackActor, np.full((3, 3), 3)),
        (SelectiveAttackActor, np.ones((3, 3))),
        (RestrictedSelectiveAttackActor, [10, 0]),
        (RestrictedSelectiveAttackActor, [1]),
        (RestrictedSelectiveAttackActor, [-1, 0]),
    ],
)
def test_actions_out_of_space(actor, action):
    sim = skirmish(actor)
    sim.reset(seed=0)
    before = sim.state_dict()
    with pytest.raises(ValueError, match=OUTSIDE):
        attack(sim, action)
    with pytest.raises(ValueError, match=OUTSIDE):
        sim.step({"a": {"attack": action}})
    after = sim.state_dict()
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("actor", AIMED)
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"attack_mapping": None}, ValueError, "needs to know who may attack whom"),
        ({"attack_mapping": {1: 7}}, ValueError, "names encoding 7, which no agent has"),
        ({"attack_mapping": [1]}, TypeError, "attack_mapping must be a dict"),
        ({"stacked_attacks": 1}, TypeError, "stacked_attacks must be True or False"),
    ],
)
def test_parameters(actor, parameters, error, message):
    agents = [fighter("a", 1), fighter("b", 2)]
    with pytest.raises(error, match=message):
        build(agents, actors=[actor], **{"attack_mapping": {1: 2}, **parameters})


def test_too_many_hits_to_count():
    with pytest.raises(ValueError, match="simultaneous_attacks can be 32767 at most"):
        skirmish(EncodingBasedAttackActor, simultaneous_attacks=20_000)


def test_arrays_have_the_encodings_side_by_side():
    vec = skirmish(EncodingBasedAttackActor).vectorize(2, seed=0)
    vec.reset()
    group = next(name for name, one in vec.groups.items() if "a" in one.agent_ids)
    assert vec.groups[group].action_space["attack"] == MultiDiscrete([3, 3])
    actions = {
        name: {key: np.zeros_like(array) for key, array in channels.items()}
        for name, channels in vec.sample_actions().items()
    }
    actions[group]["attack"][1, 0] = [0, 2]
    vec.step(actions)
    assert vec.store.health[:, 4].tolist() == [1.0, 0.75]
    actions[group]["attack"][1, 0] = [0, 3]
    with pytest.raises(ValueError, match=r"'a' in world 1 on channel 'attack' is \[0, 3\]"):
        vec.step(actions)


@pytest.mark.parametrize("actor", AIMED)
def test_masks(actor):
    vec = skirmish(actor).vectorize(1, seed=0)
    vec.reset()
    group = next(name for name, one in vec.groups.items() if "a" in one.agent_ids)
    mask = vec.action_masks()[group]["attack"][0, 0]
    window = np.zeros((3, 3), bool)
    window[[1, 1, 0], [0, 2, 2]] = True
    if actor is EncodingBasedAttackActor:
        assert mask.all()
        assert mask.shape == (2, 3)
    elif actor is SelectiveAttackActor:
        assert mask[..., 0].all()
        assert np.array_equal(mask[..., 1], window)
        assert np.array_equal(mask[..., 2], window)
    else:
        assert mask[:, 0].all()
        assert np.array_equal(mask[:, 1:], np.tile(window.reshape(-1), (2, 1)))


@pytest.mark.parametrize("move", [MoveActor, CrossMoveActor])
@pytest.mark.parametrize("actor", AIMED)
def test_worlds_are_single_simulations(actor, move):
    def make_sim():
        agents = [
            fighter(f"{team}{k}", team, simultaneous_attacks=k + 1, attack_range=k,
                    attack_strength=0.5, attack_accuracy=0.9)
            for team in (1, 2, 3) for k in (0, 1, 2)
        ]  # fmt: skip
        return build(
            [*agents, wall("w")], 5, 4, actors=[actor, move], overlapping={1: {1, 2}},
            attack_mapping={1: {2, 3}, 2: {3, 1}}, dones=[OneTeamRemainingDone],
            rewards={"attack_missed": -0.1, "kill": 1, "killed": -1},
        )  # fmt: skip

    assert replay(make_sim, 60, 3, 5, 20, "random", 2, save_at=30) >= 3


def test_managers_take_the_dict():
    manager = AllStepManager(skirmish(EncodingBasedAttackActor))
    manager.reset(seed=0)
    actions = {name: agent.action_space.sample() for name, agent in manager.sim.agents.items()
               if name in ("a", "b0")}  # fmt: skip
    manager.step(actions)


def test_attacks_are_noted_for_those_who_watch():
    """In their order, misses too; the oldest are forgotten when there is no room left."""
    sim = skirmish(EncodingBasedAttackActor, attack_strength=0.0)
    sim.reset(seed=0)
    actor = sim.actors["attack"]
    attack(sim, {2: 2, 3: 1})
    assert actor.noted(0)[0].tolist() == []  # nobody has watched so far
    attack(sim, {2: 0, 3: 1})
    found, count = actor.noted(0)
    assert found.tolist() == [[0, 4]]
    attack(sim, {2: 0, 3: 1}, "a")
    sim.agents["c"].active = False
    attack(sim, {2: 0, 3: 1})
    found, later = actor.noted(0, count)
    assert found.tolist() == [[0, 4], [0, -1]]
    assert actor.noted(0, later)[0].tolist() == []
    for _ in range(200):
        attack(sim, {2: 0, 3: 1})
    assert 0 < len(actor.noted(0, later)[0]) < 200


def test_attacks_are_noted_in_several_worlds():
    """Each for itself, until more are watched than there is room for."""
    vec = skirmish(EncodingBasedAttackActor, attack_strength=0.0).vectorize(6, seed=0)
    vec.reset()
    actor = vec.part_of(0)[0].actors["attack"]
    counts = {world: actor.noted(world)[1] for world in (5, 1)}
    actions = vec.sample_actions()
    for channels in actions.values():
        if "attack" in channels:
            channels["attack"][:] = 0
            channels["attack"][[0, 5]] = 1
    vec.step(actions)
    found = actor.noted(5, counts[5])[0]
    assert found[:2, 0].tolist() == [0, 0]  # a attacked twice
    assert actor.noted(5, counts[5])[0].tolist() == found.tolist()
    assert actor.noted(1, counts[1])[0].size == 0
    assert actor.noted(0)[0].size == 0  # was not watched until now
    for world in (2, 3):
        actor.noted(world)
    vec.step(actions)
    assert actor.noted(0)[0].size > 0
    assert actor.noted(5)[0].size == 0  # looked at longest ago, and so given up


def test_where_a_world_is_played():
    vec = skirmish(SelectiveAttackActor).vectorize(5, seed=0, num_threads=2)
    parts = [vec.part_of(world) for world in range(5)]
    assert [number for _, number in parts] in ([0, 1, 0, 1, 2], [0, 1, 2, 0, 1])
    assert len({id(sim) for sim, _ in parts}) == 2
    for world in (-1, 5):
        with pytest.raises(ValueError, match=f"no world {world}; there are 0 to 4"):
            vec.part_of(world)


class ArcherAgent(FighterAgent, AmmoAgent):
    """A fighter whose attacks need ammo."""


def range_of_targets(actor, ammo=2, **parameters):
    """An archer between three targets."""
    agents = [
        fighter("a", 1, (1, 1), kind=ArcherAgent, initial_ammo=ammo, simultaneous_attacks=3),
        *(fighter(f"b{k}", 2, (0, k)) for k in range(3)),
    ]
    sim = build(
        agents, actors=[actor], observers=[AmmoObserver], attack_mapping={1: 2}, **parameters
    )
    sim.reset(seed=0)
    sim.agents["a"].ammo = ammo
    return sim


ACTIONS = {
    BinaryAttackActor: 3,
    EncodingBasedAttackActor: {2: 3},
    SelectiveAttackActor: np.ones((3, 3), int),
    RestrictedSelectiveAttackActor: [1, 2, 3],
}


@pytest.mark.parametrize("actor", ACTIONS)
def test_every_hit_takes_one(actor):
    sim = range_of_targets(actor)
    archer = sim.agents["a"]
    attempted, hit = sim.actors["attack"].process_action(archer, {"attack": ACTIONS[actor]})
    assert attempted
    assert len(hit) == 2
    assert archer.ammo == 0
    assert sum(agent.active for agent in sim.agents.values()) == 2
    assert sim.actors["attack"].process_action(archer, {"attack": ACTIONS[actor]}) == (True, [])
    assert archer.ammo == 0


@pytest.mark.parametrize("actor", ACTIONS)
def test_who_is_hit_is_random(actor):
    found = set()
    for seed in range(40):
        sim = range_of_targets(actor, ammo=1)
        sim.reset(seed=seed)
        sim.agents["a"].ammo = 1
        hit = sim.actors["attack"].process_action(sim.agents["a"], {"attack": ACTIONS[actor]})[1]
        found |= {agent.id for agent in hit}
    assert found == {"b0", "b1", "b2"}


def test_misses_are_free():
    sim = range_of_targets(BinaryAttackActor)
    for name in ("b0", "b1", "b2"):
        sim.agents[name].health = 0
        sim.grid.remove(sim.agents[name], sim.agents[name].position)
    assert sim.actors["attack"].process_action(sim.agents["a"], {"attack": 3}) == (True, [])
    assert sim.agents["a"].ammo == 2


def test_without_ammo_no_attack_has_a_target():
    vec = range_of_targets(BinaryAttackActor).vectorize(2, seed=0)
    vec.reset()
    vec.store.ammo[:, 0] = [2, 0]
    assert vec.action_masks()["archer"]["attack"][:, 0].tolist() == [[1] * 4, [1, 0, 0, 0]]


def test_the_count():
    agent = ArcherAgent(id="a", encoding=1, initial_ammo=7, view_range=1, move_range=1,
                        attack_range=1, attack_strength=1, attack_accuracy=1)  # fmt: skip
    agent.ammo = -3
    assert agent.ammo == 0
    agent.ammo = 3
    assert agent.ammo == 3
    for wrong in (1.5, "1", None, True):
        with pytest.raises(TypeError, match="ammo must be an int"):
            agent.ammo = wrong
    assert agent.ammo == 3
    sim = build([agent], observers=[AmmoObserver])
    assert sim.store.ammo.dtype == np.int32
    sim.agents["a"].ammo = -3
    assert sim.agents["a"].ammo == 0


@pytest.mark.parametrize("ammo", [1.5, "3", True])
def test_initial_ammo_is_an_int(ammo):
    with pytest.raises(TypeError, match="initial_ammo must be an int"):
        AmmoAgent(id="a", encoding=1, initial_ammo=ammo)


def test_an_agent_without_initial_ammo_is_not_configured():
    assert not AmmoAgent(id="a", encoding=1).configured
    assert AmmoAgent(id="a", encoding=1, initial_ammo=0).configured


def test_the_observer():
    sim = range_of_targets(BinaryAttackActor)
    archer = sim.agents["a"]
    assert archer.observation_space["ammo"] == Discrete(3)
    assert archer.null_observation == {"ammo": 0}
    assert sim.get_obs("a") == {"ammo": 2}
    assert sim.get_obs("b0") == {}
    archer.ammo = 9
    assert sim.get_obs("a") == {"ammo": 2}  # within its space
    archer.ammo = 1
    assert sim.get_obs("a") == {"ammo": 1}
