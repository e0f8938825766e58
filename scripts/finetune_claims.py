"""Fine-tunes a small chat model to write the claims of a strong one, on one graphics card or on the processor.

    pip install 'reviewgauge[finetune]'
    python scripts/finetune_claims.py pairs.jsonl -o claim-model --base ise-uiuc/Magicoder-S-DS-6.7B

`pairs.jsonl` comes from `scripts/claim_pairs.py`. This file stands alone: copy both to the machine with the card. The
same command goes on where a killed one stopped. Source of the defaults: CRScore (arXiv:2409.19801), appendix C.3; it
trains all weights with Magicoder's script and prints neither optimiser nor rate, so LoRA and its settings are ours.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

PAPERS_MODEL = "ise-uiuc/Magicoder-S-DS-6.7B"
CARD, STARTED, CHECKPOINTS = "card.json", "training.json", "checkpoints"
IGNORED = -100  # the label of tokens that no loss is taken on
# For models without a chat template: the format of Magicoder, with the system message before it.
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}\n\n"
    "{% elif m.role == 'user' %}@@ Instruction\n{{ m.content }}\n\n"
    "{% else %}@@ Response\n{{ m.content }}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}@@ Response\n{% endif %}"
)

Conversation = list[dict[str, str]]


class BadInput(Exception):
    """What the user can mend, in one line."""


@dataclass(frozen=True)
class Settings:
    """What decides on the weights, beside the pairs. Of LoRA all from `rank` on; the paper has the others."""

    base: str = PAPERS_MODEL
    sequence: int = 1500  # tokens; longer pairs are left out
    batch: int = 2
    epochs: int = 5
    validation: float = 0.1
    seed: int = 42
    every: int = 100  # steps between two looks at the validation loss
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    rate: float = 2e-4

    def __post_init__(self) -> None:
        """Raises BadInput."""
        for name in ("sequence", "batch", "epochs", "every", "rank", "alpha", "rate"):
            if getattr(self, name) <= 0:
                raise BadInput(f"{name} must be positive, got {getattr(self, name)}")
        if not 0 < self.validation < 1 or not 0 <= self.dropout < 1:
            raise BadInput(f"validation and dropout are shares, got {self.validation} and {self.dropout}")


def read_pairs(path: Path) -> list[Conversation]:
    """The conversations of a file, each of which ends with the answer to learn. Raises BadInput with the line."""
    found: list[Conversation] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        try:
            messages = json.loads(line)["messages"]
            roles = [message["role"] for message in messages]
            texts = [message["content"] for message in messages]
        except (ValueError, TypeError, KeyError):
            raise BadInput(f"{path}, line {number}: is not a conversation with messages of role and content") from None
        if roles[-2:] != ["user", "assistant"] or not all(isinstance(text, str) and text.strip() for text in texts):
            raise BadInput(f"{path}, line {number}: does not end with a question of the user and an answer")
        found.append(messages)
    if len(found) < 2:
        raise BadInput(f"{path} has {len(found)} pairs: at least one is learnt from and one held out")
    return found


def split(pairs: Sequence[Any], share: float, seed: int) -> tuple[list[Any], list[Any]]:
    """(learnt from, held out): a random share, at least one of each."""
    order = list(range(len(pairs)))
    random.Random(seed).shuffle(order)
    held_out = min(max(1, round(share * len(pairs))), len(pairs) - 1)
    return [pairs[at] for at in sorted(order[held_out:])], [pairs[at] for at in sorted(order[:held_out])]


def encode(tokenizer: Any, messages: Conversation) -> dict[str, list[int]]:
    """The tokens of a conversation; the loss is taken on those of the answer and on its end. Raises BadInput."""
    from jinja2 import TemplateError

    try:
        prompt = tokenizer.apply_chat_template(messages[:-1], add_generation_prompt=True, tokenize=False)
    except TemplateError as error:  # some allow no system message
        raise BadInput(f"the chat template of the base model refuses the prompt: {error}") from None
    asked = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    answer = tokenizer(messages[-1]["content"], add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    return {"input_ids": asked + answer, "labels": [IGNORED] * len(asked) + answer}


def padded(pad: int) -> Callable[[Sequence[dict[str, list[int]]]], dict[str, Any]]:
    """Makes a batch: its rows as long as the longest, with nothing to learn from the padding."""
    import torch

    def batch(rows: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
        longest = max(len(row["input_ids"]) for row in rows)
        found: dict[str, list[list[int]]] = {"input_ids": [], "labels": [], "attention_mask": []}
        for row in rows:
            n, more = len(row["input_ids"]), longest - len(row["input_ids"])
            found["input_ids"].append(row["input_ids"] + [pad] * more)
            found["labels"].append(row["labels"] + [IGNORED] * more)
            found["attention_mask"].append([1] * n + [0] * more)
        return {name: torch.tensor(values) for name, values in found.items()}

    return batch


def is_half(device: str) -> bool:
    """Whether to compute in bfloat16: on cards that can."""
    import torch

    return device == "cuda" and torch.cuda.is_bf16_supported()


def load(settings: Settings, device: str) -> tuple[Any, Any]:
    """The base model with a fresh adapter, and its tokenizer with a chat template."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(settings.base)
    if tokenizer.eos_token_id is None:
        raise BadInput(f"{settings.base} has no token that ends an answer")
    if tokenizer.chat_template is None:
        tokenizer.chat_template = TEMPLATE
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(
        settings.base, dtype=torch.bfloat16 if is_half(device) else torch.float32
    )
    lora = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    if device == "cuda":
        model.enable_input_require_grads()  # which gradient checkpointing needs below an adapter
    return get_peft_model(model, lora), tokenizer


