//! 32-byte identities: of a stored blob or tree ([`ContentId`]) and of a meaning ([`Digest`]).

use std::fmt;

fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))
}

/// What a file or a directory holds: a Git blob or tree id (SHA-1 in the first 20 bytes, zeros after), for folders too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId(pub [u8; 32]);

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0[..8], f)
    }
}

/// A BLAKE3 hash of what something means: no spans, no comments, no key order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// `b3:` and the first 16 hexadecimal digits: the form written into the record. Long enough to tell apart the
    /// values one field takes over its life; never used as proof of equality between files.
    #[must_use]
    pub fn short(&self) -> String {
        use std::fmt::Write as _;
        let mut out = String::from("b3:");
        for b in &self.0[..8] {
            let _ = write!(out, "{b:02x}");
        }
        out
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

/// Builds a [`Digest`] from parts. Every part is written with its length, so that `ab`+`c` differs from `a`+`bc`.
#[derive(Debug, Default, Clone)]
pub struct DigestWriter(blake3::Hasher);

impl DigestWriter {
    /// An empty writer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one part.
    pub fn part(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds a number as a part.
    pub fn number(&mut self, n: u64) -> &mut Self {
        self.part(&n.to_le_bytes())
    }

    /// The digest of all parts so far.
    #[must_use]
    pub fn finish(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}
