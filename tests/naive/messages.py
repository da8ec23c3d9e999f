"""Messages of speakers: dealt out at the start, then averaged with those of whom they see."""

from .sight import hidden_from


def deal(stream, count):
    """The messages of so many speakers: evenly spaced from 0 to 1, in a random order."""
    messages = [s / max(1, count - 1) for s in range(count)]
    stream.shuffle(messages)
    return messages


def share(world, speakers, messages):
    """What the speakers say next, as a list in their order.

    Args:
        world: NaiveWorld.
        speakers: numbers of agents.
        messages: what they say now, in that order.
    """
    now = dict(zip(speakers, messages, strict=True))
    return [mean(world, one, now) if world.agents[one].active else now[one] for one in speakers]


def mean(world, one, now):
    """The mean of an agent's message and those that it hears."""
    me = world.agents[one]
    hidden = hidden_from(world, me.position, me.view_range)
    total, heard = now[one], 1
    for other, message in now.items():
        agent = world.agents[other]
        offset = (agent.position[0] - me.position[0], agent.position[1] - me.position[1])
        near = max(map(abs, offset)) <= me.view_range
        if other != one and agent.active and near and offset not in hidden:
            total += message
            heard += 1
    return total / heard
