//! Why a text, or one document of it, is not read.

use std::fmt;

use crate::base::Span;

/// A mistake in a text and its place. `Display` says what is wrong, [`YamlError::hint`] how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// Where, in bytes of the file.
    pub span: Span,
    /// What.
    pub kind: YamlErrorKind,
}

/// What is wrong. Texts of values never appear here, and of what stands in a value's place (`*name`, `!tag`) neither: a
/// password may look like one. Keys do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlErrorKind {
    /// More bytes than [`super::Limits::bytes`].
    TooLarge { limit: usize },
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// UTF-16 with a byte-order mark.
    Utf16,
    /// A NUL byte.
    Nul,
    /// The file's content is in Git LFS and was not fetched.
    LfsPointer,
    /// A character that no YAML text may hold as it is.
    ControlCharacter(char),
    /// A character that ends a line in YAML 1.1 and does not in YAML 1.2.
    OldLineBreak(char),
    /// A byte-order mark elsewhere than before a document.
    ByteOrderMark,
    /// Text after `---` on the same line, which `kubectl` refuses.
    Separator,
    /// Text after `...`, which `kubectl` drops in silence.
    AfterEnd,
    /// `%YAML`, `%TAG` or another directive.
    Directive,
    /// A tab where indentation is expected.
    Tab,
    /// Braces of a template language (`{{ }}`), which are a mapping as a key for YAML.
    Template,
    /// Any other syntax error, in the words of the parser.
    Syntax(String),
    /// Nested deeper than [`super::Limits::depth`].
    Depth { limit: usize },
    /// Aliases expand to more than is sane.
    AliasBudget,
    /// `*name` without an `&name` before it in the same document.
    UnknownAnchor,
    /// `*name` inside the value of `&name`.
    RecursiveAnchor,
    /// The same key twice in a mapping; `first` is the other place.
    DuplicateKey { key: String, first: Span },
    /// A mapping or a sequence as a key.
    KeyNotScalar,
    /// `null` as a key.
    KeyNull,
    /// A number as a key that Kubernetes' reader cannot turn into text (above 2^63).
    KeyTooLarge,
    /// `<<` with anything but a mapping or a list of mappings.
    Merge,
    /// Infinity or not-a-number, which JSON cannot hold.
    NotFinite,
    /// The text does not fit its explicit tag, one of YAML's own: `!!int`.
    TagMismatch { tag: &'static str },
    /// `!!binary` text that is not base64.
    InvalidBase64,
    /// `!!binary` content that is not UTF-8 text.
    BinaryNotText,
    /// `\ud83d\ude00`: two halves of a character, which only JSON allows.
    Surrogates,
    /// `\/`, which only JSON allows.
    JsonEscape,
    /// A name of an anchor or alias with other characters than ASCII letters, digits, `-` and `_`.
    AnchorName,
    /// A plain scalar in brackets with a `:` or `?` that readers take for different things.
    Brackets,
    /// A block scalar as the whole document with a line that is not indented.
    BlockAtMargin,
    /// A block scalar that keeps its line breaks, and a last line of spaces without one: readers count it differently.
    BlankLastLine,
    /// More mistakes in this document than are worth a list.
    TooMany { shown: usize },
}

impl YamlError {
    /// A mistake at a place.
    #[must_use]
    pub fn new(span: Span, kind: YamlErrorKind) -> Self {
        Self { span, kind }
    }