def make_trainer(
    model: Any, pad: int, rows: tuple[list[Any], list[Any]], settings: Settings, *, out: Path, device: str
) -> Any:
    """The trainer of transformers with these settings; it keeps the adapter with the least validation loss."""
    from transformers import Trainer, TrainingArguments

    learnt, held_out = rows
    every = min(settings.every, -(-len(learnt) // settings.batch))  # small files are looked at once an epoch
    arguments = TrainingArguments(
        output_dir=str(out / CHECKPOINTS),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=settings.batch,
        learning_rate=settings.rate,
        seed=settings.seed,
        data_seed=settings.seed,
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        logging_steps=every,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        use_cpu=device == "cpu",
        bf16=is_half(device),
        gradient_checkpointing=device == "cuda",
        dataloader_pin_memory=device == "cuda",
        remove_unused_columns=False,
        report_to="none",
    )
    return Trainer(
        model=model,
        args=arguments,
        train_dataset=learnt,
        eval_dataset=held_out,
        data_collator=padded(pad),
    )


def start(out: Path, pairs: Path, settings: Settings) -> dict[str, Any]:
    """Begin a training in `out`, or take up the same one there. Raises BadInput for another one."""
    wanted = {"pairs": hashlib.sha256(pairs.read_bytes()).hexdigest(), "settings": asdict(settings)}
    file = out / STARTED
    if not file.is_file():
        if out.is_dir() and any(out.iterdir()):
            raise BadInput(f"{out} holds other things: name another folder")
        out.mkdir(parents=True, exist_ok=True)
        write_json(file, wanted)
        return wanted
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if {name: found.get(name) for name in wanted} != wanted:
        raise BadInput(f"{out} holds a training with other pairs or settings: name another folder")
    return found


def last_checkpoint(out: Path) -> Path | None:
    """The newest checkpoint that was written to its end; others are removed."""
    found: dict[int, Path] = {}
    for folder in (out / CHECKPOINTS).glob("checkpoint-*"):
        if (folder / "trainer_state.json").is_file():  # it is written last
            found[int(folder.name.rpartition("-")[2])] = folder
        else:
            shutil.rmtree(folder)
    return found[max(found)] if found else None


def train(
    pairs: Path,
    out: Path,
    settings: Settings,
    *,
    device: str = "auto",
    merge: bool = False,
    callbacks: Sequence[Any] = (),
) -> dict[str, Any]:
    """Train, and write the adapter, the tokenizer and the card into `out`; returns the card. Raises BadInput."""
    conversations = read_pairs(pairs)
    started = start(out, pairs, settings)
    if (out / CARD).is_file():
        print(f"{out} is trained already; name another folder to train again", file=sys.stderr)
        finished: dict[str, Any] = json.loads((out / CARD).read_text(encoding="utf-8"))
        return finished
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")  # with several, a batch would be as many times as large
    import torch
    from transformers import set_seed

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    set_seed(settings.seed)
    model, tokenizer = load(settings, device)
    rows = [encode(tokenizer, one) for one in conversations]
    fitting = [row for row in rows if len(row["input_ids"]) <= settings.sequence]
    if len(fitting) < 2:
        raise BadInput(f"{len(fitting)} of {len(rows)} pairs have at most {settings.sequence} tokens: raise --sequence")
    learnt, held_out = split(fitting, settings.validation, settings.seed)
    trainer = make_trainer(model, tokenizer.pad_token_id, (learnt, held_out), settings, out=out, device=device)
    for callback in callbacks:
        trainer.add_callback(callback)
    checkpoint = last_checkpoint(out)
    if checkpoint is None:
        started["before"] = float(trainer.evaluate()["eval_loss"])
        write_json(out / STARTED, started)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    card = {
        "pairs": {"file": pairs.name, "sha256": started["pairs"], "count": len(rows)},
        "counts": {"learnt from": len(learnt), "held out": len(held_out), "too long": len(rows) - len(fitting)},
        "settings": asdict(settings),
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "versions": {name: version(name) for name in ("torch", "transformers", "peft")},
        "loss": {"before": started.get("before"), "after": float(trainer.evaluate()["eval_loss"])},
        "losses": losses(trainer.state.log_history),
    }
    write(trainer.model, tokenizer, out, card, merge)
    return card


def losses(history: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """By step: the mean loss since the step before (`train`), and that on the held-out pairs (`validation`)."""
    found: dict[float, dict[str, float]] = {}
    for entry in history:
        for key, name in (("loss", "train"), ("eval_loss", "validation")):
            if key in entry:
                found.setdefault(entry["step"], {"step": entry["step"], "epoch": entry["epoch"]})[name] = entry[key]
    return list(found.values())


def write(model: Any, tokenizer: Any, out: Path, card: dict[str, Any], merge: bool) -> None:
    """The adapter and its tokenizer, with `merge` the whole model in `merged`, and the card last."""
    model.save_pretrained(out / "adapter")
    tokenizer.save_pretrained(out / "adapter")
    if merge:
        model.merge_and_unload().save_pretrained(out / "merged")
        tokenizer.save_pretrained(out / "merged")
    (out / "adapter" / "README.md").write_text(card_text(card), encoding="utf-8")
    write_json(out / CARD, card)
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)


def card_text(card: dict[str, Any]) -> str:
    """The card for people."""
    rows = "\n".join(f"| {name} | {value} |" for name, value in card["settings"].items())
    steps = "\n".join(
        f"| {one['step']} | {one['epoch']:.2f} | {one.get('train', '')} | {one.get('validation', '')} |"
        for one in card["losses"]
    )
    counts, loss, pairs = card["counts"], card["loss"], card["pairs"]
    before = "not measured" if loss["before"] is None else f"{loss['before']:.4f}"
    return (
        f"# An adapter that writes claims about code changes\n\nOf {card['settings']['base']}. Learnt from "
        f"{counts['learnt from']} pairs of {pairs['file']} (SHA-256 {pairs['sha256']}), {counts['held out']} held out, "
        f"{counts['too long']} left out as too long. The loss on the held-out pairs was {before} before and is "
        f"{loss['after']:.4f}. Device: {card['device']}.\n\n| setting | value |\n|---|---|\n{rows}\n\n"
        f"| step | epoch | loss | validation loss |\n|---|---|---|---|\n{steps}\n"
    )


def write_json(file: Path, value: object) -> None:
    """A whole file or none."""
    beside = file.with_suffix(".part")
    beside.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    beside.replace(file)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pairs", type=Path, help="the file that claim_pairs.py wrote")
    parser.add_argument("-o", "--out", type=Path, required=True, help="the folder of the adapter and its card")
    for field in fields(Settings):
        kind = {"int": int, "float": float}.get(str(field.type), str)
        parser.add_argument(f"--{field.name}", type=kind, default=field.default, help=f"default: {field.default}")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--merge", action="store_true", help="also write the whole model, for llama.cpp and others")
    given = vars(parser.parse_args(arguments))
    try:
        settings = Settings(**{field.name: given.pop(field.name) for field in fields(Settings)})
        card = train(given["pairs"], given["out"], settings, device=given["device"], merge=given["merge"])
    except BadInput as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted: the same command goes on at the last checkpoint", file=sys.stderr)
        return 130
    except OSError as error:  # no such model, or no space
        print(f"error: {str(error).strip().splitlines()[0]}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"error: {error.name} is missing: pip install 'reviewgauge[finetune]'", file=sys.stderr)
        return 2
    print(
        f"{given['out']}/adapter: loss on held-out pairs {card['loss']['before']} before, {card['loss']['after']} now"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
