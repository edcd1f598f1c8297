"""Experiments, after "The Configurational Element Method for Nonconvex Granular Media" (planar grains) and
"Particle-based simulation of granular materials" (clumps in space).

`python -m granular_gym scene NAME` runs one (granular_gym/viewing/scene_runs.py).
"""
