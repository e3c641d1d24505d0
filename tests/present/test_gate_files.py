"""The gate's answer as JUnit XML and Markdown."""

import dataclasses
import xml.etree.ElementTree as ElementTree

import examples
import pytest

from reidrisk.audit import gate
from reidrisk.base.notes import Note
from reidrisk.present.gate_files import junit, summary


@pytest.mark.parametrize(("limit", "tag"), [(0.5, None), (0.001, "failure"), (0.042, "error")])
def test_junit_is_one_case_that_fails_or_cannot_tell(limit, tag):
    answer = gate(examples.published(), limit)
    case = ElementTree.fromstring(junit(answer, "links 3 < 4 & \x00more")).find("testsuite/testcase")
    assert case.find("system-out").text == "links 3 < 4 & ?more"
    assert [one.tag for one in case if one.tag != "system-out"] == ([] if tag is None else [tag])
    if tag is not None:
        assert case.find(tag).get("type") == answer.why


def test_markdown_says_the_answer_what_did_not_run_and_each_question():
    whole = examples.published()
    missing = Note("attack-not-run", attack="profile-bayes", why="time")
    asked = dataclasses.replace(
        whole, notes=(*whole.notes, missing), scenario=Note("scenario-two-tables"), also=(examples.published(),)
    )
    text = summary(asked, gate(asked, 0.001), "own | words")
    assert text.startswith("### ❌ fail: re-identification risk against 0.1 %")
    assert "> Profile Bayes was not run: there was not enough time" in text
    assert "**Can people of one table be found in the other?**" in text
    assert text.count("| Weighted Hamming | 8 weeks | 4.2 in 100 |") == 2
    assert text.endswith("own \\| words\n")
