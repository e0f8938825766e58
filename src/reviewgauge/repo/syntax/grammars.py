"""The node types of functions, classes and comments: one table per language.

Imports nothing but the standard library, since the parsing process does. Node names are those of the grammars of
github.com/tree-sitter (node-types.json of each).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property


@dataclass(frozen=True)
class Grammar:
    """The node types of one language, as words in a string.

    `functions` and `classes` are scopes, `spaces` (namespaces, modules of Rust) only give names, `closures` are
    functions where a wrapper names them. `bodied` are scopes only with a body (a struct's definition, not its use).
    `wrappers` say what belongs to the definition that they hold: `TYPE:FIELD|FIELD` by field, `TYPE>TYPE|TYPE` by the
    type of an only child. `attributes` and `comments` right above belong to what follows. `literals` are kept to
    the letter when code is compared; `holes` are the code in them. `types` are annotations.
    `doc_query` finds strings that count as comments
    unless they hold code. `joint` separates the parts of a name.
    """

    name: str
    wheel: str
    functions: str
    classes: str
    comments: str
    literals: str
    entry: str = "language"
    spaces: str = ""
    closures: str = ""
    bodied: str = ""
    wrappers: str = ""
    attributes: str = ""
    holes: str = ""
    types: str = ""
    joint: str = "."
    doc_query: str = ""

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """Node type -> function, class, space or closure."""
        named = (
            ("space", self.spaces),
            ("closure", self.closures),
            ("class", self.classes),
            ("function", self.functions),
        )
        return {kind: role for role, kinds in named for kind in kinds.split()}

    @cached_property
    def holds(self) -> Mapping[str, tuple[bool, tuple[str, ...]]]:
        """Wrapper's node type -> (whether by field, the fields or the child types)."""
        found: dict[str, tuple[bool, tuple[str, ...]]] = {}
        for word in self.wrappers.split():
            by_field = ":" in word
            kind, _, inner = word.partition(":" if by_field else ">")
            found[kind] = (by_field, tuple(inner.split("|")))
        return found

    @cached_property
    def leading(self) -> frozenset[str]:
        """Node types that may be right above a definition and belong to it."""
        return frozenset((self.comments + " " + self.attributes).split())

    @property
    def scope_query(self) -> str:
        """The tree-sitter query for everything that may be a scope."""
        return "[" + " ".join(f"({kind})" for kind in self.roles) + "] @scope"

    @property
    def text_query(self) -> str:
        """The query for comments and for literals."""
        comments = "[" + " ".join(f"({kind})" for kind in self.comments.split()) + "] @comment"
        literals = "[" + " ".join(f"({kind})" for kind in self.literals.split()) + "] @literal"
        holes = "".join(f"({kind}) @hole\n" for kind in self.holes.split())
        types = "".join(f"({kind}) @type\n" for kind in self.types.split())
        return f"{comments}\n{literals}\n{holes}{types}{self.doc_query}"


_JS_FUNCTIONS = "function_declaration generator_function_declaration method_definition"
_JS_CLOSURES = "arrow_function function_expression generator_function"
_JS_WRAPPERS = (
    "export_statement:declaration|value lexical_declaration>variable_declarator"
    " variable_declaration>variable_declarator variable_declarator:value"
    " expression_statement>assignment_expression assignment_expression:right pair:value"
    " field_definition:value"
)
_TS = Grammar(
    name="TypeScript",
    wheel="tree_sitter_typescript",
    entry="language_typescript",
    functions=f"{_JS_FUNCTIONS} function_signature abstract_method_signature",
    classes="class_declaration class abstract_class_declaration interface_declaration enum_declaration",
    spaces="internal_module module",
    closures=_JS_CLOSURES,
    wrappers=_JS_WRAPPERS.replace("field_definition:value", "public_field_definition:value")
    + " ambient_declaration>function_signature|class_declaration|abstract_class_declaration",
    attributes="decorator",
    comments="comment html_comment",
    literals="string template_string regex",
    holes="template_substitution",
    types="type_annotation",
)
_C_TYPES = "struct_specifier union_specifier enum_specifier"
_C_LITERALS = "string_literal char_literal system_lib_string"

GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar(
        name="Python",
        wheel="tree_sitter_python",
        functions="function_definition",
        classes="class_definition",
        closures="lambda",
        wrappers="decorated_definition:definition expression_statement>assignment assignment:right",
        comments="comment",
        literals="string",
        holes="interpolation",
        types="type",
        doc_query="(expression_statement . (string) @doc .)",
    ),
    "java": Grammar(
        name="Java",
        wheel="tree_sitter_java",
        functions="method_declaration constructor_declaration compact_constructor_declaration static_initializer",
        classes="class_declaration interface_declaration enum_declaration record_declaration"
        " annotation_type_declaration",
        closures="lambda_expression",
        wrappers="field_declaration>variable_declarator local_variable_declaration>variable_declarator"
        " variable_declarator:value expression_statement>assignment_expression assignment_expression:right",
        comments="line_comment block_comment",
        literals="string_literal character_literal",
    ),
    "javascript": Grammar(
        name="JavaScript",
        wheel="tree_sitter_javascript",
        functions=_JS_FUNCTIONS,
        classes="class_declaration class",
        closures=_JS_CLOSURES,
        wrappers=_JS_WRAPPERS,
        attributes="decorator",
        comments="comment html_comment",
        literals="string template_string regex jsx_text",
        holes="template_substitution",
    ),
    "typescript": _TS,
    "tsx": replace(_TS, entry="language_tsx", literals=f"{_TS.literals} jsx_text"),
    "c": Grammar(
        name="C",
        wheel="tree_sitter_c",
        functions="function_definition preproc_function_def",
        classes=_C_TYPES,
        bodied=_C_TYPES,
        wrappers="type_definition:type",
        comments="comment",
        literals=_C_LITERALS,
    ),
    "cpp": Grammar(
        name="C++",
        wheel="tree_sitter_cpp",
        functions="function_definition preproc_function_def",
        classes=f"{_C_TYPES} class_specifier",
        bodied=f"{_C_TYPES} class_specifier",
        spaces="namespace_definition",
        closures="lambda_expression",
        wrappers="type_definition:type declaration>init_declarator init_declarator:value"
        " template_declaration>function_definition|class_specifier|struct_specifier|union_specifier"
        "|template_declaration friend_declaration>function_definition",
        comments="comment",
        literals=f"{_C_LITERALS} raw_string_literal",
        joint="::",
    ),
    "c_sharp": Grammar(
        name="C#",
        wheel="tree_sitter_c_sharp",
        functions="method_declaration constructor_declaration destructor_declaration operator_declaration"
        " conversion_operator_declaration local_function_statement property_declaration indexer_declaration"
        " event_declaration",
        classes="class_declaration struct_declaration interface_declaration enum_declaration record_declaration",
        bodied="property_declaration indexer_declaration event_declaration",
        spaces="namespace_declaration",
        closures="lambda_expression anonymous_method_expression",
        wrappers="field_declaration>variable_declaration local_declaration_statement>variable_declaration"
        " variable_declaration>variable_declarator variable_declarator>lambda_expression|anonymous_method_expression"
        " expression_statement>assignment_expression assignment_expression:right"
        " global_statement>local_function_statement",
        comments="comment",
        literals="string_literal verbatim_string_literal raw_string_literal character_literal"
        " interpolated_string_expression",
        holes="interpolation",
    ),
    "rust": Grammar(
        name="Rust",
        wheel="tree_sitter_rust",
        functions="function_item function_signature_item macro_definition",
        classes="struct_item enum_item union_item trait_item impl_item",
        spaces="mod_item",
        closures="closure_expression",
        wrappers="let_declaration:value const_item:value static_item:value",
        attributes="attribute_item",
        comments="line_comment block_comment",
        literals="string_literal raw_string_literal char_literal",
        joint="::",
    ),
    "go": Grammar(
        name="Go",
        wheel="tree_sitter_go",
        functions="function_declaration method_declaration",
        classes="type_spec",
        bodied="type_spec",
        closures="func_literal",
        wrappers="type_declaration>type_spec var_declaration>var_spec var_spec:value expression_list>func_literal"
        " short_var_declaration:right assignment_statement:right",
        comments="comment",
        literals="interpreted_string_literal raw_string_literal rune_literal",
    ),
    "php": Grammar(
        name="PHP",
        wheel="tree_sitter_php",
        entry="language_php",
        functions="function_definition method_declaration",
        classes="class_declaration interface_declaration trait_declaration enum_declaration anonymous_class",
        spaces="namespace_definition",
        closures="anonymous_function arrow_function",
        wrappers="expression_statement>assignment_expression assignment_expression:right"
        " object_creation_expression>anonymous_class",
        comments="comment",
        literals="string encapsed_string heredoc nowdoc",
        holes="variable_name",
        joint="::",
    ),
    "ruby": Grammar(
        name="Ruby",
        wheel="tree_sitter_ruby",
        functions="method singleton_method",
        classes="class module singleton_class",
        closures="lambda",
        wrappers="assignment:right",
        comments="comment",
        literals="string heredoc_body regex subshell string_array symbol_array",
        holes="interpolation",
        joint="::",
    ),
}
_BY_LANGUAGE = {grammar.name: key for key, grammar in GRAMMARS.items() if key != "tsx"}


def grammar_of(language: str, path: str, looks_like_cpp: bool) -> str:
    """The key of the grammar for a file of `language`; empty where there is none. A `.h` may be C++ by its looks."""
    key = _BY_LANGUAGE.get(language, "")
    if key == "typescript" and path.lower().endswith(".tsx"):
        return "tsx"
    return "cpp" if key == "c" and looks_like_cpp else key
