"""tasks: what tasks are made of: episodes, spaces, Gymnasium envs, experts, the registry; vehicles, arms, hoppers.

The tasks themselves are in `envs/`, installed as `granular_gym.envs`; the registry names them.
"""
