"""Whether a simulation keeps to the rules that managers, trainers and wrappers rely on."""

import copy
from typing import Any, NamedTuple

from abmarl.sim.agent_based_simulation import AgentBasedSimulation
from abmarl.sim.compliance_rules import (
    Finding,
    check_agents,
    difference,
    given_null,
    seeded_spaces,
    shown,
)
from abmarl.sim.compliance_vector import check_vectorised


class Checked(NamedTuple):
    """What `check_simulation` has tried.

    Attributes:
        steps: number of steps played.
        episodes: number of episodes begun.
        vector_steps: number of steps compared with those of a vectorised simulation; 0 for
            simulations that have none.
    """

    steps: int
    episodes: int
    vector_steps: int


def check_simulation(
    sim: AgentBasedSimulation, num_steps: int = 100, seed: int = 0, seeded: bool = True
) -> Checked:
    """Play with a simulation and check that it keeps to the rules.

    Checked are the agents, their spaces and null points; that random actions, given by all agents
    at once and by one after the other, are accepted and left as they are; that observations lie
    in their spaces and do not change once they were handed out; that rewards are finite and read
    once; that agents which are done stay done; that getters return what they should and `reset`
    and `step` nothing; that equal seeds and actions give equal episodes; and, where the simulation
    can be vectorised, that its worlds do just what the single simulation does.

    Args:
        sim: the simulation. It is played with, and left in the middle of some episode.
        num_steps: how many steps each of the plays takes.
        seed: seed of the episodes and the actions, an int >= 0.
        seeded: whether equal seeds are to give equal episodes. Say False for a simulation that is
            not meant to: then its `reset` gets no seed.

    Returns:
        How much was tried.

    Raises:
        TypeError: `sim` is no simulation, or something has a wrong type.
        ValueError: a rule is broken. The message says which, by whom, and in which step.
    """
    if not isinstance(sim, AgentBasedSimulation):
        hint = "; check its .sim" if hasattr(sim, "sim") else ""
        raise TypeError(f"check_simulation takes an AgentBasedSimulation, got {shown(sim)}{hint}")
    for name, value, least in (("num_steps", num_steps, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"{name} must be an int of {least} or more, got {value!r:.60}")
    finding = Finding(sim)
    learning = check_agents(finding)
    play = _Play(finding, learning, seed, seeded)
    record = play.run(num_steps)
    if seeded:
        play.repeat(record)
    play.run(num_steps, one_by_one=True)
    compared = check_vectorised(finding, learning, min(num_steps, 50), seed) if seeded else 0
    return Checked(finding.tried, finding.episode, compared)


class _Play:
    """Plays episodes one after the other and looks at everything that comes of it."""

    def __init__(self, finding: Finding, learning: list[str], seed: int, seeded: bool) -> None:
        self.finding, self.learning, self.seed, self.seeded = finding, learning, seed, seeded
        self.sim = finding.sim
        self.ids = list(self.sim.agents)
        self.done: set[str] = set()
        # What was handed out last, and a copy of it.
        self.handed_out: dict[str, tuple[Any, Any]] = {}

    def run(self, num_steps: int, one_by_one: bool = False) -> list[tuple]:
        """Play with random actions.

        Returns:
            The actions and what came of them, step by step; None stands for the actions of a
            reset.
        """
        spaces = seeded_spaces(self.sim, self.learning, self.seed)
        record = [(None, self.start(first=True))]
        turn = 0
        for number in range(num_steps):
            live = self.next_agents()
            if one_by_one:
                turn += 1
                live = [live[turn % len(live)]]
            actions = {}
            for agent_id in live:
                null = given_null(self.sim.agents[agent_id], "action")
                # In the first step everybody does nothing, where there is an action for it.
                use_null = number == 0 and null is not None
                actions[agent_id] = copy.deepcopy(null) if use_null else spaces[agent_id].sample()
            record.append((actions, self.step(actions)))
            if record[-1][1]["all_done"] or len(self.done) == len(self.learning):
                record.append((None, self.start()))
        return record

    def repeat(self, record: list[tuple]) -> None:
        """Play the same actions from the same seed and compare what comes of them."""
        # Rewards that nobody reads belong to the old episode: the new one must not report them.
        live = self.next_agents()
        spaces = seeded_spaces(self.sim, self.learning, self.seed + 1)
        actions = {agent_id: spaces[agent_id].sample() for agent_id in live}
        self.finding.call("step", self.sim.step, actions)
        for number, (actions, before) in enumerate(record):
            now = self.start(first=not number) if actions is None else self.step(actions)
            for name in before:
                reason = difference(before[name], now[name], name)
                if reason:
                    self.finding.refuse(
                        f"two runs with seed {self.seed} and the same actions differ: {reason}; "
                        f"draw from a stream that reset(seed=...) starts, and set everything anew"
                    )

    def start(self, first: bool = False) -> dict[str, Any]:
        """Reset the simulation; returns observations and dones."""
        finding = self.finding
        finding.episode += 1
        finding.step = 0
        kwargs = {"seed": self.seed} if first and self.seeded else {}
        what = f"reset({', '.join(f'{key}={value}' for key, value in kwargs.items())})"
        self.handed_out = {}
        self.nothing(what, finding.call(what, self.sim.reset, **kwargs))
        obs = self.look(self.learning)
        dones = {agent_id: finding.done(agent_id) for agent_id in self.learning}
        self.done = {agent_id for agent_id, done in dones.items() if done}
        over = finding.all_done()
        if over or len(self.done) == len(self.learning):
            finding.refuse(
                f"{'the simulation' if over else 'every agent'} is done before the first step; "
                f"reset must start a new episode"
            )
        return {"observations": obs, "dones": dones}

    def step(self, actions: dict[str, Any]) -> dict[str, Any]:
        """Step the simulation; returns what its getters say of the agents not done before."""
        finding = self.finding
        finding.tried += 1
        finding.step += 1
        given = copy.deepcopy(actions)
        live = [agent_id for agent_id in self.learning if agent_id not in self.done]
        try:
            returned = self.sim.step(given)
        except Exception as error:
            finding.refuse(
                f"step({shown(actions)[5:]}) failed with {type(error).__name__}: {error}; "
                f"every point of an agent's action space must be accepted",
                cause=error,
            )
        self.nothing("step", returned)
        if list(given) != list(actions) or difference(actions, given, "action_dict"):
            finding.refuse("step changes the dict of actions that it is given; copy it first")
        if list(self.sim.agents) != self.ids:
            finding.refuse("the ids of the agents have changed; let agents be inactive instead")
        found = {
            "observations": self.look(live),
            "rewards": {agent_id: finding.reward(agent_id) for agent_id in live},
            "dones": {agent_id: finding.done(agent_id) for agent_id in self.learning},
            "all_done": finding.all_done(),
        }
        for agent_id in live:
            finding.info(agent_id)
        for agent_id in self.done:
            if not found["dones"][agent_id]:
                finding.refuse(f"agent {agent_id!r} was done before and is not done any more")
        self.done = {agent_id for agent_id, done in found["dones"].items() if done}
        return found

    def next_agents(self) -> list[str]:
        """Who acts next: the agents that are not done, or those that the simulation names."""
        live = [agent_id for agent_id in self.learning if agent_id not in self.done]
        named = getattr(self.sim, "next_agent", None)
        if named is None:
            return live
        named = [named] if isinstance(named, str) else list(named)
        chosen = [agent_id for agent_id in live if agent_id in named]
        if not chosen:
            self.finding.refuse(
                f"next_agent names {named!r:.200}, none of whom can act; name one that is not done"
            )
        return chosen

    def look(self, agent_ids: list[str]) -> dict[str, Any]:
        """The observations of agents; those that were handed out before must be as they were."""
        before, self.handed_out = self.handed_out, {}
        for agent_id in agent_ids:
            obs = self.finding.obs(agent_id)
            self.handed_out[agent_id] = obs, copy.deepcopy(obs)
        for handed_out in (before, self.handed_out):
            for agent_id, (obs, kept) in handed_out.items():
                if difference(kept, obs, "observation"):
                    self.finding.refuse(
                        f"the observation that get_obs({agent_id!r}) has returned before has "
                        f"changed since then; return a copy"
                    )
        return {agent_id: kept for agent_id, (_, kept) in self.handed_out.items()}

    def nothing(self, what: str, returned: Any) -> None:
        """Check that a method has returned nothing."""
        if returned is not None:
            self.finding.refuse(
                f"{what} must return nothing, got {shown(returned)}; "
                f"what it has to say is asked for with the getters",
                TypeError,
            )
