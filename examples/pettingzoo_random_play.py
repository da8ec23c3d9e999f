"""Team battles through PettingZoo: random play, of moves and attacks that would do something.

Run it:  python examples/pettingzoo_random_play.py  (needs abmarl[pettingzoo])
"""

from collections import Counter

from abmarl.examples import team_battle
from abmarl.external import PettingZooParallelWrapper
from abmarl.sim.wrappers import RavelDiscreteActionWrapper


def play(env, seed):
    """Plays one battle; returns the teams that are left and how many steps it took."""
    _, infos = env.reset(seed=seed)
    survivors, steps = env.agents, 0
    while env.agents:
        actions = {
            agent: env.action_space(agent).sample(infos[agent]["action_mask"])
            for agent in env.agents
        }
        *_, infos = env.step(actions)
        steps += 1
        survivors = [agent for agent in actions if env.sim.agents[agent].active]
    return {env.sim.agents[agent].render_color for agent in survivors}, steps


def main(episodes=20, horizon=500, seed=0):
    """Plays some battles and says who wins.

    Returns:
        How many battles every team has won; those without a winner count as "nobody".
    """
    # One number per action, so that a mask says of every move and attack whether it is possible.
    sim = RavelDiscreteActionWrapper(team_battle())
    env = PettingZooParallelWrapper(sim, horizon=horizon, action_masks=True)
    for number, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(seed + number)
    wins = Counter()
    for episode in range(episodes):
        teams, steps = play(env, seed + episode)
        winner = teams.pop() if len(teams) == 1 else "nobody"
        wins[winner] += 1
        print(f"battle {episode}: {winner} wins after {steps} steps")
    print(", ".join(f"{team}: {count}" for team, count in wins.most_common()))
    return dict(wins)


if __name__ == "__main__":
    main()
