"""training: who acts: learners of Stable-Baselines3, of this package, planners, policies by name.

`features.py`: what a learner observes of a task; `learner_env.py` plays a batch of envs for it; `run.py` trains with
checkpoints (`checkpoint.py`) and records (`records.py`); `sac.py` learns from demonstrations (`demonstrations.py`) and
experience (`replay.py`) with the networks of `networks.py`, from vectors or from pixels (`gaze.py`, `rows.py`);
`offline.py` learns from datasets alone, whose episodes come from `sources.py`; `evaluation.py` compares what was
learned with random actions and with the scripted expert; `command.py` is the command line of `examples/train_ppo.py`,
`train_td3.py` and `train_sac.py`.
These need the `train` extra; `datasets.py` (what datasets there are), `planning.py`, `policies.py` (the scripted
expert, random actions, checkpoints, functions) and `sb3.py` (a batch of envs for Stable-Baselines3) can be imported
without it.
"""
