"""extractor.py: the body of the networks of Stable-Baselines3's learners here: that of this package's own.

Without layer normalisation PPO did not begin to learn the bulldozer in the time in which it learns it with it
(docs/learning.md).
"""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor

from granular_gym.training.networks import perceptron


class Perceptron(BaseFeaturesExtractor):
    """Two hidden layers, normalised and rectified, before the linear ones of policy and value.

    Args:
        space: a Box of one axis.
        width: of the layers.
    """

    def __init__(self, space: Any, width: int = 128) -> None:
        super().__init__(space, width)
        self.net: Any = perceptron(space.shape[0], width, width)[:-1]

    def forward(self, observations: Tensor) -> Tensor:
        """(n, width) from (n, size)."""
        values: Tensor = self.net(observations)
        return values
