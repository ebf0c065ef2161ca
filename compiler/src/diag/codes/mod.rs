//! The table of codes. FW1xxx: the repository is wrong; FW2xxx: kept for what clusters answer; FW9xxx: our bug.

use std::fmt;

/// Declares the codes of one family: constants, and the table `explain` prints.
macro_rules! family {
    ($($(#[doc = $doc:literal])* $name:ident = $number:literal $severity:ident $title:literal;)*) => {
        use super::{Code, Entry, Severity};
        $(
            $(#[doc = $doc])*
            pub const $name: Code = Code($number);
        )*
        /// The codes of this family.
        pub(super) const ENTRIES: &[Entry] = &[$(Entry {
            code: $name,
            severity: Severity::$severity,
            title: $title,
            text: concat!($($doc, "\n"),*),
        }),*];
    };
}

pub mod bugs;
pub mod fields;
pub mod kinds;
pub mod layout;
pub mod manifests;
pub mod overrides;
pub mod placement;
pub mod reading;
pub mod record;
pub mod references;
pub mod rights;
pub mod tides;

/// A stable code, printed as `FW1042`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub(crate) u16);

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The repository is refused.
    Error,
    /// It compiles; a person should look.
    Warning,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// One line.
    pub title: &'static str,
    /// What it means, why it is refused, and how to fix it.
    pub text: &'static str,
}

impl Code {
    /// How bad it is.
    #[must_use]
    pub fn severity(self) -> Severity {
        // A code that is in no table can only be our mistake, which the test below rules out.
        self.entry().map_or(Severity::Error, |e| e.severity)
    }

    /// Its row of the table.
    #[must_use]
    pub fn entry(self) -> Option<&'static Entry> {
        table().find(|e| e.code == self)
    }

    /// Reads `FW1042`, in any case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.get(..2).filter(|p| p.eq_ignore_ascii_case("FW")).and_then(|_| text.get(2..))?;
        let number: u16 = digits.parse().ok().filter(|_| digits.len() == 4)?;
        table().map(|e| e.code).find(|c| c.0 == number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FW{:04}", self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Every code, by number within its family.
pub fn table() -> impl Iterator<Item = &'static Entry> {
    [
        reading::ENTRIES,
        fields::ENTRIES,
        layout::ENTRIES,
        references::ENTRIES,
        manifests::ENTRIES,
        rights::ENTRIES,
        placement::ENTRIES,
        overrides::ENTRIES,
        record::ENTRIES,
        tides::ENTRIES,
        kinds::ENTRIES,
        bugs::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_explained_and_in_order() {
        let mut last = 0;
        for entry in table() {
            assert!(entry.code.0 > last, "{} is out of order or used twice", entry.code);
            last = entry.code.0;
            assert!(!entry.title.is_empty() && !entry.title.ends_with('.'), "{} has a bad title", entry.code);
            assert!(entry.text.len() > 60, "{} is not explained", entry.code);
            assert_eq!(Code::parse(&entry.code.to_string()), Some(entry.code));
        }
        for bad in ["", "FW", "FW1", "1001", "FWabcd", "FW0000", "ü1001"] {
            assert_eq!(Code::parse(bad), None, "{bad}");
        }
    }
}
