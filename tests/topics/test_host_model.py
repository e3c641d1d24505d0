"""Hosts that no list names: cut into pieces, weighed, and chosen by the limits of the published configuration."""

import json
import zipfile

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.base.errors import DataError, FormatError, MissingExtraError, OptionError
from reidrisk.topics import HostClassifier, HostModel, Taxonomy, histories_from_frame, replay
from reidrisk.topics.host_model import Thresholds, _thresholds, chosen, word_pieces

TAXONOMY = Taxonomy({1: "/News", 7: "/News/Weather", 40: "/Sports"})
LIMITS = Thresholds(5, 0.8, 0.01, 0.25)
PIECES = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "rain": 4, "##y": 5, "golf": 6, "com": 7}
CONFIG = {"max_categories": 5, "min_none_weight": "3f4ccccd", "min_category_weight": "3c23d70a",
          "min_normalized_weight_within_top_n": "3e800000"}  # fmt: skip


class Interpreter:
    """Stands for the runtime: weighs weather by 'rain', sport by 'golf', and 'none' where it knows nothing."""

    def __init__(self, n_labels=4):
        self.n_labels, self.tensors = n_labels, {}

    def allocate_tensors(self):
        pass

    def get_input_details(self):
        names = ["serving_default_input_word_ids:0", "serving_default_input_mask:0", "serving_default_input_type_ids:0"]
        return [{"name": name, "index": i, "shape": np.array([1, 8])} for i, name in enumerate(names)]

    def get_output_details(self):
        return [{"index": 9, "shape": np.array([1, self.n_labels])}]

    def set_tensor(self, index, value):
        assert value.shape == (1, 8)
        self.tensors[index] = value

    def invoke(self):
        words, mask, types = (self.tensors[i][0] for i in range(3))
        assert np.array_equal(mask, words != 0)
        assert not types.any()
        assert (words[0], words[mask.sum() - 1]) == (2, 3)
        self.out = np.array([[0.0, 0.0, 0.9 * (4 in words), 0.8 * (6 in words)]], dtype=np.float32)
        self.out[0, 0] = 0.95 if self.out.max() == 0 else 0.01

    def get_tensor(self, index):
        assert index == 9
        return self.out


@pytest.fixture
def model():
    return HostModel(Interpreter(), [-2, 1, 7, 40], PIECES, LIMITS, TAXONOMY)


def test_a_replay_says_whether_a_model_was_asked(model):
    rows = {"user": [1, 2], "timestamp": [0, 6 * 86_400], "host": ["rain.com", "golf.com"]}
    visits = histories_from_frame(pl.DataFrame(rows))
    for asked, code in [(None, "unlisted-unknown"), (model, "unlisted-modelled")]:
        found = replay(visits, HostClassifier(TAXONOMY, {"a.com": [1]}, model=asked), top_k=1)
        assert found.visits.unknown == (2 if asked is None else 0)
        assert [note.code for note in found.notes].count(code) == 1


def test_the_name_is_cut_weighed_and_chosen(model):
    assert model.topics("www.rainy.com") == (7,)
    assert model.topics("rain-golf.com") == (7, 40)
    assert model.topics("unheard.org") == ()
    assert model.topics(".".join(["rain"] * 20)) == (7,)  # longer than the model reads


def test_the_classifier_asks_only_about_what_is_not_listed(model):
    classifier = HostClassifier(TAXONOMY, {"rain.com": [1], "empty.org": []}, model=model)
    found = classifier.classify(["a.rain.com", "empty.org", "rain.net", "nothing.net", "1.1.1.1"], invalid="count")
    assert list(found) == [(1,), (), (7,), (), None]
    c = found.coverage
    assert (c.topics, c.no_topic, c.unknown, c.not_a_host, c.by_ancestor, c.by_model) == (2, 2, 0, 1, 1, 2)
    assert "(40.0% by the model)" in repr(found)
    with pytest.raises(OptionError, match="another taxonomy"):
        HostClassifier(Taxonomy({1: "/News"}), {"rain.com": [1]}, model=model)


