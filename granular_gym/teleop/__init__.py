"""People who steer a task: what their keys and sticks move, and policies that read a terminal or a gamepad."""
