"""tasks: what tasks are made of: `Task`, Gymnasium envs, experts, the registry; vehicles, arms, hoppers.

`task.py` is the class every task derives from; `pace.py` (time step), `beds.py` (materials, settling), `images.py`
(depth images) and `ranges.py` (randomization) hold its parts. `gym_envs.py` shows a task as a `gymnasium.Env` and as a
vector env, `env_classes.py` makes both classes of a task, `registry.py` registers them, `expert.py` is the base of
scripted experts.

The tasks themselves are in `envs/`, installed as `granular_gym.envs`; the registry names them.
"""
