"""The mixture of types: closed form, fit, samples, files."""

import itertools
import json
import os
import stat
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reidrisk.release.model.fit as fitting
from reidrisk import ReidRiskError, TopSets, Vocabulary, release
from reidrisk.base.streams import BLOCK
from reidrisk.populations.type_mixture import n_terms
from reidrisk.release import PUBLISHED, Statistics, TypeMixture
from reidrisk.release.model.objective import Objective

torch = pytest.importorskip("torch", reason="torch is not installed; fitting needs it")


@pytest.fixture(autouse=True)
def one_thread():
    """These models are tiny: threads would wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def random_model(seed, shape=None, spread=1.5, **named):
    rng = np.random.default_rng(seed)
    shape = shape or tuple(int(rng.integers(low, high)) for low, high in ((1, 4), (1, 4), (1, 4), (2, 6)))
    return TypeMixture(rng.normal(scale=spread, size=shape), **named)


def targets_of(model, statement=PUBLISHED):
    """Return the statistics of a stationary model as targets."""
    q = model.statistics()
    across = q.across[0] if len(q.across) else np.zeros(q.within.shape[1:])
    return Statistics(q.single[0], q.within[0], across, model.k, statement)


def random_targets(seed, n, k=2):
    rng = np.random.default_rng(seed)
    within = rng.random((n, n))
    within = (within + within.T) * ~np.eye(n, dtype=bool) / n
    return Statistics(rng.random(n), within, rng.random((n, n)), k, PUBLISHED)


def test_the_number_of_terms_is_that_of_the_paper():
    assert n_terms(4, 469) == 1_100_743


@pytest.mark.parametrize("shape", [(2, 2, 2, 3), (1, 2, 3, 4), (3, 2, 1, 3)])
def test_the_closed_form_is_the_sum_over_all_draws(shape):
    model = random_model(1, shape)
    t, r, k, n = shape
    single, within, across = np.zeros((r, n)), np.zeros((r, n, n)), np.zeros((r - 1, n, n))
    for kind in range(t):
        p = [model.probabilities(i)[kind] for i in range(r)]
        for drawn in itertools.product(range(n), repeat=r * k):
            sets = [set(drawn[i * k : (i + 1) * k]) for i in range(r)]
            chance = np.prod([p[i][s][drawn[i * k + s]] for i in range(r) for s in range(k)]) / t
            for i in range(r):
                for a in sets[i]:
                    single[i, a] += chance
                    for b in sets[i] - {a}:
                        within[i, a, b] += chance
                    if i + 1 < r:
                        for b in sets[i + 1]:
                            across[i, a, b] += chance
    q = model.statistics()
    assert q.single == pytest.approx(single)
    assert q.within == pytest.approx(within)
    assert q.across == pytest.approx(across)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), at_once=st.sampled_from([1, 200, 0]))
def test_the_objective_in_torch_is_that_of_the_closed_form(seed, at_once):
    model = random_model(seed)
    target = random_targets(seed, model.n_tokens, model.k)
    objective = Objective(target.single, target.within, target.across, dtype=torch.float64, at_once=at_once)
    found, _ = objective(torch.tensor(model.theta, dtype=torch.float64))
    assert float(found) == pytest.approx(model.objective(target), rel=1e-10)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_gradient_is_that_of_finite_differences(seed):
    model = random_model(seed)
    target = random_targets(seed, model.n_tokens, model.k)
    objective = Objective(target.single, target.within, target.across, dtype=torch.float64)
    theta = torch.tensor(model.theta, dtype=torch.float64)
    gradient = objective(theta)[1] / n_terms(model.n_epochs, model.n_tokens)
    rng = np.random.default_rng(seed)
    direction = torch.tensor(rng.normal(size=theta.shape))
    step = 1e-5
    slope = (objective(theta + step * direction)[0] - objective(theta - step * direction)[0]) / (2 * step)
    assert float((gradient * direction).sum()) == pytest.approx(float(slope), rel=1e-5, abs=1e-10)


def stationary(seed, shape=(3, 1, 2, 6)):
    """Return a model whose epochs are alike, so that one set of targets fits all of them."""
    one = random_model(seed, shape, spread=3.0)
    return TypeMixture(np.repeat(one.theta, 3, axis=1))


@pytest.mark.parametrize("n_epochs", [1, 2, 5])
def test_a_fit_finds_a_model_with_the_given_statistics(n_epochs):
    target = targets_of(stationary(0))
    model = release.fit_mixture(target, n_types=12, n_epochs=n_epochs, seed=1, steps=600, device="cpu")
    assert model.n_epochs == n_epochs
    assert model.objective(target) < 1e-6
    assert model.report.objective == pytest.approx(model.objective(target), rel=0.05, abs=1e-9)
    assert [step for step, _ in model.report.curve] == list(range(50, model.report.steps + 1, 50))
    assert "12 types" in model.statement.post_processing[-1]


def test_gradients_below_the_usual_epsilon_of_adam_still_move():
    """With many tokens and types the gradient of J is below 1e-8, at which Adam as it usually is would hardly move."""
    one = random_model(0, (40, 1, 2, 200), spread=3.0)
    target = targets_of(TypeMixture(np.repeat(one.theta, 2, axis=1)))
    objective = Objective(target.single, target.within, target.across)
    before, gradient = objective(torch.tensor(fitting._start(target, 40, 2, 0)))
    assert float(gradient.abs().max()) / n_terms(2, 200) < 1e-8
    model = release.fit_mixture(target, n_types=40, n_epochs=2, steps=100, device="cpu")
    assert model.report.objective < 0.3 * float(before)


def test_the_same_seed_gives_the_same_model():
    target = targets_of(stationary(2))
    one, two, other = (
        release.fit_mixture(target, n_types=5, n_epochs=2, seed=seed, steps=60, device="cpu") for seed in (3, 3, 4)
    )
    assert np.array_equal(one.theta, two.theta)
    assert not np.array_equal(one.theta, other.theta)


def test_a_killed_fit_resumes_where_it_was(tmp_path, monkeypatch):
    target = targets_of(stationary(2))
    options = {"n_types": 5, "n_epochs": 2, "seed": 3, "steps": 300, "device": "cpu"}
    whole = release.fit_mixture(target, **options)
    monkeypatch.setattr(fitting, "_SAVE_EVERY", -1.0)
    monkeypatch.setattr(fitting, "_KEEP_EVERY", 0.0)
    file = tmp_path / "fit.npz"

    class Killed(Exception):
        pass

    def kill(stage, share):
        if share == 150 / 300:
            raise Killed

    with pytest.raises(Killed):
        release.fit_mixture(target, checkpoint=file, progress=kill, **options)
    assert file.exists()
    seen = []
    resumed = release.fit_mixture(target, checkpoint=file, progress=lambda _, share: seen.append(share), **options)
    assert seen[0] == 150 / 300  # the checkpoint is of step 149
    assert np.array_equal(resumed.theta, whole.theta)
    assert resumed.report.curve == whole.report.curve
    assert not file.exists()

    with pytest.raises(Killed):
        release.fit_mixture(target, checkpoint=file, progress=kill, **options)
    with pytest.raises(ReidRiskError, match="other statistics or settings"):
        release.fit_mixture(target, checkpoint=file, **options | {"seed": 9})
    file.write_bytes(b"nothing")
    with pytest.raises(ReidRiskError, match="no checkpoint"):
        release.fit_mixture(target, checkpoint=file, **options)


@pytest.mark.parametrize("within", ["a step", "the objective"])
def test_an_interrupt_leaves_a_checkpoint_to_continue_from(tmp_path, monkeypatch, within):
    import torch

    monkeypatch.setattr(fitting, "_KEEP_EVERY", 0.0)
    target = targets_of(stationary(3))
    options = {"n_types": 3, "n_epochs": 2, "steps": 120, "seed": 1}
    whole = release.fit_mixture(target, **options)
    file = tmp_path / "new" / "checkpoint.npz"
    owner, name = (torch.optim.Adam, "step") if within == "a step" else (fitting.Objective, "__call__")
    real, calls = getattr(owner, name), []

    def interrupted(*given):
        calls.append(1)
        answer = real(*given)  # the parameters have moved, the count of steps has not
        if len(calls) == 73:
            raise KeyboardInterrupt
        return answer

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        release.fit_mixture(target, checkpoint=file, **options)
    monkeypatch.setattr(owner, name, real)
    assert int(np.load(file)["step"]) == 72
    resumed = release.fit_mixture(target, checkpoint=file, **options)
    assert np.array_equal(resumed.theta, whole.theta)
    assert resumed.report.curve == whole.report.curve
    assert not file.exists()


@pytest.mark.parametrize("name", ["n_types", "n_epochs", "steps", "learning_rate", "seed"])
def test_bad_options_of_a_fit_are_refused(name):
    with pytest.raises(ReidRiskError, match=name):
        release.fit_mixture(targets_of(stationary(0)), **{name: -1})


def draw_twin(types, uniform, steps):
    """Return what :func:`draw_sets` fills in."""
    n = steps.shape[3]
    tokens = np.minimum((steps[types] <= uniform[..., None]).sum(axis=3), n - 1)
    tokens.sort(axis=2)
    tokens[..., 1:][tokens[..., 1:] == tokens[..., :-1]] = n
    tokens.sort(axis=2)
    return np.where(tokens == n, -1, tokens)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_sampling_agrees_with_its_twin(seed):
    from reidrisk.populations.draw_kernels import draw_sets

    rng = np.random.default_rng(seed)
    model = random_model(seed)
    steps = model.cumulated()
    types = rng.integers(model.n_types, size=40)
    uniform = np.round(rng.random((40, model.n_epochs, model.k)), rng.integers(1, 4))
    sets = np.empty(uniform.shape, dtype=np.int16)
    draw_sets(rng.permutation(40), types, uniform, steps, sets)
    assert np.array_equal(sets, draw_twin(types, uniform, steps))


def test_samples_have_the_frequencies_of_the_model():
    model = random_model(5, (4, 3, 3, 6))
    n = 200_000
    tokens = model.sample(n, seed=1).tokens
    has = (tokens[..., None] == np.arange(6)).any(axis=2).astype(float)
    q = model.statistics()
    found = {
        "single": has.mean(axis=0),
        "within": np.einsum("uia,uib->iab", has, has) / n * ~np.eye(6, dtype=bool),
        "across": np.einsum("uia,uib->iab", has[:, :-1], has[:, 1:]) / n,
    }
    for name, values in found.items():
        wanted = getattr(q, name)
        assert np.abs(values - wanted).max() < 5 * np.sqrt(0.25 / n), name
        assert (np.abs(values - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / n) + 1e-12).all(), name


def test_samples_do_not_depend_on_threads_and_more_leave_the_first_alone():
    model = random_model(6, (5, 2, 3, 8))
    some = model.sample(70_000, seed=2, threads=1).tokens
    assert np.array_equal(some, model.sample(70_000, seed=2, threads=3).tokens)
    assert np.array_equal(some, model.sample(140_000, seed=2).tokens[:70_000])
    assert not np.array_equal(some, model.sample(70_000, seed=3).tokens)


def test_files_hold_the_same_users_and_short_sets_stay_short(tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    words = Vocabulary([f"topic {i}" for i in range(8)])
    model = random_model(6, (5, 2, 3, 8), vocabulary=words, statement=PUBLISHED)
    monkeypatch.setattr("reidrisk.release.model.sample.SHARD", BLOCK)
    seen = []
    files = release.write_users(model, 150_000, 2, tmp_path / "users", progress=lambda *now: seen.append(now))
    assert [f.name for f in files] == [f"users-0000{i}-of-00003.parquet" for i in range(3)]
    assert seen[-1] == ("users-drawn", 1.0)
    whole = model.sample(150_000, seed=2)
    sets, statement = release.read_users(tmp_path / "users")
    assert np.array_equal(sets.tokens, whole.tokens)
    assert sets.vocabulary == words
    assert sets.users[-1] == 149_999
    assert statement.epsilon == PUBLISHED.epsilon
    lengths = np.array([len(s) for s in pq.read_table(files[0]).column("epoch_1").to_pylist()])
    assert np.array_equal(lengths, (whole.tokens[: len(lengths), 1] >= 0).sum(axis=1))
    assert not whole.is_padded
    files[1].unlink()
    with pytest.raises(ReidRiskError, match="of 3 files"):
        release.read_users(tmp_path / "users")
    with pytest.raises(ReidRiskError, match="no files"):
        release.read_users(tmp_path)
    with pytest.raises(ReidRiskError, match="statement"):
        release.write_users(random_model(1), 10, 0, tmp_path)
    with pytest.raises(ReidRiskError, match="at least 1"):
        model.sample(0, seed=0)


def test_users_without_a_statement_are_refused(tmp_path):
    from reidrisk import io

    io.write_top_sets(TopSets([[[0, 1], [1, 2]]], 3), tmp_path / "users-00000-of-00001.parquet")
    with pytest.raises(ReidRiskError, match="privacy statement"):
        release.read_users(tmp_path)


def test_a_model_file_gives_the_model_back(tmp_path):
    words = Vocabulary(["a", "b", "c", "d", "e", "f"])
    target = Statistics(
        *(getattr(targets_of(stationary(1)), n) for n in ("single", "within", "across")), 2, PUBLISHED, words
    )
    model = release.fit_mixture(target, n_types=3, n_epochs=2, steps=60, device="cpu")
    file = tmp_path / "model.safetensors"
    model.save(file)
    back = TypeMixture.load(file, vocabulary=words)
    assert np.array_equal(back.theta, model.theta)
    assert back.vocabulary == words
    assert back.statement == model.statement
    assert back.report == model.report
    with pytest.raises(ReidRiskError, match="another vocabulary"):
        TypeMixture.load(file, vocabulary=Vocabulary(["a", "b", "c", "d", "e", "z"]))
    with pytest.raises(ReidRiskError, match="privacy statement"):
        random_model(0).save(tmp_path / "none.safetensors")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ReidRiskError, match="no model"):
        TypeMixture.load(file)
    with pytest.raises(ReidRiskError, match="no such file"):
        TypeMixture.load(tmp_path / "missing.safetensors")
    from safetensors.numpy import save_file

    save_file({"theta": np.zeros((1, 1, 1, 2), dtype=np.float32)}, file)
    with pytest.raises(ReidRiskError, match="spec"):
        TypeMixture.load(file)
    save_file({"theta": np.zeros((1, 1, 1, 2), dtype=np.float32)}, file, {"reidrisk": '{"kind": "type mixture"}'})
    with pytest.raises(ReidRiskError, match="privacy statement"):
        TypeMixture.load(file)


def test_the_published_parameters_round_trip(tmp_path):
    model = random_model(3, (2, 3, 2, 4), statement=PUBLISHED.after("fitted"))
    file = tmp_path / "parameters.json"
    release.write_parameters(model, file, ids=[1, 57, 243, 299])
    document = json.loads(file.read_text())
    assert document["type 1"]["epoch 2"]["slot 0"]["243"] == pytest.approx(float(model.theta[1, 2, 0, 2]))
    back = release.read_parameters(file)
    assert np.array_equal(back.theta, model.theta)
    assert back.statement == model.statement
    again = release.read_parameters(file, ids=[299, 1, 57, 243])
    assert np.array_equal(again.theta, model.theta[..., [3, 0, 1, 2]])
    with pytest.raises(ReidRiskError, match="topic id"):
        release.read_parameters(file, ids=[1, 2, 3, 4])
    del document["type 1"]["epoch 0"]["slot 1"]["57"]
    file.write_text(json.dumps(document))
    with pytest.raises(ReidRiskError, match="laid out"):
        release.read_parameters(file)


@pytest.mark.parametrize("number", ["1e300", "Infinity", "9" * 400])
def test_parameters_out_of_range_are_refused_without_a_warning(tmp_path, number):
    file = tmp_path / "m.json"
    release.write_parameters(random_model(3, (1, 2, 1, 2), statement=PUBLISHED), file, ids=[1, 2])
    document = json.loads(file.read_text())
    document["type 0"]["epoch 1"]["slot 0"]["2"] = "here"
    file.write_text(json.dumps(document).replace('"here"', number))
    with warnings.catch_warnings(action="error"), pytest.raises(ReidRiskError):
        release.read_parameters(file)


def test_parameters_without_their_own_statement_are_refused(tmp_path):
    """Nobody but the caller can say that a file is the published one."""
    model, file = random_model(3, (2, 3, 2, 4), statement=PUBLISHED.after("fitted")), tmp_path / "m.json"
    release.write_parameters(model, file)
    beside = tmp_path / "m.json.statement.json"
    whole = beside.read_text()
    for damaged in ("{", "[]", "{}", whole[:-9], whole.replace('"labels": null', '"labels": ["a"]')):
        beside.write_text(damaged)
        with pytest.raises(ReidRiskError, match="statement"):
            release.read_parameters(file)
    beside.unlink()
    with pytest.raises(ReidRiskError, match="nothing says what protects"):
        release.read_parameters(file)
    assert release.read_parameters(file, statement=PUBLISHED).statement == PUBLISHED


def test_a_new_model_never_stands_beside_an_old_statement(tmp_path, monkeypatch):
    from reidrisk.release.model import parameters

    file = tmp_path / "m.json"
    old = random_model(3, (2, 3, 2, 4), statement=PUBLISHED)
    release.write_parameters(old, file)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    write = parameters._write_logits

    def full(path, *rest):
        write(path, *rest)  # the model is there, its statement is not
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parameters, "_write_logits", full)
    with pytest.raises(ReidRiskError, match="No space left"):
        release.write_parameters(random_model(4, (2, 3, 2, 4), statement=PUBLISHED), file)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert np.array_equal(release.read_parameters(file).theta, old.theta)


def test_a_pipe_is_written_into_and_stays_one(tmp_path):
    model = random_model(3, (2, 3, 2, 4), statement=PUBLISHED)
    release.write_parameters(model, tmp_path / "m.json")
    os.mkfifo(tmp_path / "p.json")
    heard = []
    reader = threading.Thread(target=lambda: heard.append((tmp_path / "p.json").read_bytes()), daemon=True)
    reader.start()
    release.write_parameters(model, tmp_path / "p.json")
    reader.join(timeout=10)
    assert heard == [(tmp_path / "m.json").read_bytes()]
    assert stat.S_ISFIFO((tmp_path / "p.json").stat().st_mode)


def test_labels_and_fit_travel_beside_the_published_layout(tmp_path):
    from reidrisk.release import FitReport

    words = Vocabulary(["ä", "b", "c", "d"])
    report = FitReport(1e-5, 50, 1.0, "all steps done", "cpu", 3, 0.1, ((50, 1e-5),))
    model = random_model(3, (2, 3, 2, 4), statement=PUBLISHED)
    release.write_parameters(TypeMixture(model.theta, words, PUBLISHED, report), tmp_path / "m.json", ids=[9, 8, 7, 6])
    back = release.read_parameters(tmp_path / "m.json")
    assert back.vocabulary.labels == ("d", "c", "b", "ä")  # ids ascending
    assert np.array_equal(back.theta, model.theta[..., ::-1])
    assert back.report.seed == 3
    assert back.report.steps == 50


@pytest.mark.parametrize(
    ("theta", "said"),
    [(np.zeros((2, 2)), "shape"), (np.full((1, 1, 1, 2), np.nan), "finite"), (np.zeros((1, 0, 1, 2)), "shape")],
)
def test_bad_parameters_are_refused(theta, said):
    with pytest.raises(ReidRiskError, match=said):
        TypeMixture(theta)


BARE = """
import sys
for name in ("numba", "scipy", "polars", "pyarrow", "pydantic", "opendp", "safetensors", "dp_accounting"):
    sys.modules[name] = None
