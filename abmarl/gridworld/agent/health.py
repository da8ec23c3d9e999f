"""What ``HealthAgent`` of earlier releases is now."""

from abmarl.gridworld.agent.base import GridWorldAgent


class _EveryGridAgent(type(GridWorldAgent)):
    def __instancecheck__(cls, instance):
        if cls is HealthAgent:
            return isinstance(instance, GridWorldAgent)
        return super().__instancecheck__(instance)


class HealthAgent(GridWorldAgent, metaclass=_EveryGridAgent):
    """Any grid agent, all of which have health.

    A class of its own, because existing code derives from it beside other agent classes, in any
    order.
    """
