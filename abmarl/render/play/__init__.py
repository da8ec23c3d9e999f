"""Games in the window of a viewer: people's keys as actions of agents."""
