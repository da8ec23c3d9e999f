"""Managers: who acts when, and what is reported to whom."""

from abmarl.managers.all_step_manager import AllStepManager
from abmarl.managers.dynamic_order_manager import DynamicOrderManager
from abmarl.managers.simulation_manager import SimulationManager
from abmarl.managers.turn_based_manager import TurnBasedManager

__all__ = ["AllStepManager", "DynamicOrderManager", "SimulationManager", "TurnBasedManager"]
