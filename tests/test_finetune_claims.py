"""The script that fine-tunes a small claim model, on a tiny random model and the processor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts_of import load_script

NOT_INSTALLED = "the extra reviewgauge[finetune] is not installed"
SMALL = {"sequence": 400, "batch": 2, "epochs": 4, "every": 3, "validation": 0.2, "rate": 0.01, "dropout": 0.1}


script = load_script("finetune_claims")


def conversation(word: str, length: int = 1) -> dict[str, object]:
    turns = [("system", "You list."), ("user", f"+def {word}():" * length)]
    answer = f"Claims:\n- {word} is added.\n\nImplications:\nNone"
    return {"messages": [{"role": role, "content": text} for role, text in (*turns, ("assistant", answer))]}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = [conversation(f"name{n}") for n in range(12)] + [conversation("long", 200)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# --- without torch --------------------------------------------------------------------------------------------------


def test_the_papers_settings_are_the_defaults() -> None:
    """CRScore, appendix C.3."""
    settings = script.Settings()
    assert settings.base == "ise-uiuc/Magicoder-S-DS-6.7B"
    assert (settings.sequence, settings.batch, settings.epochs) == (1500, 2, 5)
    assert (settings.validation, settings.seed, settings.every) == (0.1, 42, 100)


@pytest.mark.parametrize("line", [
    "{", "[]", '{"prompt": "a"}',
    '{"messages": [{"role": "user", "content": "a"}]}',
    '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": " "}]}',
    '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": null}]}',
])  # fmt: skip
def test_a_line_that_is_no_pair_is_named(
    pairs: Path, tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pairs.open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    assert script.main([str(pairs), "-o", str(tmp_path / "out")]) == 2
    assert "line 14" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_one_pair_is_too_few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(conversation("a")) + "\n", encoding="utf-8")
    assert script.main([str(path), "-o", str(tmp_path / "out")]) == 2
    assert "has 1 pairs" in capsys.readouterr().err


def test_the_held_out_tenth_is_the_same_each_time() -> None:
    learnt, held_out = script.split(list(range(1000)), 0.1, 42)
    assert len(held_out) == 100 and sorted(learnt + held_out) == list(range(1000))
    assert script.split(list(range(1000)), 0.1, 42) == (learnt, held_out) != script.split(list(range(1000)), 0.1, 43)
    assert script.split("ab", 0.01, 0)[1] and script.split("ab", 0.99, 0)[0], "neither is ever empty"


def test_a_folder_of_another_training_is_left_alone(pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    script.start(out, pairs, script.Settings())
    script.start(out, pairs, script.Settings())
    with pytest.raises(script.BadInput, match="other pairs or settings"):
        script.start(out, pairs, script.Settings(epochs=6))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").touch()
    with pytest.raises(script.BadInput, match="other things"):
        script.start(mine, pairs, script.Settings())


# --- with it --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A random model of two layers that reads bytes, without a chat template."""
    for name in ("torch", "transformers", "peft"):
        pytest.importorskip(name, reason=NOT_INSTALLED)
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.set_num_threads(1)
    torch.manual_seed(0)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = Tokenizer(models.BPE(vocab={word: n for n, word in enumerate(["<s>", "</s>", *letters])}, merges=[]))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    folder = tmp_path_factory.mktemp("base")
    PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>", eos_token="</s>").save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(letters) + 2,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)


def train(pairs: Path, out: Path, base: str, **more: Any) -> dict[str, Any]:
    card: dict[str, Any] = script.train(pairs, out, script.Settings(base=base, **SMALL), device="cpu", **more)
    return card


@pytest.mark.slow
def test_it_learns_and_writes_an_adapter_with_a_card(pairs: Path, tmp_path: Path, base: str) -> None:
    out = tmp_path / "out"
    card = train(pairs, out, base, merge=True)
    assert card["counts"] == {"learnt from": 10, "held out": 2, "too long": 1}
    assert card["loss"]["after"] < card["loss"]["before"]
    assert [one["step"] for one in card["losses"] if "validation" in one] == [3, 6, 9, 12, 15, 18, 20]
    assert json.loads((out / "card.json").read_text(encoding="utf-8")) == card
    text = (out / "adapter" / "README.md").read_text(encoding="utf-8")
    assert "| batch | 2 |" in text and card["pairs"]["sha256"] in text

    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(out / "adapter")
    row = script.encode(tokenizer, conversation("name3")["messages"])
    asked = [at for at, label in enumerate(row["labels"]) if label == script.IGNORED]
    read = tokenizer.decode(row["input_ids"])
    assert read.endswith("Implications:\nNone</s>") and "@@ Response\nClaims:" in read
    assert tokenizer.decode(row["input_ids"][len(asked) :]).startswith("Claims:"), "loss is taken on the answer alone"
    batch = script.padded(1)([row])
    adapted = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), out / "adapter").eval()
    merged = AutoModelForCausalLM.from_pretrained(out / "merged").eval()
    assert abs(float(adapted(**batch).loss) - float(merged(**batch).loss)) < 1e-4
    assert train(pairs, out, base) == card, "a finished training is not made again"
