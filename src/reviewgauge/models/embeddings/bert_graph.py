"""An ONNX graph made from the weights of a BERT or RoBERTa checkpoint: token ids in, hidden states out.

Texts of one length go through together, so there is no padding and no mask, and a text's numbers do not depend on
the other texts of a batch. The weights go beside the graph and are not copied into it: building is faster than
reading a stored graph.

Sources: Devlin et al. 2019 (BERT), https://arxiv.org/abs/1810.04805; Liu et al. 2019 (RoBERTa),
https://arxiv.org/abs/1907.11692; names of the weights as in the `transformers` library.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reviewgauge.core.errors import BadInput, MissingExtra, UserError, one_line

Floats = npt.NDArray[np.float32]

OPSET, IR_VERSION = 20, 10  # Gelu came with opset 20
OUTPUT = "last_hidden_state"
_FIRST_POSITION = {"bert": 0, "roberta": 2, "xlm-roberta": 2, "camembert": 2}  # RoBERTa's two first rows are padding
_ACTIVATIONS: Mapping[str, tuple[str, dict[str, str]]] = {
    "gelu": ("Gelu", {}),
    "gelu_new": ("Gelu", {"approximate": "tanh"}),
    "gelu_pytorch_tanh": ("Gelu", {"approximate": "tanh"}),
    "relu": ("Relu", {}),
}
_FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.")


@dataclass(frozen=True)
class Shape:
    """The form of the network in a checkpoint's config. `first` is the row of the first token's position."""

    layers: int
    hidden: int
    heads: int
    epsilon: float
    activation: str
    first: int
    positions: int  # the most tokens of a text


class Graph(NamedTuple):
    """A serialised model, and the weights to add to the session by name."""

    model: bytes
    weights: Mapping[str, npt.NDArray[Any]]


def read_weights(file: Path) -> dict[str, Floats]:
    """The floating-point tensors of a safetensors file by name, as float32. Raises BadInput, MissingExtra."""
    try:
        import safetensors
    except ImportError:
        raise MissingExtra("safetensors", "embed") from None
    try:
        tensors = safetensors.deserialize(file.read_bytes())  # type: ignore[no-untyped-call]
    except (OSError, safetensors.SafetensorError) as error:
        problem = f"is not a whole safetensors file: {one_line(str(error), 120)}"
        raise BadInput(str(file), problem, remedy="download the file again") from None
    found: dict[str, Floats] = {}
    for name, tensor in tensors:
        kind, data = tensor["dtype"], tensor["data"]
        if kind == "BF16":  # the upper half of a float32
            values = (np.frombuffer(data, dtype="<u2").astype(np.uint32) << 16).view(np.float32)
        elif kind in _FLOATS:
            values = np.frombuffer(data, dtype=_FLOATS[kind]).astype(np.float32, copy=False)
        else:
            continue  # stored position ids
        found[name] = values.reshape(tensor["shape"])
    return found


def is_known(config: Mapping[str, Any]) -> bool:
    """Whether a graph can be built for a checkpoint with this config."""
    return config.get("model_type") in _FIRST_POSITION


def read_shape(config: Mapping[str, Any], source: str) -> Shape:
    """The form of the network in a config.json. Raises BadInput for one that this builder does not know."""
    kind = config.get("model_type")
    if not is_known(config):
        known = ", ".join(_FIRST_POSITION)
        raise BadInput(
            source,
            f"the architecture {kind!r} cannot be built; these can: {known}",
            field="model_type",
            remedy="use a folder with the model's ONNX file",
        )
    if config.get("position_embedding_type", "absolute") != "absolute" or config.get("is_decoder"):
        raise BadInput(source, "only encoders with absolute positions are built", remedy="use its ONNX file")
    activation = config.get("hidden_act", "gelu")
    if activation not in _ACTIVATIONS:
        raise BadInput(source, f"the activation {activation!r} is not known", field="hidden_act")
    try:
        first = _FIRST_POSITION[str(kind)]
        shape = Shape(
            layers=int(config["num_hidden_layers"]),
            hidden=int(config["hidden_size"]),
            heads=int(config["num_attention_heads"]),
            epsilon=float(config.get("layer_norm_eps", 1e-12)),
            activation=str(activation),
            first=first,
            positions=int(config["max_position_embeddings"]) - first,
        )
    except KeyError as error:
        raise BadInput(source, "is missing", field=str(error.args[0])) from None
    except (TypeError, ValueError) as error:
        raise BadInput(source, f"holds a value that is not a number: {error}") from None
    if shape.heads < 1 or shape.hidden % shape.heads:
        raise BadInput(source, f"{shape.hidden} numbers cannot be divided among {shape.heads} heads")
    return shape


def plain_names(weights: Mapping[str, Floats]) -> dict[str, Floats]:
    """The weights under the names of the bare encoder: `bert.` or `roberta.` cut off, gamma and beta renamed."""
    plain = {}
    for name, tensor in weights.items():
        short = re.sub(r"^(bert|roberta|model|0\.auto_model)\.", "", name)
        plain[re.sub(r"\.gamma$", ".weight", re.sub(r"\.beta$", ".bias", short))] = tensor
    return plain


def build_graph(weights: Mapping[str, Floats], shape: Shape, source: str, layers: int | None = None) -> Graph:
    """The graph of the first `layers` layers (all by default; 0: the embeddings). Raises UserError, MissingExtra.

    Its input is `input_ids`, int64 of B x T; its output float32 of B x T x hidden.
    """
    if layers is not None and not 0 <= layers <= shape.layers:
        raise UserError(f"layer {layers}: {source} has layers 0 (the embeddings) to {shape.layers}")
    builder = _GraphBuilder(plain_names(weights), shape, source)
    builder.embeddings()
    for number in range(shape.layers if layers is None else layers):
        builder.layer(number)
    return builder.finish()


class _GraphBuilder:
    """Nodes and weights of a graph under construction; `at` is the name of the value that flows on."""

    def __init__(self, weights: Mapping[str, Floats], shape: Shape, source: str) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingExtra("onnx", "embed") from None
        self.onnx, self.given, self.shape, self.source = onnx, weights, shape, source
        self.nodes: list[Any] = []
        self.held: dict[str, npt.NDArray[Any]] = {}
        self.at = ""

    def weight(self, name: str, *form: int) -> Floats:
        """A tensor of the checkpoint in the form that its config promises."""
        if name not in self.given:
            found = {int(match[1]) for key in self.given if (match := _LAYER.match(key))}
            more = f" (it holds {len(found)} layers)" if found else ""
            raise BadInput(
                self.source, f"holds no tensor {name}{more}", remedy="check that it belongs to its config.json"
            )
        tensor = self.given[name]
        if tensor.shape != form:
            raise BadInput(self.source, f"{name} is {tensor.shape}, not {form}: it belongs to another config.json")
        return tensor

    def hold(self, name: str, values: npt.NDArray[Any]) -> str:
        self.held[name] = np.ascontiguousarray(values)
        return name

    def node(self, operator: str, inputs: list[str], outputs: list[str] | str, **attributes: Any) -> str:
        names = [outputs] if isinstance(outputs, str) else outputs
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, names, name=names[0], **attributes))
        return names[0]

    def norm(self, prefix: str, value: str, out: str) -> str:
        size = self.shape.hidden
        scale = self.hold(f"{out}.scale", self.weight(f"{prefix}.weight", size))
        shift = self.hold(f"{out}.shift", self.weight(f"{prefix}.bias", size))
        return self.node("LayerNormalization", [value, scale, shift], out, epsilon=self.shape.epsilon)

    def dense(self, prefix: str, value: str, out: str, n_in: int, n_out: int) -> str:
        matrix = self.hold(f"{out}.matrix", self.weight(f"{prefix}.weight", n_out, n_in).T)
        bias = self.hold(f"{out}.bias", self.weight(f"{prefix}.bias", n_out))
        return self.node("Add", [self.node("MatMul", [value, matrix], f"{out}.product"), bias], out)

    def embeddings(self) -> None:
        shape, size = self.shape, self.shape.hidden
        words = self.given.get("embeddings.word_embeddings.weight")
        rows = 0 if words is None else len(words)
        table = self.hold("words", self.weight("embeddings.word_embeddings.weight", rows, size))
        positions = self.weight("embeddings.position_embeddings.weight", shape.first + shape.positions, size)
        types = self.given.get("embeddings.token_type_embeddings.weight")
        kinds = self.weight("embeddings.token_type_embeddings.weight", 0 if types is None else len(types), size)
        self.hold("places", positions[shape.first :] + kinds[0])  # a single text is all of the first type
        self.hold("from", np.array([0]))
        length = self.node("Shape", ["input_ids"], "length", start=1, end=2)
        here = self.node("Slice", ["places", "from", length, self.hold("axis", np.array([0]))], "here")
        summed = self.node("Add", [self.node("Gather", [table, "input_ids"], "word"), here], "summed")
        self.at = self.norm("embeddings.LayerNorm", summed, "hidden.0")

    def layer(self, number: int) -> None:
        """One block: attention over all tokens, then two dense layers, each with a residual and a norm."""
        of, name, size = f"encoder.layer.{number}", f"layer.{number}", self.shape.hidden
        inner = self.given.get(f"{of}.intermediate.dense.bias")
        wide = 0 if inner is None else len(inner)
        mixed = self.dense(f"{of}.attention.output.dense", self.attention(of, name), f"{name}.mixed", size, size)
        known = self.node("Add", [mixed, self.at], f"{name}.attended")
        known = self.norm(f"{of}.attention.output.LayerNorm", known, f"{name}.middle")
        grown = self.dense(f"{of}.intermediate.dense", known, f"{name}.wide", size, wide)
        operator, attributes = _ACTIVATIONS[self.shape.activation]
        active = self.node(operator, [grown], f"{name}.active", **attributes)
        narrow = self.dense(f"{of}.output.dense", active, f"{name}.narrow", wide, size)
        summed = self.node("Add", [narrow, known], f"{name}.summed")
        self.at = self.norm(f"{of}.output.LayerNorm", summed, f"hidden.{number + 1}")

    def attention(self, of: str, name: str) -> str:
        """softmax(q k' / sqrt(d)) v of every head, side by side; the three projections are one product."""
        size, heads = self.shape.hidden, self.shape.heads
        each = size // heads
        parts = [f"{of}.attention.self.{word}" for word in ("query", "key", "value")]
        matrix = np.concatenate([self.weight(f"{part}.weight", size, size).T for part in parts], axis=1)
        bias = np.concatenate([self.weight(f"{part}.bias", size) for part in parts])
        product = self.node("MatMul", [self.at, self.hold(f"{name}.qkv.matrix", matrix)], f"{name}.qkv.product")
        flat = self.node("Add", [product, self.hold(f"{name}.qkv.bias", bias)], f"{name}.qkv.flat")
        into = self.hold(f"{name}.into", np.array([0, 0, 3, heads, each]))
        apart = self.node("Reshape", [flat, into], f"{name}.qkv.apart")
        turned = self.node("Transpose", [apart], f"{name}.qkv.turned", perm=[2, 0, 3, 1, 4])
        self.node("Split", [turned], [f"{name}.{word}.kept" for word in "qkv"], axis=0, num_outputs=3)
        axis = self.hold(f"{name}.axis", np.array([0]))
        query, key, value = (self.node("Squeeze", [f"{name}.{w}.kept", axis], f"{name}.{w}") for w in "qkv")
        key = self.node("Transpose", [key], f"{name}.k.turned", perm=[0, 1, 3, 2])
        scale = self.hold(f"{name}.scale", np.array(1 / math.sqrt(each), dtype=np.float32))
        close = self.node("Mul", [self.node("MatMul", [query, key], f"{name}.close"), scale], f"{name}.scaled")
        share = self.node("Softmax", [close], f"{name}.share", axis=-1)
        seen = self.node("MatMul", [share, value], f"{name}.seen")
        back = self.node("Transpose", [seen], f"{name}.back", perm=[0, 2, 1, 3])
        return self.node("Reshape", [back, self.hold(f"{name}.whole", np.array([0, 0, size]))], f"{name}.heads")

    def finish(self) -> Graph:
        onnx, helper = self.onnx, self.onnx.helper
        inside, beside = [], {}
        for name, values in self.held.items():
            if values.dtype == np.float32 and values.ndim:
                tensor = onnx.TensorProto(name=name, dims=values.shape, data_type=onnx.TensorProto.FLOAT)
                tensor.data_location = onnx.TensorProto.EXTERNAL
                tensor.external_data.add(key="location", value="weights")  # never opened: the session is given them
                beside[name] = values
            else:
                tensor = onnx.numpy_helper.from_array(values, name)
            inside.append(tensor)
        self.node("Identity", [self.at], OUTPUT)
        ids = helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["texts", "tokens"])
        form = ["texts", "tokens", self.shape.hidden]
        states = helper.make_tensor_value_info(OUTPUT, onnx.TensorProto.FLOAT, form)
        graph = helper.make_graph(self.nodes, "encoder", [ids], [states], inside)
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="reviewgauge")
        return Graph(model.SerializeToString(), beside)
