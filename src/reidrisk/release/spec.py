"""Specs of a release: what defines a measurement, a fit and a validation, as frozen values and as options."""

from pathlib import Path

from pydantic import Field

from reidrisk.base.specs import Spec


class SetsSpec(Spec):
    """What is declared about top sets, since it must not be read off the people."""

    top_k: int | None = Field(None, description="Size of a full set; default: as the file or the model declares.")
    n_tokens: int | None = Field(None, description="Size of the vocabulary, of tokens that are numbers.")
    vocabulary: Path | None = Field(None, description="All labels there are: one per line, or a JSON list.")


class MeasureSpec(Spec):
    """How statistics are measured, beside epsilon and delta; see :func:`reidrisk.release.statistics`."""

    budget: str = Field("joint", description="'joint', one mechanism over all counts, or 'split' as published.")
    epochs: int | None = Field(None, description="How many epochs to measure, from the first; default: all.")
    simulation: bool = Field(False, description="Noise with a seed, for trying out; it protects nobody.")
    seed: int | None = Field(None, description="Seed of the noise, with --simulation only.")


class FitSpec(Spec):
    """How a model is fitted; see :func:`reidrisk.release.fit_mixture`."""

    types: int = Field(500, description="Number of types.")
    epochs: int = Field(4, description="Epochs of the model; any number.")
    steps: int = Field(2000, description="Steps of the fit.")
    learning_rate: float = Field(0.1, description="Largest rate of the optimiser.")
    device: str | None = Field(None, description="'cuda' or 'cpu'; default: a GPU where there is one.")
    seed: int = Field(0, description="Seed of the start.")


class ValidationSpec(Spec):
    """How a release is validated; see :func:`reidrisk.release.validate.run.validate`."""

    canary: int = Field(10_000, description="Releases with and without a canary to attack the stated noise; 0: none.")
    trials: int = Field(10, description="Trials of the attacks, real and synthetic; 0: none.")
    queries: int = Field(10_240, description="People to be found again in each trial.")
    noise: float = Field(0.05, description="Probability that a site is shown a random token.")
    no_refit: bool = Field(False, description="Use the one model in all trials instead of fitting anew for each.")
    device: str | None = Field(None, description="Where to fit anew: 'cuda' or 'cpu'.")
    seed: int | None = Field(None, description="Same seed, same result; default: a random one.")
