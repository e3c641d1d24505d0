import pytest
from hypothesis import given
from hypothesis import strategies as st

from reidrisk.base.errors import OptionError
from reidrisk.base.parallel import Crew, each, n_threads
from reidrisk.base.progress import Steps


@given(st.lists(st.integers()), st.integers(1, 4))
def test_answers_come_in_the_order_of_the_parts(parts, threads):
    assert each(lambda part: part + 1, parts, threads) == [part + 1 for part in parts]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_part_reaches_the_caller(threads):
    with pytest.raises(ZeroDivisionError):
        each(lambda part: 1 / part, [1, 0, 2], threads)


def test_a_crew_works_many_rounds():
    with Crew(3) as crew:
        assert [sum(crew.each(lambda part: part, range(n))) for n in range(5)] == [0, 0, 1, 3, 6]


def test_no_thread_at_all_is_refused():
    for threads in (0, -1, 1.5):
        with pytest.raises(OptionError, match="threads"):
            n_threads(threads)


def test_progress_within_a_step_is_a_share_of_the_whole():
    told = []
    steps = Steps(lambda stage, share: told.append((stage, share)), total=4)
    steps.begin("draw", 2)
    each(lambda part: part, [1, 2], threads=1, progress=steps.within("attack", 2))
    assert told == [("draw", 0.0), ("attack", 0.5), ("attack", 0.75), ("attack", 1.0)]
