"""What a predator-prey simulation is configured with: defaults and checks."""

import copy
import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from abmarl.examples.sim.base import check_int
from abmarl.examples.sim.predator_prey_observations import OBSERVATIONS

REWARDS = {
    "predator": {"kill": 1.0, "attack_missed": -0.1, "move_failed": -0.1, "step": -0.01},
    "prey": {
        "harvest": 0.1,
        "harvest_failed": -0.1,
        "killed": -1.0,
        "move_failed": -0.1,
        "step": -0.01,
    },
}
"""What brings how much; ``harvest`` is for a full harvest_amount, a part of it brings its share."""

RESOURCES = {"coverage": 0.75, "max_value": 1.0, "regrow": 0.04}
"""Share of the cells that bear resources, how much a cell holds, what comes back per step."""

DEFAULTS = {
    "region": 10,
    "max_steps": 200,
    "observation_mode": "grid",
    "rewards": REWARDS,
    "resources": RESOURCES,
}


def configure(given: Mapping[str, Any], predator: type, prey: type) -> dict[str, Any]:
    """A whole configuration, with copies of the agents that have all their parameters.

    Args:
        given: what differs from the defaults.
        predator, prey: the classes of the agents.

    Raises:
        TypeError, ValueError: a key is unknown, or a value is of the wrong kind or out of range.
    """
    config = _merged("sim_config", {**DEFAULTS, "agents": None}, given)
    check_int("region", config["region"], 1)
    check_int("max_steps", config["max_steps"], 1)
    if config["observation_mode"] not in OBSERVATIONS:
        raise ValueError(
            f"observation_mode must be one of {', '.join(map(repr, OBSERVATIONS))}, "
            f"got {config['observation_mode']!r:.60}"
        )
    for name, least, most in (("coverage", 0, 1), ("max_value", 0, None), ("regrow", 0, None)):
        _check_number(f"resources[{name!r}]", config["resources"][name], least, most)
    config["agents"] = _agents(config["agents"], config["region"], predator, prey)
    return config


def _agents(given: Any, region: int, predator: type, prey: type) -> list[Any]:
    agents = list(given.values()) if isinstance(given, Mapping) else given
    if not isinstance(agents, list | tuple):
        raise TypeError(f"agents must be a list or dict of Predator and Prey, got {agents!r:.60}")
    made = []
    for agent in agents:
        if not isinstance(agent, predator | prey):
            raise TypeError(f"agents must be Predator or Prey, got {type(agent).__name__}")
        if agent.id in {one.id for one in made}:
            raise ValueError(f"there are two agents with the id {agent.id!r}")
        agent = copy.copy(agent)
        defaults = {"move": 1, "view": region - 1, "attack": 1, "harvest_amount": 0.1}
        for name, default in defaults.items():
            if getattr(agent, name, default) is None:
                setattr(agent, name, default)
        for name in ("move", "view", "attack"):
            check_int(f"{name} of agent {agent.id!r}", getattr(agent, name, 0), 0)
        amount = getattr(agent, "harvest_amount", 1)
        _check_number(f"harvest_amount of agent {agent.id!r}", amount, 0)
        if not amount:
            raise ValueError(f"harvest_amount of agent {agent.id!r} must be more than 0")
        made.append(agent)
    if not any(isinstance(agent, prey) for agent in made):
        raise ValueError("agents must hold one Prey at least: without prey nothing happens")
    return made


def _merged(name: str, defaults: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """The defaults with what is given put in their place, one level after the other."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict, got {given!r:.60}")
    for key in given:
        if key not in defaults:
            close = difflib.get_close_matches(str(key), defaults, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise ValueError(
                f"{name} has no key {key!r}{hint}; there are {', '.join(map(repr, defaults))}"
            )
    found = {}
    for key, default in defaults.items():
        value = given.get(key, default)
        if isinstance(default, Mapping):
            value = _merged(f"{name}[{key!r}]", default, value)
        elif isinstance(default, float):
            _check_number(f"{name}[{key!r}]", value)
        found[key] = value
    return found


def _check_number(name: str, value: Any, least: Any = None, most: Any = None) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number, got {value!r:.60}")
    if not np.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    if least is not None and value < least:
        raise ValueError(f"{name} must be {least} or more, got {value}")
    if most is not None and value > most:
        raise ValueError(f"{name} must be {most} or less, got {value}")
