"""The owner of sensitive top sets publishes statistics, a model and synthetic users, and keeps a report."""

import dataclasses
import json
import re
import shutil

import numpy as np
import pytest

from reidrisk import TopSets, Vocabulary, io, release
from reidrisk.cli import main
from reidrisk.release.counts.statistics import from_counts

torch = pytest.importorskip("torch", reason="torch is not installed; fitting needs it")
N_USERS = 6_173
N_TOKENS = 40  # of which people have 8: the rest shows how much noise there is
TWO = ("--epochs", 2, "--top-k", 2)


def run(*arguments):
    with pytest.raises(SystemExit) as leave:
        main([str(argument) for argument in arguments])
    assert not leave.value.code


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Run the three commands of a release, once."""
    folder = tmp_path_factory.mktemp("release")
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=N_USERS)
    tokens = np.stack([np.argsort(rng.random((N_USERS, 4)), axis=1)[:, :2] + 4 * group[:, None] for _ in range(3)], 1)
    tokens[0, 0, 1] = -1  # a set that was not full
    words = Vocabulary([f"topic {i}" for i in range(N_TOKENS)])
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the model is tiny: threads would wait for each other
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        io.write_top_sets(TopSets(tokens, N_TOKENS, vocabulary=words), "sets.parquet")
        run("release", "measure", "sets.parquet", "--epsilon", 1, "--delta", 1e-6, *TWO, "--out", "stats")
        run("release", "fit", "stats", "--out", "m.safetensors", "--types", 6, "--epochs", 3, "--steps", 200)
        run("release", "sample", "m.safetensors", "--users", 5000, "--out", "users", "--seed", 1)
        known = release.TypeMixture.load("m.safetensors")
        other = Vocabulary([f"word {i}" for i in range(N_TOKENS)])
        release.TypeMixture(known.theta, other, known.statement).save("other.safetensors")
    yield folder
    torch.set_num_threads(threads)


@pytest.fixture
def published(released, reidrisk, tmp_path):
    """Have what was released in the folder where commands run."""
    shutil.copytree(released, tmp_path, dirs_exist_ok=True)
    (tmp_path / "empty.npz").touch()
    (tmp_path / "cut.npz").write_bytes((tmp_path / "stats" / "counts.npz").read_bytes()[:-30])
    return tmp_path


@pytest.fixture
def sets(published):
    return published / "sets.parquet"


def test_three_commands_and_every_output_says_what_protects_the_people(published, tmp_path):
    statements = [
        json.loads((tmp_path / "stats" / "statement.json").read_text())["privacy"],
        release.TypeMixture.load(tmp_path / "m.safetensors").statement.to_dict(),
        release.read_users(tmp_path / "users")[1].to_dict(),
    ]
    for number, stated in enumerate(statements):
        assert (stated["epsilon"], stated["delta"], stated["simulation"]) == (1.0, 1e-6, False)
        assert stated["unit"]
        assert stated["neighbours"]
        assert len(stated["post_processing"]) == 2 + number
    sets, _ = release.read_users(tmp_path / "users")
    assert sets.vocabulary.labels[0] == "topic 0"
    # The estimate from noisy counts may come near the number of users; it follows from what is released, no more.
    statement = json.loads((tmp_path / "stats" / "statement.json").read_text())
    statistics = release.read_statistics(tmp_path / "stats")
    again = from_counts(statistics.counts, statistics.statement)
    assert statement.pop("estimated_users") == pytest.approx(again.n_users, rel=1e-6)
    texts = [json.dumps(statement)]
    texts += [file.read_text() for file in tmp_path.glob("stats/*.json") if file.name != "statement.json"]
    assert len(texts) > 1
    for text in texts:
        # As a number of its own: the digits may turn up by chance within the decimals of a share.
        assert not re.search(rf"(?<![\d.]){N_USERS}(?!\d)", text)


def test_two_reports_kept_apart(reidrisk, sets, tmp_path):
    pytest.importorskip("altair")
    private = tmp_path / "private"
    private.mkdir()
    done = reidrisk(
        *("release", "validate", "stats", "m.safetensors", "--users", "users", "--out", "public.html"),
        *("--real", sets, "--internal", private / "internal.html", "--trials", 2, "--queries", 300, "--canary", 500),
        *("--seed", 3),
    )
    assert done.code == 0, done.err
    public, internal = (tmp_path / "public.html").read_text(), (private / "internal.html").read_text()
    seen = re.sub(r"<(script|style|noscript)\b.*?</\1>|<[^>]+>", "", public, flags=re.DOTALL)
    for number in (str(N_USERS), f"{N_USERS:,}"):
        assert not re.search(rf"(?<![\d.,]){number}(?!\d)", seen)
    assert f"{N_USERS:,}" in internal
    sections = {name for name in ("privacy", "noise", "canary", "rates") if f'id="{name}"' in public}
    assert sections == {"privacy", "noise", "canary"}
    assert 'id="rates"' in internal


def test_the_internal_part_says_that_no_statement_covers_it(reidrisk, sets, tmp_path):
    pytest.importorskip("altair")
    (tmp_path / "private").mkdir()
    done = reidrisk(
        *("release", "validate", "stats", "m.safetensors", "--out", "p.html", "--canary", 0, "--trials", 0),
        *("--real", sets, "--internal", "private/i.html", "--json"),
    )
    found = json.loads(done.out)
    assert found["noise"]["fits"] is True
    codes = [[note["code"] for note in found[part]["notes"]] for part in ("public", "internal")]
    assert ["not-covered-by-the-privacy-statement" in part for part in codes] == [False, True]


def test_counts_with_less_noise_than_stated_fail(reidrisk, sets, published):
    """The statement of another release, and a statement whose noise is too small for its budget: exit 1, on top."""
    pytest.importorskip("altair")
    generous = ("--epsilon", 1000, "--delta", 1e-6, *TWO, "--out", "bare")
    assert reidrisk("release", "measure", sets, *generous).code == 0
    shutil.copy(published / "stats" / "statement.json", published / "bare")
    done = reidrisk("release", "validate", "bare", "m.safetensors", "--out", "p.html", "--canary", 500, "--json")
    assert done.code == 1, done.err
    found = json.loads(done.out)
    assert (found["noise"]["fits"], found["budget"]["enough"], found["canary"]["passed"]) == (False, True, True)
    assert '<div class="verdict alarm">' in (published / "p.html").read_text()

    forged = json.loads((published / "stats" / "statement.json").read_text())
    forged["privacy"]["epsilon"] = 0.01
    (published / "stats" / "statement.json").write_text(json.dumps(forged))
    known = release.TypeMixture.load("m.safetensors")
    stated = dataclasses.replace(known.statement, epsilon=0.01)
    release.TypeMixture(known.theta, known.vocabulary, stated).save("m.safetensors")
    for tries in (500, 0):  # arithmetic needs no canary
        options = ("--out", "p.html", "--canary", tries, "--json")
        done = reidrisk("release", "validate", "stats", "m.safetensors", *options)
        assert done.code == 1, done.err
        found = json.loads(done.out)
        assert (found["noise"]["fits"], found["budget"]["enough"]) == (True, False)
        assert (found["canary"] or {"within_budget": False})["within_budget"] is False
        assert '<div class="verdict alarm">' in (published / "p.html").read_text()


def test_without_the_counts_the_statement_is_still_examined(reidrisk, published):
    pytest.importorskip("altair")
    (published / "stats" / "counts.npz").unlink()
    options = ("release", "validate", "stats", "m.safetensors", "--out", "p.html", "--canary", 500, "--json")
    done = reidrisk(*options)
    assert done.code == 3, done.err  # what was not examined has not passed
    found = json.loads(done.out)
    assert (found["noise"]["fits"], found["noise"]["why"]["code"]) == (None, "counts-missing")
    assert (found["budget"]["enough"], found["canary"]["passed"]) == (True, True)
    assert '<div class="verdict unsure">' in (published / "p.html").read_text()
    stated = json.loads((published / "stats" / "statement.json").read_text())
    for sigma in ({name: s / 2 for name, s in stated["privacy"]["sigma"].items()}, {"f12": 1e6}):
        forged = stated | {"privacy": stated["privacy"] | {"sigma": sigma}}
        (published / "stats" / "statement.json").write_text(json.dumps(forged))
        known = release.TypeMixture.load("m.safetensors")
        release.TypeMixture(known.theta, known.vocabulary, dataclasses.replace(known.statement, sigma=sigma)).save(
            "m.safetensors"
        )
        done = reidrisk(*options)
        assert done.code == 1, done.err
        assert json.loads(done.out)["budget"]["enough"] is False


def test_people_with_labels_are_read_over_those_of_the_model(reidrisk, sets, published):
    """A table of labels that does not name its vocabulary, and in which some do not occur."""
    pytest.importorskip("altair")
    few = io.read_top_sets(sets)
    few = TopSets(few.tokens[:40] % 7, N_TOKENS, vocabulary=few.vocabulary)
    io.write_top_sets(few, "few.csv")
    (published / "private").mkdir()
    done = reidrisk(
        *("release", "validate", "stats", "m.safetensors", "--out", "p.html", "--canary", 0, "--trials", 0),
        *("--real", "few.csv", "--internal", "private/i.html"),
    )
    assert done.code == 0, done.err


def test_a_model_that_does_not_say_how_it_was_fitted_is_used_as_it_is(reidrisk, sets, published):
    pytest.importorskip("altair")
    known = release.TypeMixture.load("m.safetensors")
    release.TypeMixture(known.theta, known.vocabulary, known.statement).save("bare.safetensors")
    (published / "private").mkdir()
    options = ("--out", "p.html", "--canary", 0, "--trials", 2, "--queries", 50, "--real", sets)
    done = reidrisk("release", "validate", "stats", "bare.safetensors", *options, "--internal", "private/i.html")
    assert done.code == 2
    assert "--no-refit" in done.err


def test_a_simulated_model_is_not_shown_as_a_release(reidrisk, sets, published):
    pytest.importorskip("altair")
    simulated = ("--simulation", "--seed", 5, "--out", "tried")
    assert reidrisk("release", "measure", sets, "--epsilon", 1, "--delta", 1e-6, *TWO, *simulated).code == 0
    assert reidrisk("release", "fit", "tried", "--out", "t.safetensors", "--types", 2, "--steps", 20).code == 0
    assert reidrisk("release", "sample", "t.safetensors", "--users", 50, "--out", "drawn").code == 0
    for arguments, whose in ((("t.safetensors",), "the model"), (("m.safetensors", "--users", "drawn"), "the users")):
        done = reidrisk("release", "validate", "stats", *arguments, "--out", "p.html", "--canary", 0)
        assert done.code == 2
        assert f"of {whose} says simulation True" in done.err
        assert not (published / "p.html").exists()


def test_the_public_report_alone_needs_no_real_people(reidrisk, published, tmp_path):
    pytest.importorskip("altair")
    done = reidrisk("release", "validate", "stats", "m.safetensors", "--out", "p.html", "--canary", 0, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["canary"] is None
    assert "internal" not in found
    assert found["public"]["n_sampled"] == 0


def test_a_simulation_is_seeded_and_marked(reidrisk, sets, tmp_path):
    for folder in ("a", "b"):
        done = reidrisk(
            *("release", "measure", sets, "--epsilon", 1, "--delta", 1e-6, "--out", folder),
            *("--simulation", "--seed", 5, "--top-k", 2, "--json"),
        )
        assert done.code == 0, done.err
    assert json.loads(done.out)["privacy"]["simulation"]
    assert (tmp_path / "a/q_across.json").read_bytes() == (tmp_path / "b/q_across.json").read_bytes()


def test_a_model_in_the_published_layout_works_as_well(reidrisk, published):
    assert reidrisk("release", "fit", "stats", "--out", "m.json", "--types", 3, "--steps", 60).code == 0
    assert reidrisk("release", "sample", "m.json", "--users", 100, "--out", "some").code == 0
    done = reidrisk("release", "sample", "m.json", "--users", 100, "--out", "more", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["users"], found["seed"] >= 0, found["privacy"]["epsilon"]) == (100, True, 1.0)
    pytest.importorskip("altair")
    done = reidrisk("release", "validate", "stats", "m.json", "--users", "some", "--out", "p.html", "--canary", 0)
    assert done.code == 0, done.err
    (published / "m.json.statement.json").unlink()
    done = reidrisk("release", "sample", "m.json", "--users", 100, "--out", "last")
    assert done.code == 2
    assert "nothing says what protects" in done.err
    assert not (published / "last").exists()


def test_the_size_of_a_set_can_be_stated(reidrisk, sets):
    options = ("--epsilon", 1, "--delta", 1e-6, "--out", "s", "--json")
    assert json.loads(reidrisk("release", "measure", sets, *options, "--top-k", 3).out)["k"] == 3
    done = reidrisk("release", "measure", sets, *options, "--replace", "--top-k", 1)
    assert done.code == 2
    assert "more than the 1 of --top-k" in done.err


BUDGET = ("--epsilon", 1, "--delta", 1e-6)


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ("user,epoch_0_0,epoch_0_1,epoch_1_0,epoch_1_1\na,0,0,1,2\n", BUDGET, "repeats token 0"),
        ("user,epoch_0_0,epoch_0_1\na,0,1\nb,1,2\n", BUDGET, "at least 2 epochs"),
        ("user,epoch_0_0,epoch_1_0\na,0,1\na,1,2\n", BUDGET, "user"),
        ("user,epoch_0_0,epoch_1_0\n", BUDGET, "s.csv"),
        ("user,epoch_0_0,epoch_1_0\na,0,1\n", ("--epsilon", 0, "--delta", 1e-6), "epsilon must be"),
        ("user,epoch_0_0,epoch_1_0\na,0,1\n", ("--epsilon", -2, "--delta", 1e-6), "epsilon must be"),
        ("user,epoch_0_0,epoch_1_0\na,0,1\n", ("--epsilon", 1, "--delta", 1), "delta must be"),
        ("user,epoch_0_0,epoch_1_0\na,0,1\n", ("--epsilon", 1e308, "--delta", 1e-6), "epsilon must be"),
        ("user,epoch_0_0,epoch_1_0\na,0,1\n", ("--epsilon", 1e-300, "--delta", 1e-300), "epsilon must be"),
        ("user,epoch_0_0,epoch_1_0\na,0,1\n", ("--epsilon", 1, "--delta", 0), "delta must be"),
        ("user,epoch_0_0,epoch_1_0\na,0,1\n", (*BUDGET, "--seed", 3), "--simulation"),
        ("user,epoch_0_0,epoch_1_0\na,0,7\n", BUDGET, "outside the vocabulary"),
        ("user,epoch_0_0,epoch_1_0\na,0,1\n", (*BUDGET, "--budget", "mine"), "one of joint, split"),
        ("user,epoch_0_0,epoch_1_0\na,0,1\n", (*BUDGET, "--epochs", 5), "epochs"),
    ],
)
def test_bad_data_and_budgets_are_one_line_and_leave_nothing(reidrisk, table, tmp_path, text, options, told):
    file = table("s.csv", text)
    k = 1 + text.count("epoch_0_1")
    done = reidrisk("release", "measure", file, *options, "--n-tokens", 4, "--top-k", k, "--out", "stats")
    assert done.code == 2
    assert told in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "stats" / "statement.json").exists()


def test_a_vocabulary_is_never_read_off_the_people(reidrisk, table):
    file = table("s.csv", "user,epoch_0_0,epoch_1_0\na,0,1\nb,1,0\n")
    done = reidrisk("release", "measure", file, *BUDGET, "--top-k", 1, "--out", "stats")
    assert done.code == 2
    assert "give --n-tokens" in done.err


@pytest.mark.parametrize("size", [(), ("--n-tokens", 10), ("--n-tokens", 2)])
def test_labels_are_never_read_off_the_people(reidrisk, table, tmp_path, size):
    """A size says nothing about which labels exist: one that a single person has would be published."""
    rows = "".join(f"u{i},news,sports\n" for i in range(500))
    file = table("words.csv", f"user,epoch_0_0,epoch_1_0\n{rows}z,rare illness,sports\n")
    done = reidrisk("release", "measure", file, *BUDGET, "--top-k", 1, *size, "--out", "stats")
    assert done.code == 2
    assert "give --vocabulary" in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "stats").exists()
    words = tmp_path / "words.txt"
    words.write_text("news\nsports\nrare illness\nnobody's\n")
    done = reidrisk(
        "release", "measure", file, *BUDGET, "--top-k", 1, "--vocabulary", words, "--out", "stats", "--json"
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["n_tokens"] == 4


def test_the_size_of_a_set_is_never_read_off_the_people(reidrisk, table, sets, published):
    done = reidrisk("release", "measure", sets, *BUDGET, "--out", "s")
    assert done.code == 2
    assert "give --top-k" in done.err
    assert done.err.count("\n") == 1
    users = published / "users" / "users-00000-of-00001.parquet"  # its metadata declare k
    assert json.loads(reidrisk("release", "measure", users, *BUDGET, "--out", "s", "--json").out)["k"] == 2


def test_measuring_again_into_a_folder_needs_a_word(reidrisk, sets, published):
    before = (published / "stats" / "counts.npz").read_bytes()
    done = reidrisk("release", "measure", sets, *BUDGET, *TWO, "--out", "stats")
    assert done.code == 2
    assert "--replace" in done.err
    assert (published / "stats" / "counts.npz").read_bytes() == before
    assert reidrisk("release", "measure", sets, *BUDGET, *TWO, "--out", "stats", "--replace").code == 0
    assert (published / "stats" / "counts.npz").read_bytes() != before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fit", "nowhere", "--out", "x.safetensors"), "no such folder"),
        (("fit", "users", "--out", "x.safetensors"), "statement.json"),
        (("fit", "stats", "--out", "m.safetensors/x"), "is a file"),
        (("fit", "stats", "--out", "x", "--types", 0), "n_types"),
        (("fit", "stats", "--out", "x", "--device", "nosuch"), "device 'nosuch' cannot be used"),
        (("fit", "stats", "--out", "x", "--device", "cuda:99"), "device 'cuda:99' cannot be used"),
        (("fit", "stats", "--out", "x", "--checkpoint", "empty.npz"), "remove it to start afresh"),
        (("fit", "stats", "--out", "x", "--checkpoint", "cut.npz"), "remove it to start afresh"),
        (("sample", "stats/q_within.json", "--users", 5, "--out", "x"), "q_within.json"),
        (("sample", "m.safetensors", "--users", 0, "--out", "x"), "at least 1"),
        (("sample", "m.safetensors", "--users", 5, "--out", "users"), "already holds users"),
        (("sample", "sets.parquet", "--users", 5, "--out", "x"), "no model"),
        (("validate", "stats", "m.safetensors", "--out", "p.html", "--real", "sets.parquet"), "together"),
        (("validate", "stats", "m.safetensors", "--out", "p.txt"), ".html"),
        (
            (
                "validate",
                "stats",
                "m.safetensors",
                "--out",
                "p.html",
                "--real",
                "sets.parquet",
                "--internal",
                "stats/i.html",
            ),
            "keep the internal report apart",
        ),
        (("validate", "stats", "other.safetensors", "--out", "p.html"), "another vocabulary"),
        (("validate", "stats", "m.safetensors", "--out", "p.html", "--users", "stats"), "no files"),
    ],
)
def test_bad_files_are_one_line(reidrisk, published, arguments, told):
    pytest.importorskip("altair")
    done = reidrisk("release", *arguments)
    assert done.code == 2, done.out
    assert told in done.err
    assert done.err.count("\n") == 1


def test_the_menu_names_the_four_steps(reidrisk):
    done = reidrisk("release")
    assert done.code == 0
    for step in ("measure", "fit", "sample", "validate"):
        assert step in done.out


def test_sets_padded_with_a_seed_are_not_measured(reidrisk, sets):
    """The mark is in the file, and outlives a larger --top-k."""
    few = io.read_top_sets(sets)
    short = few.tokens.copy()
    short[::3, :, 1] = -1
    io.write_top_sets(TopSets(short, N_TOKENS, vocabulary=few.vocabulary).padded(seed=1), "seeded.parquet")
    options = ("release", "measure", "seeded.parquet", "--epsilon", 1, "--delta", 1e-6, "--epochs", 2, "--out", "s")
    for top_k in (2, 3):
        done = reidrisk(*options, "--top-k", top_k)
        assert done.code == 2
        assert "made with a seed" in done.err
    assert reidrisk(*options, "--top-k", 2, "--simulation", "--seed", 1).code == 0


def test_too_few_users_have_spent_their_budget_too(reidrisk):
    io.write_top_sets(TopSets([[[0], [1]]] * 2, 40), "few.parquet")
    options = ("release", "measure", "few.parquet", "--epsilon", 1e-6, "--delta", 1e-9, "--top-k", 1)
    told = [reidrisk(*options, "--out", f"s{seed}", "--simulation", "--seed", seed) for seed in range(12)]
    refused = [done for done in told if done.code]
    assert refused
    assert all(done.code == 2 and "another one spends more" in done.err for done in refused)
