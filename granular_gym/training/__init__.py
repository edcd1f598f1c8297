"""training: learners of Stable-Baselines3 on the tasks of this package; needs the `train` extra.

`features.py` says what a learner sees of a task, `learner_env.py` plays a batch of envs for it, `run.py` trains with
checkpoints (`checkpoint.py`) and records (`records.py`), `evaluation.py` compares what was learned with random actions
and with the scripted expert, `policy.py` plays a checkpoint, `command.py` is the command line of
`examples/train_ppo.py` and `examples/train_td3.py`. Of the rest of the package only `play` imports this one, where it
plays a checkpoint.
"""
