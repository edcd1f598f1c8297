"""baselines.py: what a discrete element learner is compared with, under the same interface.

`Ballistic`: gravity and walls. `GraphNetwork`: a GNS-type network (arXiv 2002.09405), without any symmetry.
`Equivariant`: an EGNN-type one (arXiv 2102.09844), whose messages act along edges. `Subequivariant`: an SGNN-type one
(arXiv 2210.07034), whose vectors are combined by scalars, with gravity as one of them. All are small networks of our
own in the manner of these papers, not their code.

So that the comparison is fair they all have gravity and the Euler step (`simulator.py`), the rest lengths of bonds, the
walls, the relative velocities, the same neighbours, bounded accelerations and heads that begin near zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from granular_gym.learned.encounters import Encounters, meet
from granular_gym.learned.kernels import REACH, SPEED_RANGE, bounded, hush, mlp
from granular_gym.learned.needs import torch
from granular_gym.learned.simulator import Matter, Scale, Simulator, State


class Ballistic(Simulator):
    """Particles fall through each other and stop at walls: what any learner has to beat."""

    name: ClassVar[str] = "ballistic"
    learns: ClassVar[bool] = False

    def accelerations(self, state: State, matter: Matter) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Those by which particles that would leave the box end at its planes."""
        dt, inside = self.scale.step, matter.radius
        falling = state.velocities + matter.gravity * dt
        goal = state.positions + falling * dt
        kept = torch.minimum(torch.maximum(goal, matter.bounds[0] + inside), matter.bounds[1] - inside)
        return (kept - goal) / (dt * dt * self.scale.acceleration), None


@dataclass(frozen=True)
class Edges:
    """Encounters seen from each of their particles: e edges from a sender to a receiver, and w from walls.

    Attributes:
        receiver, sender: (e,) flat ids.
        away: (e, 3) from the receiver to the sender [radii].
        normal: (e, 3).
        velocity: (e, 3) of the sender relative to the receiver.
        scalars: (e, 5): distance, gap, whether it is a bond, normal velocity, sliding speed.
        wall_receiver, wall_normal, wall_velocity, wall_scalars: the same of walls.
        degree: (n, 1) edges and walls of each particle, at least 1.
    """

    receiver: torch.Tensor
    sender: torch.Tensor
    away: torch.Tensor
    normal: torch.Tensor
    velocity: torch.Tensor
    scalars: torch.Tensor
    wall_receiver: torch.Tensor
    wall_normal: torch.Tensor
    wall_velocity: torch.Tensor
    wall_scalars: torch.Tensor
    degree: torch.Tensor

    @classmethod
    def of(cls, met: Encounters, count: int) -> Edges:
        """Edges of `count` particles."""
        mutual = len(met.second)
        bonded = torch.zeros_like(met.gap)
        bonded[met.bonds] = 1.0
        length = met.away.square().sum(-1).clamp_min(1e-12).sqrt()
        scalars = torch.stack([length, met.gap, bonded, met.separation, met.speed], 1).clamp(-SPEED_RANGE, SPEED_RANGE)

        def twice(value: torch.Tensor) -> torch.Tensor:
            return torch.cat([value[:mutual], value[:mutual]])

        def mirrored(value: torch.Tensor) -> torch.Tensor:
            return torch.cat([value[:mutual], -value[:mutual]])

        receiver, wall = torch.cat([met.first[:mutual], met.second]), met.first[mutual:]
        ones = torch.ones(len(receiver) + len(wall), dtype=met.gap.dtype, device=met.gap.device)
        degree = torch.zeros(count, dtype=ones.dtype, device=ones.device).index_add(
            0, torch.cat([receiver, wall]), ones
        )
        return cls(
            receiver,
            torch.cat([met.second, met.first[:mutual]]),
            mirrored(met.away),
            mirrored(met.normal),
            mirrored(met.velocity),
            twice(scalars),
            wall,
            met.normal[mutual:],
            met.velocity[mutual:],
            scalars[mutual:],
            degree.clamp_min(1.0)[:, None],
        )


