from __future__ import annotations

import inspect
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from sordino import noise
from sordino.noise import keystream
from sordino.noise.keystream import SOURCE, Keystream, bits


def _some_words(count: int) -> list[int]:
    return [SOURCE.word() for _ in range(count)] + SOURCE.words(count).tolist() + SOURCE.words(3).tolist()


def _fork_and_read(draw) -> list[int]:
    """Fork without multiprocessing, so that nothing but the stream's own care is tested."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover (another process)
        os.write(write, np.array(draw(), dtype=np.uint64).tobytes())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return np.frombuffer(data, dtype=np.uint64).tolist()


def test_words_never_repeat_within_a_stream():
    stream = Keystream()
    seen = [stream.word() for _ in range(5000)]
    for size in (0, 1, 100, 129, 5000, 70_000):
        words = stream.words(size)
        assert words.dtype == np.uint64
        assert words.shape == (size,)
        seen.extend(words.tolist())
    assert len(set(seen)) == len(seen)


def test_words_look_uniform(fits):
    words = SOURCE.words(80_000)
    for shift in (0, 28, 56):
        fits(np.bincount((words >> np.uint64(shift)).astype(np.uint8), minlength=256), [1 / 256] * 256)
    singles = np.array([SOURCE.word() for _ in range(20_000)], dtype=np.uint64)
    fits(np.bincount((singles >> np.uint64(60)).astype(np.int64), minlength=16), [1 / 16] * 16)


def test_words_may_be_overwritten_without_changing_the_stream():
    stream = Keystream()
    words = stream.words(1000)
    words[:] = 0
    assert np.count_nonzero(stream.words(1000)) > 990


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_children_of_a_fork_never_repeat():
    _some_words(10)  # the shelf is filled before the fork
    families = [_fork_and_read(lambda: _some_words(150)) for _ in range(3)]
    families.append(_some_words(150))
    together = [word for family in families for word in family]
    assert len(together) == 4 * 303
    assert len(set(together)) == len(together)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_behind_the_hooks_back_is_noticed_by_the_process_number(monkeypatch):
    stream = Keystream()
    stream.word()
    future = list(stream._shelf[-50:])
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert not set(future) & {stream.word() for _ in range(50)}
    monkeypatch.setattr(os, "getpid", lambda: -2)
    assert not set(future) & set(stream.words(50).tolist())


def test_a_fork_is_noticed_though_the_process_number_is_the_same(monkeypatch):
    stream = Keystream()
    stream.word()
    future = list(stream._shelf[-50:])
    monkeypatch.setattr(keystream, "_generation", keystream._generation)
    keystream._count_fork()
    assert not set(future) & {stream.word() for _ in range(50)}


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_spawned_children_never_repeat(method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        families = pool.map(partial(noise.uniform, 2**63), [400] * 4, chunksize=1)
    together = [number for family in [*families, noise.uniform(2**63, 400)] for number in family.tolist()]
    assert len(set(together)) == len(together) == 2000


def test_threads_never_repeat():
    with ThreadPoolExecutor(8) as pool:
        families = list(pool.map(lambda _: _some_words(500), range(16)))
    together = [word for family in families for word in family]
    assert len(set(together)) == len(together)


def test_each_thread_has_a_stream_of_its_own():
    streams = [SOURCE.stream]
    thread = threading.Thread(target=lambda: streams.append(SOURCE.stream))
    thread.start()
    thread.join()
    assert streams[0] is not streams[1]


def _state(stream: Keystream) -> bytes:
    """Everything that a thief of the object would hold."""
    return b"".join(stream._keys) + np.array(stream._shelf, dtype=np.uint64).tobytes()


@pytest.mark.parametrize("size", [200, 40_000])
def test_old_keys_and_old_words_are_erased(size):
    stream = Keystream()
    stream.words(size)
    old_key = stream._keys[0]
    handed_out = stream.words(size).tobytes()
    state = _state(stream)
    assert old_key not in state
    assert len(stream._keys) == 1
    assert all(handed_out[start : start + 16] not in state for start in range(0, 1600, 8))
    # The new key is not among the words that were handed out, either.
    assert stream._keys[0] not in handed_out


def test_words_from_the_shelf_are_erased():
    stream = Keystream()
    words = [stream.word() for _ in range(100)]
    assert not set(words) & set(stream._shelf)


def test_fresh_entropy_is_mixed_in(monkeypatch):
    asked: list[int] = []
    urandom = os.urandom

    def counted(size: int) -> bytes:
        asked.append(size)
        return urandom(size)

    monkeypatch.setattr(os, "urandom", counted)
    stream = Keystream()
    for _ in range(keystream._REFILLS_PER_MIX):
        stream.words(200)
    assert asked == [32, 32]


def test_equal_entropy_would_give_equal_words_so_the_key_decides_all(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda size: b"k" * size)
    assert Keystream().words(500).tolist() == Keystream().words(500).tolist()


def test_a_draw_in_the_middle_of_a_draw_gets_other_words(monkeypatch):
    """A signal handler may run while the stream is being replaced."""
    stream = Keystream()
    stream.words(200)
    inner: list[int] = []
    cipher = keystream.Cipher

    def interrupted(*parts):
        monkeypatch.setattr(keystream, "Cipher", cipher)
        signal.raise_signal(signal.SIGUSR1)
        return cipher(*parts)

    previous = signal.signal(signal.SIGUSR1, lambda *_: inner.extend(stream.words(500).tolist()))
    try:
        monkeypatch.setattr(keystream, "Cipher", interrupted)
        outer = stream.words(500).tolist()
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert len(inner) == 500
    assert len(set(inner + outer)) == 1000


def test_bits_takes_from_the_front(replay):
    assert bits(replay([2**63, 5]), 1) == 1
    assert bits(replay([2**63, 5]), 64) == 2**63
    assert bits(replay([1, 2**63]), 65) == 3
    assert bits(replay([]), 0) == 0


def test_no_public_signature_takes_a_seed():
    forbidden = {"seed", "rng", "random_state", "generator", "source", "key"}
    for name in noise.__all__:
        thing = getattr(noise, name)
        functions = [thing, thing.draw] if inspect.isclass(thing) else [thing]
        for function in functions:
            assert not forbidden & set(inspect.signature(function).parameters), name
