"""task.py: the public names for a task of one's own (docs/your_own_task.md)."""

from granular_gym.arms.description import ArmDescription
from granular_gym.arms.load import load_arm
from granular_gym.engine.drives import Axis, Drive, Joint, joint_drive
from granular_gym.engine.results import turned_boxes
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.arm import Arm, ArmTool
from granular_gym.tasks.beds import Settling, add_sand_and_steel
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.expert import Drivers, Experts, scripted_expert
from granular_gym.tasks.goals import GoalTask, HindsightTask
from granular_gym.tasks.grain_shapes import GRAIN_SHAPES
from granular_gym.tasks.images import Image, sky_camera, view_camera
from granular_gym.tasks.matter import MATTERS
from granular_gym.tasks.pace import Preset
from granular_gym.tasks.recipe import Recipe
from granular_gym.tasks.register import register_task
from granular_gym.tasks.robot_task import RobotTask
from granular_gym.tasks.task import Difficulty, Task
from granular_gym.tasks.touch import TouchPad
from granular_gym.tasks.vehicle import TrackedVehicle
from granular_gym.training.features import Features

__all__ = [
    "GRAIN_SHAPES",
    "MATTERS",
    "ActionPart",
    "Arm",
    "ArmDescription",
    "ArmTool",
    "Axis",
    "Difficulty",
    "Drive",
    "Drivers",
    "Experts",
    "Features",
    "GoalTask",
    "HindsightTask",
    "Image",
    "Joint",
    "Preset",
    "Recipe",
    "RobotTask",
    "Settling",
    "Task",
    "TouchPad",
    "TrackedVehicle",
    "add_sand_and_steel",
    "env_classes",
    "joint_drive",
    "load_arm",
    "register_task",
    "scripted_expert",
    "sky_camera",
    "turned_boxes",
    "view_camera",
]
