"""Datasets of episodes in the format of Minari: recorded, played again bit for bit, read by learners."""
