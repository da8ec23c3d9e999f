"""Channels of actors as one number."""

from abmarl.gridworld.wrapper.base import ActorWrapper
from abmarl.gridworld.wrapper.codes import Code


class RavelActionWrapper(ActorWrapper):
    """Numbers the actions of an actor: mixed radix, later entries fastest.

    The channel is one ``Discrete`` with a number for every point of the wrapped one, as
    ``RavelDiscreteWrapper`` has it for whole action spaces. All else is as ``ActorWrapper`` says.

    Raises:
        TypeError, ValueError: A space of the actor is not made of bounded integers, or has more
            points than a 64-bit integer counts.
    """

    def code(self, space, name):
        """One segment: all entries."""
        return Code([space], name)

    def split(self, point):
        """The point as it is."""
        return [point]

    def join(self, points, space):
        """The point as it is."""
        return points[0]