def gather(count: int, ids: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """(count, k): sums of (e, k) values by id."""
    return torch.zeros(count, values.shape[1], dtype=values.dtype, device=values.device).index_add(0, ids, values)


def bound_vectors(vectors: torch.Tensor, largest: float) -> torch.Tensor:
    """Vectors of the same direction, never longer than `largest`."""
    length = vectors.square().sum(-1, keepdim=True).clamp_min(1e-12).sqrt()
    return vectors * (bounded(length, largest) / length)


class GraphBaseline(Simulator):
    """What the three networks share: edges, one-hot kinds, bounded accelerations.

    Args:
        scale: units.
        width: of the networks.
        layers: of messages.
    """

    def __init__(self, scale: Scale, width: int = 64, layers: int = 2) -> None:
        super().__init__(scale)
        self.width, self.layers = width, layers

    def accelerations(self, state: State, matter: Matter) -> tuple[torch.Tensor, torch.Tensor | None]:
        """See Simulator; a network has no part of normal forces."""
        count = matter.kinds.numel()
        edges = Edges.of(meet(state, matter, self.scale, REACH), count)
        velocity = (state.velocities / self.scale.speed).flatten(0, 1)
        gravity = matter.gravity.to(velocity.dtype) / self.scale.acceleration
        kinds = torch.nn.functional.one_hot(matter.kinds.flatten(), self.scale.kinds).to(velocity.dtype)
        walls = (matter.wall_gaps(state.positions) / self.scale.radius).clamp(-1.0, REACH).flatten(0, 1)
        result = self.react(edges, velocity, gravity, kinds, walls)
        return bound_vectors(result, self.scale.largest).view(state.positions.shape), None

    def react(
        self, edges: Edges, velocity: torch.Tensor, gravity: torch.Tensor, kinds: torch.Tensor, walls: torch.Tensor
    ) -> torch.Tensor:
        """(n, 3) accelerations from (n, 3) velocities, (3,) gravity, (n, k) kinds, (n, 6) clipped gaps to walls."""
        raise NotImplementedError


class GraphNetwork(GraphBaseline):
    """GNS-type: encoder, residual messages, decoder; sees coordinates as they are."""

    name: ClassVar[str] = "gns"

    def __init__(self, scale: Scale, width: int = 64, layers: int = 2) -> None:
        super().__init__(scale, width, layers)
        norm = torch.nn.LayerNorm
        self.node = torch.nn.Sequential(mlp([12 + scale.kinds, width, width]), norm(width))
        self.edge = torch.nn.Sequential(mlp([11, width, width]), norm(width))
        self.messages = torch.nn.ModuleList(
            torch.nn.Sequential(mlp([3 * width, width, width]), norm(width)) for _ in range(layers)
        )
        self.updates = torch.nn.ModuleList(
            torch.nn.Sequential(mlp([2 * width, width, width]), norm(width)) for _ in range(layers)
        )
        self.decode = mlp([width, width, 3], quiet=True)

    def react(
        self, edges: Edges, velocity: torch.Tensor, gravity: torch.Tensor, kinds: torch.Tensor, walls: torch.Tensor
    ) -> torch.Tensor:
        """See GraphBaseline."""
        fall = gravity.expand_as(velocity)
        node = self.node(torch.cat([velocity.clamp(-SPEED_RANGE, SPEED_RANGE), fall, walls, kinds], 1))
        edge = self.edge(torch.cat([edges.away, edges.velocity.clamp(-SPEED_RANGE, SPEED_RANGE), edges.scalars], 1))
        for message, update in zip(self.messages, self.updates, strict=True):
            edge = edge + message(torch.cat([edge, node[edges.receiver], node[edges.sender]], 1))
            node = node + update(torch.cat([node, gather(len(node), edges.receiver, edge)], 1))
        result: torch.Tensor = self.decode(node)
        return result


class Equivariant(GraphBaseline):
    """EGNN-type: messages of scalars; accelerations along edges, and along velocities.

    Args:
        scale, width, layers: see GraphBaseline.
        relative_velocity: messages see normal velocity and sliding speed; the original does not.
    """

    name: ClassVar[str] = "egnn"

    def __init__(self, scale: Scale, width: int = 64, layers: int = 2, relative_velocity: bool = True) -> None:
        super().__init__(scale, width, layers)
        self.seen = 5 if relative_velocity else 3
        self.node = torch.nn.Linear(scale.kinds + 1, width)
        modules = torch.nn.ModuleList
        self.messages = modules(mlp([2 * width + self.seen, width, width]) for _ in range(layers))
        self.wall_messages = modules(mlp([width + self.seen, width, width]) for _ in range(layers))
        self.updates = modules(mlp([2 * width, width, width]) for _ in range(layers))
        self.pulls = modules(mlp([width, width, 1], quiet=True) for _ in range(layers))
        self.wall_pulls = modules(mlp([width, width, 1], quiet=True) for _ in range(layers))
        self.drags = modules(mlp([width, width, 1], quiet=True) for _ in range(layers))

    def react(
        self, edges: Edges, velocity: torch.Tensor, gravity: torch.Tensor, kinds: torch.Tensor, walls: torch.Tensor
    ) -> torch.Tensor:
        """See GraphBaseline."""
        speed = (velocity.square().sum(1, keepdim=True) + 1e-12).sqrt().clamp(max=SPEED_RANGE)
        node, count = self.node(torch.cat([kinds, speed], 1)), len(kinds)
        total = torch.zeros_like(velocity)
        scalars, wall_scalars = edges.scalars[:, : self.seen], edges.wall_scalars[:, : self.seen]
        ids = torch.cat([edges.receiver, edges.wall_receiver])
        for k in range(self.layers):
            message = torch.nn.functional.silu(
                self.messages[k](torch.cat([node[edges.receiver], node[edges.sender], scalars], 1))
            )
            wall = torch.nn.functional.silu(
                self.wall_messages[k](torch.cat([node[edges.wall_receiver], wall_scalars], 1))
            )
            pull = torch.cat([self.pulls[k](message) * edges.normal, self.wall_pulls[k](wall) * edges.wall_normal])
            total = total + gather(count, ids, pull) + self.drags[k](node) * velocity
            node = node + self.updates[k](torch.cat([node, gather(count, ids, torch.cat([message, wall]))], 1))
        return total


class Subequivariant(GraphBaseline):
    """SGNN-type: vectors are combined by what a network makes of their inner products; gravity is one of the vectors.

    It turns with rotations about gravity and no others.
    """

    name: ClassVar[str] = "sgnn"
    #: vectors of a node that a layer passes on
    channels: ClassVar[int] = 4

    def __init__(self, scale: Scale, width: int = 64, layers: int = 2) -> None:
        super().__init__(scale, width, layers)
        channels = self.channels
        # away, normal, relative velocity, gravity; vectors of both nodes
        self.edge_vectors, self.node_vectors = 4 + 2 * channels, 2 + 2 * channels
        self.node = torch.nn.Linear(scale.kinds, width)
        modules = torch.nn.ModuleList
        edge_inputs = 2 * width + 5 + self.edge_vectors**2
        wall_inputs = width + 5 + 9
        node_inputs = 2 * width + self.node_vectors**2
        self.messages = modules(mlp([edge_inputs, width, width]) for _ in range(layers))
        self.mixes = modules(mlp([width, width, self.edge_vectors * channels]) for _ in range(layers))
        self.wall_messages = modules(mlp([wall_inputs, width, width]) for _ in range(layers))
        self.wall_mixes = modules(mlp([width, width, 3 * channels]) for _ in range(layers))
        self.updates = modules(mlp([node_inputs, width, width]) for _ in range(layers))
        self.node_mixes = modules(mlp([width, width, self.node_vectors * channels]) for _ in range(layers))
        self.decode = torch.nn.Linear(channels, 1, bias=False)
        for mix in (*self.mixes, *self.wall_mixes, *self.node_mixes):
            hush(mix[-1])

    def react(
        self, edges: Edges, velocity: torch.Tensor, gravity: torch.Tensor, kinds: torch.Tensor, walls: torch.Tensor
    ) -> torch.Tensor:
        """See GraphBaseline."""
        silu, count = torch.nn.functional.silu, len(kinds)
        node = self.node(kinds)
        vectors = velocity.new_zeros(count, 3, self.channels)
        # of order 1
        down = gravity / gravity.norm().clamp_min(1e-12)
        edge_down = down.expand_as(edges.away)
        wall_own = torch.stack([edges.wall_normal, edges.wall_velocity, down.expand_as(edges.wall_normal)], -1)
        fall = down.expand_as(velocity)
        ids = torch.cat([edges.receiver, edges.wall_receiver])
        for k in range(self.layers):
            own = torch.stack([edges.away, edges.normal, edges.velocity, edge_down], -1)
            seen = torch.cat([own, vectors[edges.receiver], vectors[edges.sender]], -1)
            scalars = torch.cat([node[edges.receiver], node[edges.sender], edges.scalars, _products(seen)], 1)
            message = silu(self.messages[k](scalars))
            passed = torch.matmul(seen, self.mixes[k](message).view(-1, self.edge_vectors, self.channels))
            scalars = torch.cat([node[edges.wall_receiver], edges.wall_scalars, _products(wall_own)], 1)
            wall = silu(self.wall_messages[k](scalars))
            pushed = torch.matmul(wall_own, self.wall_mixes[k](wall).view(-1, 3, self.channels))
            flat = torch.cat([passed, pushed]).flatten(1)
            came = gather(count, ids, flat).view(count, 3, self.channels)
            held = torch.cat([torch.stack([velocity, fall], -1), vectors, came], -1)
            heard = gather(count, ids, torch.cat([message, wall]))
            heard = silu(self.updates[k](torch.cat([node, heard, _products(held)], 1)))
            node = node + heard
            mixed = torch.matmul(held, self.node_mixes[k](heard).view(count, self.node_vectors, self.channels))
            vectors = vectors + came + mixed
        result: torch.Tensor = self.decode(vectors)[..., 0]
        return result


def _products(vectors: torch.Tensor) -> torch.Tensor:
    """(e, m m) inner products of (e, 3, m) vectors, over their norm as a whole, so that fast particles do not rule."""
    products = torch.matmul(vectors.transpose(1, 2), vectors).flatten(1)
    return products / (1.0 + products.square().sum(1, keepdim=True)).sqrt()
