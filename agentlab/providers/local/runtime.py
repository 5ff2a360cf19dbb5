"""The weights: `xllamacpp`, which has llama.cpp inside, behind the one method that the provider needs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Protocol

from agentlab.errors import InputError, ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = "xllamacpp"
INSTALL = "pip install 'agentlab-observe[local]'"
MAGIC = b"GGUF"
BATCH = 128
"""Tokens of the prompt between two looks at whether anybody still waits: two seconds on a slow core."""


class Runtime(Protocol):
    """Answers requests in the shape of OpenAI's chat completions."""

    def stream(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the chunks of one reply; closing the iterator ends the work.

        A chunk may be `{"error": {...}}` in llama.cpp's words.

        Raises:
            ProviderError: The request was refused.
        """


class LlamaRuntime:
    """A GGUF file on the CPU.

    llama.cpp opens a server of its own on loopback; a random key shuts everybody else out.

    Args:
        path: The file.
        window: Size of the context in tokens.
        threads: Threads that compute.

    Raises:
        InputError: The file cannot be loaded.
    """

    def __init__(self, path: Path, *, window: int, threads: int) -> None:
        from importlib import import_module
        from secrets import token_hex

        xllamacpp: Any = import_module(PACKAGE)
        settings = xllamacpp.CommonParams()
        settings.model.path = str(path)
        settings.n_ctx = window
        settings.n_batch = BATCH
        settings.n_parallel = 1
        settings.n_gpu_layers = 0
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
        settings.warmup = False
        settings.verbosity = -1
        settings.api_keys = [token_hex(16)]
        try:
            self._server = xllamacpp.Server(settings)
        except (RuntimeError, ValueError):
            raise InputError("llama.cpp cannot load it: it is damaged, or of an unknown kind", path=path) from None

    def stream(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the chunks of one reply; see `Runtime`."""
        from queue import SimpleQueue

        chunks: SimpleQueue[dict[str, Any] | BaseException | None] = SimpleQueue()
        left = threading.Event()

        def hand_over(chunk: dict[str, Any]) -> bool:
            chunks.put(chunk)
            return left.is_set()  # true ends the work

        def work() -> None:
            try:
                self._server.handle_chat_completions(request, hand_over)
            except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it again
                chunks.put(error)
            else:
                chunks.put(None)

        threading.Thread(target=work, daemon=True).start()
        try:
            while (item := chunks.get()) is not None:
                if isinstance(item, ValueError | RuntimeError):
                    raise ProviderError(f"llama.cpp refused the request: {item}") from None
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            left.set()


def check_installed(package: str = PACKAGE) -> None:
    """See that the runtime is there, without importing it.

    Raises:
        InputError: It is not.
    """
    if not installed(package):
        raise InputError(f"the package {package} is not installed: {INSTALL}")


def installed(package: str = PACKAGE) -> bool:
    """Whether the runtime is there."""
    from importlib.util import find_spec

    return find_spec(package) is not None


def check_file(path: Path) -> None:
    """See that a file is there and is a model.

    Raises:
        InputError: It is not.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
    except IsADirectoryError:
        raise InputError("is a folder: name a model file (GGUF) in it", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}): name a model file (GGUF)", path=path) from None
    if magic != MAGIC:
        raise InputError(f"is no GGUF file: expected it to begin with {MAGIC!r}, found {magic!r}", path=path)
