"""The store: content-addressed, append-only, honest after damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.errors import UnknownResultError
from agentlab.store import Store

if TYPE_CHECKING:
    from pathlib import Path


@given(st.lists(st.text(st.characters(codec=None)), max_size=8))
def test_every_text_comes_back_as_it_was_and_the_same_text_is_kept_once(texts: list[str]) -> None:
    store = Store()
    keys = [store.put(text) for text in texts]
    assert [store.get(key) for key in keys] == texts
    assert len(store) == len(set(texts))


def test_texts_are_read_back_by_another_process(tmp_path: Path) -> None:
    first = Store(tmp_path / "store")
    keys = [first.put(f"text {n} \u00e9\ud800\r\n") for n in range(20)]
    first.close()
    again = Store(tmp_path / "store")
    assert [again.get(key) for key in keys] == [f"text {n} \u00e9\ud800\r\n" for n in range(20)]
    assert again.put("text 3 \u00e9\ud800\r\n") == keys[3]
    new = again.put("more")
    again.close()
    assert Store(tmp_path / "store").get(new) == "more"
    assert all(len(key) == 12 for key in keys)


def test_a_folder_is_made_only_when_something_is_kept(tmp_path: Path) -> None:
    Store(tmp_path / "store").close()
    assert list(tmp_path.iterdir()) == []


def test_pitfall_06_ids_are_made_of_the_content_and_lengthened_on_a_clash() -> None:
    class Clashing(Store):
        def _digest(self, data: bytes) -> str:
            return "0" * 12 + super()._digest(data)

    store = Clashing()
    one, two = store.put("one"), store.put("two")
    assert one != two
    assert len(two) > len(one)
    assert (store.get(one), store.get(two)) == ("one", "two")
    assert store.put("two") == two


def test_an_unknown_id_names_the_nearest_and_a_lost_pack_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path)
    key = store.put("kept")
    store.close()
    with pytest.raises(UnknownResultError, match=f"did you mean '{key}'"):
        store.get(key[:-1] + "g")
    (tmp_path / "pack.txt").write_text("gone")
    with pytest.raises(UnknownResultError, match="no longer there"):
        Store(tmp_path).get(key)


def test_a_torn_index_line_is_reported_and_the_next_text_is_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.put("first")
    store.put("second")
    store.close()
    index = tmp_path / "index.jsonl"
    index.write_bytes(index.read_bytes()[:-20])
    damaged = Store(tmp_path)
    assert len(damaged.problems) == 1
    assert "index.jsonl:2" in damaged.problems[0]
    third = damaged.put("third")
    damaged.close()
    final = Store(tmp_path)
    assert (final.get(first), final.get(third)) == ("first", "third")


def test_two_writers_of_one_store_lose_nothing(tmp_path: Path) -> None:
    one, two = Store(tmp_path), Store(tmp_path)
    keys = {
        store.put(text): text for text in ("a1", "b2", "a3", "b4") for store in ([one] if text[0] == "a" else [two])
    }
    assert {key: Store(tmp_path).get(key) for key in keys} == keys
    assert {key: one.get(key) for key in keys if keys[key][0] == "a"}


def test_a_write_that_failed_loses_only_its_own_text(tmp_path: Path) -> None:
    import resource
    import signal

    store = Store(tmp_path)
    first = store.put("a" * 1_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_500, before[1]))
        with pytest.raises(OSError, match="large"):
            store.put("b" * 1_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    third = store.put("c" * 1_000)
    for reader in (store, Store(tmp_path)):
        assert reader.get(first) == "a" * 1_000
        assert reader.get(third) == "c" * 1_000


def test_bytes_written_are_bytes_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for n in range(50):
        store.put(f"{n} " + "x" * 20_000)
    store.close()
    kept = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert kept < 50 * 20_000 * 1.02
