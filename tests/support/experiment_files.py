"""Experiment files for tests, in the old style with everything that can be told apart."""

import textwrap

HEAD = """
from abmarl.examples import MultiCorridor
from abmarl.managers import TurnBasedManager

manager = TurnBasedManager(MultiCorridor(end=5, num_agents=2))
agent = manager.agents["agent0"]
spaces = (agent.observation_space, agent.action_space)
"""
PARAMS = """
params = {{
    "experiment": {{"title": "Walk", "sim_creator": lambda config=None: manager{experiment}}},
    "ray_tune": {{
        "run_or_experiment": {algorithm!r},
        "stop": {{{stop}}},
        "local_dir": {local_dir!r},
        "config": {{
            "env": "walk",
            "horizon": 20,
            "num_workers": 0,
            "multiagent": {{{multiagent}}},
            {config}
        }},
        {tune}
    }},
}}
"""
MULTIAGENT = (
    '"policies": {"walker": (None, *spaces, {})}, "policy_mapping_fn": lambda one: "walker"'
)


def write(
    folder, name="walk.py", head="", experiment="", algorithm="PG", stop="'training_iteration': 2",
    multiagent=MULTIAGENT, config="", tune="", local_dir=None,
):  # fmt: skip
    """Write an experiment and return its path."""
    text = PARAMS.format(
        experiment=experiment, algorithm=algorithm, stop=stop, multiagent=multiagent,
        config=config, tune=tune, local_dir=None if local_dir is None else str(local_dir),
    )  # fmt: skip
    path = folder / name
    path.write_text(HEAD + textwrap.dedent(head) + text)
    return path
