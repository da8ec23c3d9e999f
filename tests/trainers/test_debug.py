import re
from pathlib import Path

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from abmarl.managers import AllStepManager, TurnBasedManager
from abmarl.sim import Agent
from abmarl.trainers import DebugTrainer
from abmarl.trainers.debug import point_text

BY_EVENT = """\
Reset
  a0 observation: 0
Step 1
  a0 action: 1
  a1 observation: 0
  a1 reward: 0
  a1 done: False
  all done: False
Step 2
  a1 action: 0
  a0 observation: 1
  a0 reward: 10
  a0 done: True
  a1 observation: 0
  a1 reward: -1
  a1 done: False
  all done: False
"""

BY_AGENT = """\
a0
  observations
    0: 0
    1: 1
  actions
    0: 1
  rewards
    0: 10
  dones
    0: True
a1
  observations
    0: 0
    1: 0
  actions
    0: 0
  rewards
    0: -1
  dones
    0: False
"""


def test_both_files(chain, script, tmp_path):
    policies = {"go": script([1], 1), "stay": script([0], 1)}
    trainer = DebugTrainer(
        TurnBasedManager(chain(length=1, num_agents=2)),
        policies,
        lambda one: "go" if one == "a0" else "stay",
        output_dir=tmp_path / "new" / "folder",
    )
    trainer.train(iterations=1, horizon=2)
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == [
        "Episode_0_by_agent.txt",
        "Episode_0_by_event.txt",
    ]
    assert (folder / "Episode_0_by_event.txt").read_text() == BY_EVENT
    assert (folder / "Episode_0_by_agent.txt").read_text() == BY_AGENT


def texts(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_random_policies_by_seed(chain, tmp_path):
    for name, seed in (("one", 1), ("two", 1), ("other", 2)):
        sim = chain(num_agents=2, slip=0.5)
        trainer = DebugTrainer(AllStepManager(sim), output_dir=tmp_path / name, seed=seed)
        trainer.train(iterations=3, horizon=15, seed=4, render=name == "one")
        assert bool(sim.rendered) == (name == "one")
    one, two, other = (texts(tmp_path / name) for name in ("one", "two", "other"))
    assert len(one) == 6
    assert one == two != other
    # The two agents do not do the same, nor do two episodes.
    actions = [re.findall(rf"{one} action: (\d)", two["Episode_0_by_event.txt"])
               for one in ("a0", "a1")]  # fmt: skip
    assert actions[0] != actions[1]
    assert one["Episode_0_by_event.txt"] != one["Episode_1_by_event.txt"]


def test_what_happened_before_a_failure_is_there(chain, tmp_path):
    class Failing(chain):
        def step(self, action_dict, **kwargs):
            super().step(action_dict)
            if self.state["a0"] == 2:
                raise RuntimeError("broken")

    trainer = DebugTrainer(AllStepManager(Failing()), output_dir=tmp_path, seed=1)
    with pytest.raises(RuntimeError, match="broken"):
        trainer.train()
    (path,) = tmp_path.iterdir()
    assert path.read_text().startswith("Reset\n  a0 observation: 0\nStep 1\n")


def test_the_default_folder(chain, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    trainer = DebugTrainer(AllStepManager(chain()), name="Chains")
    assert re.fullmatch(r"Chains-\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", trainer.output_dir.name)
    assert not any(tmp_path.iterdir())
    trainer.train(iterations=1)
    assert trainer.output_dir.parent == tmp_path / "abmarl_results"
    assert len(list(trainer.output_dir.iterdir())) == 2


def test_bad_parameters(chain, tmp_path):
    sim = AllStepManager(chain())
    with pytest.raises(ValueError, match="give both or none"):
        DebugTrainer(sim, policies={})
    with pytest.raises(ValueError, match="give both or none"):
        DebugTrainer(sim, policy_mapping_fn=str)
    with pytest.raises(TypeError, match="needs a simulation manager"):
        DebugTrainer(chain())
    with pytest.raises(ValueError, match="iterations must be 1 or more"):
        DebugTrainer(sim, output_dir=tmp_path / "x").train(iterations=0)
    assert not (tmp_path / "x").exists()


def test_any_space_will_do(chain, tmp_path):
    class Nested(chain):
        def get_obs(self, agent_id, **kwargs):
            return {"x": np.array([[0.5, -1]], np.float32), "y": np.int64(3)}

        def step(self, action_dict, **kwargs):
            super().step({key: int(one[0]) for key, one in action_dict.items()})

    sim = Nested()
    space = Dict({"x": Box(-1, 1, (1, 2)), "y": Discrete(4)})
    sim.agents = {"a0": Agent(id="a0", observation_space=space, action_space=Box(0, 1, (2,), int))}
    sim.finalize()
    DebugTrainer(AllStepManager(sim), output_dir=tmp_path, seed=0).train(iterations=1, horizon=1)
    text = (tmp_path / "Episode_0_by_event.txt").read_text()
    assert "a0 observation: {x: [[0.5, -1.0]], y: 3}\n" in text
    assert re.search(r"a0 action: \[[01], [01]\]\n", text)


def test_points_are_one_line():
    assert point_text((np.arange(3000).reshape(2, -1), np.True_, None)).count("\n") == 0
    assert point_text((1, {"a": 2.5})) == "(1, {a: 2.5})"
