"""The tasks, one file each. `granular_gym.tasks` registers them with Gymnasium."""
