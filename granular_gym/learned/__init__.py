"""granular_gym.learned: simulators of grains that learn from pictures (docs/learned.md)."""
