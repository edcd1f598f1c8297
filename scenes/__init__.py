"""Experiments with planar grains, after "The Configurational Element Method for Nonconvex Granular Media".

`python -m granular_gym scene NAME` runs one (granular_gym/viewing/scene_runs.py).
"""
