"""env_classes.py: makes the two Gymnasium env classes of a task."""

from __future__ import annotations

from granular_gym.tasks.gym_envs import GranularEnv, GranularVectorEnv
from granular_gym.tasks.registry import id_at
from granular_gym.tasks.task import Task


def env_classes(task_class: type[Task]) -> tuple[type[GranularEnv], type[GranularVectorEnv]]:
    """The classes of one env and of a native batch: of a task `XTask` they are `XEnv` and `XVectorEnv`.

    They belong to the module of the task, which must keep them under these names: pickles and entry points look for
    them there.

    Args:
        task_class: whose arguments both take.
    """
    module, name = task_class.__module__, task_class.__name__.removesuffix("Task")
    task_id = id_at(f"{module}:{name}")
    single, batch = f"{name}Env", f"{name}VectorEnv"
    arguments = f"arguments: {task_class.__name__}"
    made_by = ("One env", "A batch of envs")
    if task_id is not None:
        made_by = f'`gymnasium.make("{task_id}")`', f'`gymnasium.make_vec("{task_id}", num_envs=n)`'
    own = {"task_class": task_class, "__module__": module}
    return (
        type(single, (GranularEnv,), {**own, "__qualname__": single, "__doc__": f"{made_by[0]}; {arguments}."}),
        type(
            batch,
            (GranularVectorEnv,),
            {**own, "__qualname__": batch, "__doc__": f"{made_by[1]}; {arguments}, GranularVectorEnv."},
        ),
    )
