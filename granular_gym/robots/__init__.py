"""Robots of other engines among grains: the interface, and MuJoCo."""
