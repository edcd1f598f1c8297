"""Experiments, after "The Configurational Element Method for Nonconvex Granular Media" (planar grains),
"Particle-based simulation of granular materials" (clumps in space) and "A convex formulation of frictional contact for
the material point method and rigid bodies" (continuous matter).

`python -m granular_gym scene NAME` runs one (granular_gym/viewing/scene_runs.py).
"""
