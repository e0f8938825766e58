"""One timed run of a client against a local server: a job as JSON on standard input, seconds as JSON on the last line.

Run by benchmarks/harness.py in a process of its own: the raw SDK in this project's environment, inspect_ai in the
environment of the peers. It imports nothing of this project.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from importlib import metadata
from typing import Any

SYSTEM = "You review code."


def prompt(number: int) -> str:
    """About 500 tokens, different for each call."""
    return f"Review change {number}.\n" + "+ value = compute(value)\n" * 80


def raw_sdk(job: dict[str, Any]) -> tuple[float, float]:
    """(seconds on the clock, seconds of processor) of the SDK's default client with as many workers as in flight."""
    import openai

    async def main() -> tuple[float, float]:
        client = openai.AsyncOpenAI(api_key="none", base_url=job["url"], max_retries=0)

        async def call(number: int) -> None:
            messages: Any = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt(number)}]
            await client.chat.completions.create(model="fake", messages=messages)

        await call(-1)
        numbers = iter(range(job["calls"]))

        async def work() -> None:
            for number in numbers:
                await call(number)

        began, worked = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work() for _ in range(job["in_flight"])))
        return time.perf_counter() - began, time.process_time() - worked

    return asyncio.run(main())


def inspect_ai(job: dict[str, Any]) -> tuple[float, float]:
    """The same of inspect_ai: one sample a call, its log on disk, no display, no scorer, no cache."""
    from inspect_ai import Task, eval  # type: ignore[import-not-found, unused-ignore]
    from inspect_ai.dataset import Sample  # type: ignore[import-not-found, unused-ignore]
    from inspect_ai.model import get_model  # type: ignore[import-not-found, unused-ignore]
    from inspect_ai.solver import generate, system_message  # type: ignore[import-not-found, unused-ignore]

    model = get_model("openai/fake", base_url=job["url"], api_key="none", responses_api=False)

    def run(count: int, folder: str) -> None:
        task = Task(
            dataset=[Sample(input=prompt(number)) for number in range(count)],
            solver=[system_message(SYSTEM), generate()],
        )
        done = eval(
            task,
            model=model,
            max_connections=job["in_flight"],
            max_samples=job["in_flight"],
            log_dir=folder,
            display="none",
            score=False,
        )
        if done[0].status != "success" or len(done[0].samples or ()) != count:
            raise RuntimeError(f"inspect_ai ended with {done[0].status}: {done[0].error}")

    with tempfile.TemporaryDirectory() as folder:
        run(2, folder)
        began, worked = time.perf_counter(), time.process_time()
        run(job["calls"], folder)
        return time.perf_counter() - began, time.process_time() - worked


def main() -> None:
    job = json.loads(sys.stdin.readline())
    run = {"openai": raw_sdk, "inspect_ai": inspect_ai}[job["who"]]
    wall, processor = run(job)
    print(json.dumps({"wall": wall, "processor": processor, "version": metadata.version(job["who"])}))


if __name__ == "__main__":
    main()
