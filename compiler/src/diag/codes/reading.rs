//! FW1001–FW1019: bytes that cannot be read as YAML with the meaning Kubernetes gives it.

family! {
    /// The text is not valid YAML (or JSON): the reader stopped at the place shown. Nothing of the document is used.
    /// Fix the syntax there; a value that begins with a special character, or holds `: ` or ` #`, needs quotes.
    YAML_SYNTAX = 1001 Error "not valid YAML";
    /// The same key stands twice in one mapping. Most readers silently keep the last one, so a review cannot tell which
    /// value is meant. Remove one of the two. Keys are compared after they were read: `1` and `"1"` are the same key.
    DUPLICATE_KEY = 1002 Error "duplicate key";
    /// The file is larger, nested deeper, or expands to more through aliases than any manifest needs. Such input is
    /// refused before it costs time and memory. Split the file, or write out what the aliases stand for.
    YAML_LIMIT = 1003 Error "file too large or too deeply nested";
    /// The file is not UTF-8 text, or holds NUL bytes. Save it as UTF-8 without a byte order mark of another encoding.
    NOT_TEXT = 1004 Error "not UTF-8 text";
    /// The file is a pointer of Git LFS, not the file itself: the checkout did not fetch it. Manifests are small; keep
    /// them in Git itself.
    LFS_POINTER = 1005 Error "a Git LFS pointer instead of YAML";
    /// The document uses a YAML feature that has no meaning for Kubernetes: an unknown tag, a directive, a number that
    /// is infinite or not a number, a mapping as a key. Write the plain value.
    YAML_FEATURE = 1006 Error "YAML feature without meaning for Kubernetes";
    /// YAML 1.1, which Kubernetes reads, and YAML 1.2, which many editors and tools read, give this plain scalar different
    /// values (`yes`, `on`, `0644`, `1_000`, `12:30`). Quote it if a string is meant, or write the value so that both read
    /// the same (`true`, `420`).
    AMBIGUOUS_SCALAR = 1007 Warning "scalar that YAML 1.1 and 1.2 read differently";
    /// A merge key `<<` stands below a key that the merged mapping also has. Kubernetes' reader lets the merged value win, by
    /// the rule of YAML the written one does. Write `<<` first, or remove one of the two.
    MERGE_OVERRIDES = 1008 Warning "merge key that overrides what is written";
    /// A tag that Kubernetes' reader drops in silence. It changes nothing; remove it.
    IGNORED_TAG = 1009 Warning "tag without effect";
}
