"""Does work on things that need one another, at once where they don't."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

WORKERS = 4


def in_order(needs: Mapping[str, Sequence[str]], work: Callable[[str], None]) -> None:
    """Call `work` for each name, once all that it needs is done; those that don't need one another run at once.

    When one fails, nothing new is begun, what runs comes to its end, and then
    the first failure is raised. Names that nobody declares are ignored.
    """
    left = {name: {each for each in wanted if each in needs} for name, wanted in needs.items()}
    failed: BaseException | None = None
    with ThreadPoolExecutor(WORKERS, thread_name_prefix="stack") as pool:
        running: dict[Future[None], str] = {}
        while left or running:
            ready = [] if failed else [name for name, wanted in left.items() if not wanted]
            for name in ready:
                del left[name]
                running[pool.submit(work, name)] = name
            if not running:
                break
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                name = running.pop(future)
                failed = failed or future.exception()
                for wanted in left.values():
                    wanted.discard(name)
    if failed is not None:
        raise failed
    if left:
        raise ValueError(f"these need one another: {', '.join(sorted(left))}")


def reversed_needs(needs: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The order to undo in: each needs to wait for all that needed it."""
    return {name: [other for other, wanted in needs.items() if name in wanted] for name in needs}
