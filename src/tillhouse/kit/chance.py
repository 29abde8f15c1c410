"""Chance: one source for all draws that aren't ids, which can be neither seeded nor foreseen."""

import random

# The module's own functions share a state that any thread moves and that a library may set.
CHANCE: random.Random = random.SystemRandom()
