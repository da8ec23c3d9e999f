"""HealthState: the health that agents start with."""


def reset_health(world, stream):
    """Give every agent its initial health, else a random one in (0, 1); all are active.

    Args:
        world: NaiveWorld.
        stream: the dynamics stream.
    """
    for agent in world.agents:
        if agent.initial_health is not None:
            agent.health = agent.initial_health
        else:
            agent.health = 0.0
            while agent.health == 0.0:
                agent.health = stream.uniform()
        agent.active = True