    /// How to fix it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match &self.kind {
            YamlErrorKind::TooLarge { .. } => "split the file, or move data that is not configuration elsewhere",
            YamlErrorKind::NotUtf8 | YamlErrorKind::Utf16 => "save the file as UTF-8",
            YamlErrorKind::Nul => "remove the NUL byte; is this a binary file?",
            YamlErrorKind::LfsPointer => {
                "keep manifests out of Git LFS: remove the path from .gitattributes and add the file again"
            }
            YamlErrorKind::ControlCharacter(_) => "remove it, or write it as an escape in double quotes",
            YamlErrorKind::OldLineBreak(_) => {
                "write it as an escape in double quotes (\"\\u2028\", \"\\u2029\", \"\\N\"), or use a plain line break"
            }
            YamlErrorKind::ByteOrderMark => "remove the byte-order mark; it often comes from joining files",
            YamlErrorKind::Separator => "put the document on the lines after `---`",
            YamlErrorKind::AfterEnd => "start the next document with a line `---` instead of `...`",
            YamlErrorKind::Directive => "remove the directive; Kubernetes reads one fixed kind of YAML",
            YamlErrorKind::Tab => "indent with spaces",
            YamlErrorKind::Template => "render the template first, or quote the value",
            YamlErrorKind::Syntax(_) => "check the indentation, quotes and brackets around this place",
            YamlErrorKind::Depth { .. } => "flatten the value; no Kubernetes object nests this deep",
            YamlErrorKind::AliasBudget => "write the values out instead of nesting aliases",
            YamlErrorKind::UnknownAnchor => {
                "define the anchor earlier in the same document (anchors do not reach across `---`), or quote the value if it is text"
            }
            YamlErrorKind::RecursiveAnchor => "move the alias out of the value it refers to",
            YamlErrorKind::DuplicateKey { .. } => "remove one of the two, or merge them",
            YamlErrorKind::KeyNotScalar => "use text as the key; quote it if it begins with `{` or `[`",
            YamlErrorKind::KeyNull => "quote the key if its text is meant",
            YamlErrorKind::KeyTooLarge => "quote the key",
            YamlErrorKind::Merge => "give `<<` a mapping or a list of mappings, or quote it if the key `<<` is meant",
            YamlErrorKind::NotFinite => "quote it if text is meant; JSON has no such number",
            YamlErrorKind::TagMismatch { .. } => "remove the tag or change the value",
            YamlErrorKind::InvalidBase64 => "give standard base64 with padding, or remove the tag",
            YamlErrorKind::BinaryNotText => {
                "use the field for binary data (`binaryData`, `data` of a Secret) with base64 and without the tag"
            }
            YamlErrorKind::Surrogates => "write the character itself, or one escape such as \"\\U0001F600\"",
            YamlErrorKind::JsonEscape => "write `/` without the backslash",
            YamlErrorKind::AnchorName => "rename the anchor and its aliases",
            YamlErrorKind::Brackets => "quote the text, or put a space after the colon",
            YamlErrorKind::BlockAtMargin => "indent the text below `|` or `>`",
            YamlErrorKind::BlankLastLine => "end the file with a line break",
            YamlErrorKind::TooMany { .. } => "fix these first",
        }
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            YamlErrorKind::TooLarge { limit } => write!(f, "the file is larger than {limit} bytes"),
            YamlErrorKind::NotUtf8 => f.write_str("not UTF-8 text"),
            YamlErrorKind::Utf16 => f.write_str("UTF-16 text; UTF-8 is expected"),
            YamlErrorKind::Nul => f.write_str("a NUL byte in the text"),
            YamlErrorKind::LfsPointer => {
                f.write_str("LFS pointer, not YAML: the content is in Git LFS and not in this commit")
            }
            YamlErrorKind::ControlCharacter(c) => write!(f, "control character U+{:04X}", u32::from(*c)),
            YamlErrorKind::OldLineBreak(c) => {
                write!(f, "U+{:04X} is a line break in YAML 1.1 and an ordinary character in YAML 1.2", u32::from(*c))
            }
            YamlErrorKind::ByteOrderMark => f.write_str("a byte-order mark in the middle of the text"),
            YamlErrorKind::Separator => f.write_str("text after `---`; kubectl accepts only a comment there"),
            YamlErrorKind::AfterEnd => f.write_str("text after the end of the document; kubectl drops it in silence"),
            YamlErrorKind::Directive => f.write_str("a YAML directive"),
            YamlErrorKind::Tab => f.write_str("a tab in the indentation"),
            YamlErrorKind::Template => f.write_str("a template (`{{`), not YAML"),
            YamlErrorKind::Syntax(problem) => f.write_str(problem),
            YamlErrorKind::Depth { limit } => write!(f, "nested deeper than {limit} levels"),
            YamlErrorKind::AliasBudget => f.write_str("the aliases expand to too many values (excessive aliasing)"),
            YamlErrorKind::UnknownAnchor => f.write_str("an alias (`*name`) of an unknown anchor"),
            YamlErrorKind::RecursiveAnchor => f.write_str("the value of this alias's anchor contains itself"),
            YamlErrorKind::DuplicateKey { key, .. } => write!(f, "the key `{key}` is already set in this mapping"),
            YamlErrorKind::KeyNotScalar => f.write_str("a mapping or sequence as a key"),
            YamlErrorKind::KeyNull => f.write_str("null as a key"),
            YamlErrorKind::KeyTooLarge => f.write_str("a number above 2^63 as a key"),
            YamlErrorKind::Merge => f.write_str("`<<` merges mappings; this is something else"),
            YamlErrorKind::NotFinite => f.write_str("infinity or not-a-number"),
            YamlErrorKind::TagMismatch { tag } => write!(f, "the value is not what its tag `{tag}` says"),
            YamlErrorKind::InvalidBase64 => f.write_str("not base64, though the tag is `!!binary`"),
            YamlErrorKind::BinaryNotText => f.write_str("`!!binary` content that is not UTF-8 text"),
            YamlErrorKind::Surrogates => f.write_str("half of a character (\\uD800-\\uDFFF), which only JSON allows"),
            YamlErrorKind::JsonEscape => f.write_str("the escape `\\/`, which only JSON allows"),
            YamlErrorKind::AnchorName => {
                f.write_str("the name of this anchor has more than ASCII letters, digits, `-` and `_`")
            }
            YamlErrorKind::Brackets => {
                f.write_str("a `:` or `?` in brackets that YAML 1.1 and 1.2 take for different things")
            }
            YamlErrorKind::BlockAtMargin => f.write_str("block text that is not indented"),
            YamlErrorKind::BlankLastLine => f.write_str("the block text ends in a line of spaces without a line break"),
            YamlErrorKind::TooMany { shown } => {
                write!(f, "more than {shown} mistakes in this document; the rest is not listed")
            }
        }
    }
}

impl std::error::Error for YamlError {}