import numpy as np
from reidrisk.release import PUBLISHED, Statistics, fit_mixture
n = 4
within = np.full((n, n), 1 / 6) * ~np.eye(n, dtype=bool)
stats = Statistics(np.full(n, 0.5), within, np.full((n, n), 0.25), 2, PUBLISHED)
model = fit_mixture(stats, n_types=3, n_epochs=2, steps=50, device="cpu")
print(model.objective(stats) < 1.0 and bool(model.statement.to_dict()["reading"]))
"""


def test_a_fit_needs_torch_and_numpy_alone():
    done = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("opendp", "release.statistics(TopSets([[[0, 1], [0, 2]]] * 9, 3), 1.0, 1e-6)"),
        ("torch", "release.fit_mixture(release.exact_statistics(TopSets([[[0, 1], [0, 2]]] * 9, 3)))"),
        ("safetensors", "release.TypeMixture([[[[0., 1.]]]], statement=release.PUBLISHED).save('m')"),
    ],
)
def test_a_missing_extra_is_named(module, call):
    code = f"""
import sys
sys.modules[{module!r}] = None
from reidrisk import ReidRiskError, TopSets, release
try:
    {call}
except ReidRiskError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert 'pip install ".[release]"' in done.stdout, done.stderr


def test_the_former_name_of_fitting_works_and_warns():
    target = targets_of(stationary(0))
    options = {"n_types": 2, "n_epochs": 2, "steps": 10, "device": "cpu"}
    with pytest.warns(DeprecationWarning, match="fit_mixture"):
        former = TypeMixture.fit(target, **options)
    assert np.array_equal(former.theta, release.fit_mixture(target, **options).theta)
