"""What the neural attack learnt, in a file: tensors and plain values, of which nothing is run when they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reidrisk.attacks.neural.users import TrainingUsers
from reidrisk.io.atomic import PathLike, write_atomically
from reidrisk.sequence.pairs import PairSizes

if TYPE_CHECKING:
    from reidrisk.sequence.pairs.training import PairModel

FORMAT = "reidrisk neural attack 1"


class Learned(NamedTuple):
    """A model, marks of who trained, the ``kind`` of their records and of their labels, and whether of ``shorter``."""

    model: PairModel
    users: TrainingUsers
    kind: str
    labels: str
    shorter: float


def write(learned: Learned, path: PathLike) -> None:
    """Write it; an interrupted run leaves the old file or none."""
    import torch

    model, users = learned.model, learned.users
    sizes = model.network.sizes
    held = {
        "format": FORMAT,
        "kind": learned.kind,
        "labels": learned.labels,
        "encoder": model.encoder.described(),
        "pair_sizes": {name: getattr(sizes, name) for name in PairSizes.__dataclass_fields__},
        "state": [
            {name: value.detach().cpu() for name, value in part.state_dict().items()}
            for part in (model.encoder, model.network)
        ],
        "curve": list(model.curve),
        "shorter": learned.shorter,
        "ids": None if users.ids is None else torch.from_numpy(np.array(users.ids)),
        "records": torch.from_numpy(np.array(users.records)),
    }
    with write_atomically(path) as temporary:
        torch.save(held, temporary)


def read_learned(path: PathLike, device: str | None = None) -> Learned:
    """Read what :func:`write` wrote, to a device; default: a GPU where there is one."""
    import torch

    from reidrisk.sequence.pairs.encoders import SetEncoder, TraceEncoder
    from reidrisk.sequence.pairs.network import PairNetwork
    from reidrisk.sequence.pairs.training import PairModel
    from reidrisk.sequence.trained import read

    held = read(path, FORMAT)
    is_traces = held["kind"] == "Traces"
    encoder: Any = (TraceEncoder if is_traces else SetEncoder).made(held["encoder"])
    network = PairNetwork(PairSizes(**held["pair_sizes"]), encoder.size, held["encoder"]["n_tokens"] * is_traces)
    where = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    for part, state in zip((encoder, network), held["state"], strict=True):
        part.load_state_dict(state)
        part.to(where).eval()
    users = TrainingUsers(None if held["ids"] is None else held["ids"].numpy(), held["records"].numpy())
    model = PairModel(encoder, network, tuple(held["curve"]))
    return Learned(model, users, held["kind"], held["labels"], held.get("shorter", 0.0))
