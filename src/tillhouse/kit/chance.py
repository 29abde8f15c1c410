"""Chance: one source for all draws that aren't ids, which nobody can seed or foresee."""

import random

# The module's own functions share a state that any thread moves and that a library may set.
CHANCE: random.Random = random.SystemRandom()
