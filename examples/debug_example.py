"""Follow a simulation step by step: random agents in a corridor, everything written down.

Run it:  python examples/debug_example.py [folder]
"""

import sys

from abmarl.examples import MultiCorridor
from abmarl.managers import TurnBasedManager
from abmarl.trainers import DebugTrainer

folder = sys.argv[1] if len(sys.argv) > 1 else "out/debug"
trainer = DebugTrainer(TurnBasedManager(MultiCorridor()), output_dir=folder, seed=0)
trainer.train(iterations=2, horizon=20, seed=0)
for path in sorted(trainer.output_dir.iterdir()):
    print(path)
