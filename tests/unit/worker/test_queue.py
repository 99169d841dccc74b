import hypothesis.strategies as st
import pytest
from hypothesis import given

from bailiff.worker.timers.queue import DeadlineQueue

KEYS = st.integers(0, 20)
TIMES = st.integers(0, 50).map(float)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, TIMES),
        st.tuples(st.just("cancel"), KEYS, st.just(0.0)),
        st.tuples(st.just("pop"), st.just(0), TIMES),
    ),
    max_size=200,
)


@given(OPERATIONS)
def test_behaves_like_a_plain_dictionary_of_deadlines(operations):
    queue: DeadlineQueue[int] = DeadlineQueue()
    model: dict[int, tuple[float, int]] = {}
    for number, (operation, key, time) in enumerate(operations):
        if operation == "put":
            queue.put(key, time)
            model[key] = (time, number)
        elif operation == "cancel":
            assert queue.cancel(key) == (model.pop(key, None) is not None)
        else:
            first = min(model, key=lambda k: model[k], default=None)
            expected = first if first is not None and model[first][0] <= time else None
            assert queue.pop_due(time) == expected
            model.pop(expected, None) if expected is not None else None
        assert len(queue) == len(model)
        assert queue.next_due() == min((due for due, _ in model.values()), default=None)
        assert all((key in queue) == (key in model) for key in range(21))
        assert sorted(queue.due(time)) == sorted(k for k, (due, _) in model.items() if due <= time)


def test_a_key_that_is_moved_again_and_again_takes_no_more_room():
    queue: DeadlineQueue[str] = DeadlineQueue()
    for step in range(100_000):
        queue.put("pod", float(step))
    assert len(queue._heap) <= 2048


@pytest.mark.parametrize(
    ("left", "entries"),
    [(1023, 1025), (513, 1025), (512, 512), (400, 512)],
    ids=["few leftovers", "half", "one more", "then it is small"],
)
def test_leftovers_are_swept_out_when_they_are_more_than_half(left, entries):
    queue: DeadlineQueue[int] = DeadlineQueue()
    for key in range(1025):
        queue.put(key, float(key))
    for key in range(1024, left - 1, -1):
        assert queue.cancel(key)
    assert (len(queue), len(queue._heap)) == (left, entries)
    assert [queue.pop_due(2000.0) for _ in range(left)] == list(range(left))


def test_a_queue_of_no_more_than_a_thousand_is_not_swept():
    queue: DeadlineQueue[int] = DeadlineQueue()
    for key in range(1024):
        queue.put(key, float(key))
    for key in range(1024):
        queue.cancel(key)
    assert (len(queue), len(queue._heap)) == (0, 1024)


@pytest.mark.parametrize(("now", "expected"), [(9.999, None), (10.0, "pod"), (11.0, "pod")])
def test_nothing_comes_out_before_it_is_due(now, expected):
    queue: DeadlineQueue[str] = DeadlineQueue()
    queue.put("pod", 10.0)
    assert queue.pop_due(now) == expected


def test_all_that_are_due_are_told_and_stay():
    queue: DeadlineQueue[int] = DeadlineQueue()
    for key in range(40):
        queue.put(key, float(key))
    for now in range(-1, 41):
        assert sorted(queue.due(float(now))) == list(range(min(now + 1, 40)))
    assert len(queue) == 40


def test_keys_of_one_instant_go_in_the_order_in_which_they_were_put():
    queue: DeadlineQueue[str] = DeadlineQueue()
    for key in ("b", "a", "c", "b"):
        queue.put(key, 5.0)
    assert [queue.pop_due(5.0) for _ in range(4)] == ["a", "c", "b", None]


def test_who_is_not_in_cannot_be_taken_out():
    queue: DeadlineQueue[str] = DeadlineQueue()
    queue.put("a", 1.0)
    assert [queue.cancel(key) for key in ("b", "a", "a")] == [False, True, False]
