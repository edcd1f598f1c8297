"""The tasks, one file each. `granular_gym.tasks.registry` registers them with Gymnasium."""