def test_a_model_that_does_not_fit_is_refused(model):
    with pytest.raises(DataError, match="topic id 8 is not in the taxonomy"):
        HostModel(Interpreter(), [-2, 1, 8, 40], PIECES, LIMITS, TAXONOMY)
    with pytest.raises(FormatError, match="gives 4 weights, but has 3 labels"):
        HostModel(Interpreter(), [-2, 1, 7], PIECES, LIMITS, TAXONOMY)
    with pytest.raises(DataError, match="is not a host: it has a scheme"):
        model.topics("https://rain.com")


@given(st.lists(st.floats(0, 1, width=32), min_size=2, max_size=12))
def test_the_limits_hold_for_any_weights(values):
    weights, labels = np.array(values), [-2, *range(1, len(values))]
    got = chosen(weights, labels, LIMITS)
    top = sorted(values, reverse=True)[:5]
    assert len(got) <= 4  # five shares of a quarter cannot be
    assert -2 not in got
    assert all(weights[labels.index(t)] >= max(0.01, top[-1]) for t in got)
    if values[0] > 0.801 * sum(top):
        assert got == ()
    alone = np.where(np.arange(len(values)) == 1, 0.5, 0.0)
    assert chosen(alone, labels, LIMITS) == (1,)


def test_pieces_are_the_longest_known():
    known = {"[UNK]": 0, "a": 1, "ab": 2, "##c": 3, "##cd": 4, "##d": 5}
    assert word_pieces("abcd", known) == [2, 4]
    assert word_pieces("abce a", known) == [0, 1]
    assert word_pieces("", known) == []


def test_the_configuration_is_read_or_refused(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    limits = _thresholds(path)
    assert (limits.max_categories, limits.min_normalized_weight_within_top_n) == (5, 0.25)
    assert (limits.min_none_weight, limits.min_category_weight) == pytest.approx((0.8, 0.01))
    for wrong in (
        "{",
        "[]",
        "{}",
        json.dumps({**CONFIG, "min_none_weight": "zz"}),
        json.dumps({**CONFIG, "min_none_weight": "3f"}),
    ):
        path.write_text(wrong)
        with pytest.raises(FormatError, match="not the configuration of a model of hosts"):
            _thresholds(path)


def test_without_the_extra_the_install_command_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ai_edge_litert.interpreter", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[topics\]"'):
        HostModel.read(tmp_path, TAXONOMY)


def test_files_that_are_no_model_are_refused(tmp_path):
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed; the extra topics has it")
    with pytest.raises(FormatError, match=r"model.tflite: there is no such file"):
        HostModel.read(tmp_path, TAXONOMY)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "model.tflite").write_bytes(b"nothing")
    with pytest.raises(FormatError, match="is not a model of hosts, or is damaged"):
        HostModel.read(tmp_path, TAXONOMY)
    with zipfile.ZipFile(tmp_path / "model.tflite", "w") as packed:
        packed.writestr("labelmap.txt", "-2\n1\n")
        packed.writestr("vocab.txt", "[UNK]\n")
    with pytest.raises(FormatError, match="is not a model of hosts, or is damaged"):
        HostModel.read(tmp_path, TAXONOMY)


@pytest.mark.data
@pytest.mark.parametrize(("folder", "version", "weather"), [("chrome1", 1, 248), ("chrome5", 2, 243)])
def test_the_published_models_mostly_agree_with_the_lists(study_file, folder, version, weather):
    pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed; the extra topics has it")
    names = ("model.tflite", "config.json", "override_list.tsv")
    files = [study_file(f"topics_chrome_model/{folder}/{name}") for name in names]
    taxonomy = Taxonomy.read(study_file(f"topics_taxonomy/taxonomy_v{version}.md"))
    model = HostModel.read(files[0].parent, taxonomy)
    assert weather in model.topics("weather-forecast.com")
    rows = [line.split("\t") for line in files[2].read_text().splitlines()[3:] if line.count("\t")]
    rows = [row for row in rows if "  " not in row[0] and not row[0].startswith("for testing")]
    picked = np.random.default_rng(0).choice(len(rows), 200, replace=False)
    hits = [bool({*model.topics(rows[i][0].replace(" ", "."))} & {*map(int, rows[i][1].split(","))}) for i in picked]
    assert np.mean(hits) > 0.6
    other = Taxonomy.read(study_file(f"topics_taxonomy/taxonomy_v{3 - version}.md"))
    with pytest.raises(DataError, match=r"model.tflite: topic id \d+ is not in the taxonomy"):
        HostModel.read(files[0].parent, other)
