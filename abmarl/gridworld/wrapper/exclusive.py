"""Dict channels of which one part acts at a time."""

from gymnasium.spaces import Dict

from abmarl.gridworld.wrapper.base import ActorWrapper
from abmarl.gridworld.wrapper.codes import Code


class ExclusiveChannelActionWrapper(ActorWrapper):
    """Numbers the actions of a ``Dict`` channel in which one subspace acts at a time.

    Every subspace is ravelled, and the numbers are laid end to end with a single shared zero: for
    ``{2: Discrete(3), 3: Discrete(3)}`` the points 0 to 4 are (0, 0), (1, 0), (2, 0), (0, 1) and
    (0, 2). All else is as ``ActorWrapper`` says.

    Raises:
        TypeError: A space of the actor is no ``Dict``.
        ValueError: A subspace is not made of bounded integers, or there are more points than a
            64-bit integer counts.
    """

    def code(self, space, name):
        """A segment per subspace."""
        if not isinstance(space, Dict):
            raise TypeError(
                f"{type(self).__name__} takes an actor with a Dict channel, such as "
                f"EncodingBasedAttackActor; {name} is {space}. RavelActionWrapper takes any."
            )
        return Code(space.spaces.values(), name)

    def split(self, point):
        """The values of the subspaces."""
        return list(point.values())

    def join(self, points, space):
        """The values of the subspaces by their keys."""
        return dict(zip(space.spaces, points, strict=True))
