import numpy as np
import pytest

from abmarl.examples import BlockingAgent, BroadcastingAgent, CommsBlockingSim, comms_blocking


def placed(columns, messages, blockers=(), tolerance=0.05):
    """Broadcasters and blockers in one row of 7 cells."""
    agents = [
        *(BroadcastingAgent(id=f"c{i}", initial_position=(0, c)) for i, c in enumerate(columns)),
        *(BlockingAgent(id=f"b{i}", initial_position=(0, c)) for i, c in enumerate(blockers)),
    ]
    sim = CommsBlockingSim.build_sim(
        1, 7, agents={agent.id: agent for agent in agents}, tolerance=tolerance
    )
    sim.reset(seed=0)
    for i, message in enumerate(messages):
        sim.agents[f"c{i}"].message = message
    return sim


def stay(sim, **moves):
    """One step in which nobody moves but those named; returns the messages."""
    stays = dict.fromkeys(sim.agents, 0) | moves
    sim.step({agent_id: {"move": np.array([0, by])} for agent_id, by in stays.items()})
    return [sim.agents[one].message for one in sim.agents if one.startswith("c")]


def rewards(sim):
    return pytest.approx([sim.get_reward(one) for one in sim.agents])


def test_everybody_hears_those_in_view_at_once():
    sim = placed([0, 3, 6], [0.0, 0.3, 0.9])
    assert stay(sim) == pytest.approx([0.15, 0.4, 0.6])
    assert sim.get_obs("c1")["message"].tolist() == pytest.approx([0.4])
    assert rewards(sim) == [-0.01] * 3


def test_blockers_are_in_the_way():
    sim = placed([0, 2], [0.0, 1.0], blockers=[1])
    assert stay(sim) == [0.0, 1.0]
    assert rewards(sim) == [-0.01, -0.01, 0.01]
    assert not sim.get_all_done()
    # One that has stepped aside hides nobody.
    assert stay(placed([0, 1], [0.0, 1.0], blockers=[2])) == [0.5, 0.5]


def test_far_away():
    assert stay(placed([0, 4], [0.0, 1.0])) == [0.0, 1.0]
    assert stay(placed([0, 4], [0.0, 1.0]), c1=-1) == [0.5, 0.5]


def test_agreement_ends_it():
    sim = placed([0, 1, 5], [0.2, 0.3, 0.25], blockers=[6], tolerance=0.25)
    assert stay(sim, b0=1) == pytest.approx([0.25, 0.25, 0.25])
    assert sim.get_all_done()
    assert rewards(sim) == [0.99, 0.99, 0.99, -0.99 - 0.1]
    assert not sim.get_done("c0")


def test_messages_are_dealt_out():
    sim, dealt = comms_blocking(), set()
    for seed in range(10):
        sim.reset(seed=seed)
        messages = [sim.agents[f"caster{i}"].message for i in range(6)]
        assert sorted(messages) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
        assert sim.get_obs("caster0")["message"].tolist() == [messages[0]]
        assert "message" not in sim.get_obs("blocker0")
        dealt.add(tuple(messages))
    assert len(dealt) > 5


@pytest.mark.parametrize(
    ("tolerance", "error", "message"),
    [
        (1.5, ValueError, r"tolerance must be in \[0, 1\.?0?\], got 1.5"),
        ("a", TypeError, "tolerance must be a number, got 'a'"),
    ],
)
def test_tolerances_that_are_none(tolerance, error, message):
    with pytest.raises(error, match=message):
        placed([0, 1], [], tolerance=tolerance)


def test_one_broadcaster_is_not_enough():
    with pytest.raises(ValueError, match="It takes two broadcasters to agree, there are 1"):
        comms_blocking(num_broadcasters=1)


def test_messages_that_are_none():
    sim = placed([0, 1], [])
    with pytest.raises(ValueError, match=r"'c0': message must be in \[0"):
        sim.agents["c0"].message = 2.0
