//! Which apps a policy reaches, and which of several policies comes first.

use std::cmp::Reverse;

use crate::base::SmolStr;
use crate::base::labels::{LabelSelector, Labels};

/// A resolved app selector: all stated parts must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct AppSelector {
    /// Labels and expressions.
    pub labels: LabelSelector,
    /// Only these: `team/app`, or `app` of any team.
    pub names: Option<Vec<SmolStr>>,
    /// Only of these teams.
    pub teams: Option<Vec<SmolStr>>,
}

/// How specific an app selector is: of policies of the same precedence the more specific one comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Specificity {
    /// `{}`, or teams alone.
    All,
    /// By labels.
    Label,
    /// By name.
    Name,
}

/// The place of a policy among those that reach an app: the least comes first and wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank<'n> {
    precedence: Reverse<i32>,
    specificity: Reverse<Specificity>,
    name: &'n str,
}

impl AppSelector {
    /// Whether an app is selected, and how specifically.
    #[must_use]
    pub fn matches(&self, team: &str, app: &str, labels: &Labels) -> Option<Specificity> {
        if self.teams.as_ref().is_some_and(|teams| !teams.iter().any(|t| t == team)) || !self.labels.matches(labels) {
            return None;
        }
        if let Some(names) = &self.names {
            let named = |n: &SmolStr| n == app || n.split_once('/').is_some_and(|(t, a)| t == team && a == app);
            return names.iter().any(named).then_some(Specificity::Name);
        }
        Some(if self.labels.is_everything() { Specificity::All } else { Specificity::Label })
    }
}

impl<'n> Rank<'n> {
    /// By precedence, the highest first; then the most specific; then by name.
    #[must_use]
    pub fn new(precedence: i32, specificity: Specificity, name: &'n str) -> Self {
        Self { precedence: Reverse(precedence), specificity: Reverse(specificity), name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_then_specificity_then_name() {
        use Specificity::{All, Label, Name};
        let ranks = [
            Rank::new(2, All, "z"),
            Rank::new(1, Name, "b"),
            Rank::new(1, Label, "a"),
            Rank::new(0, Name, "a"),
            Rank::new(0, Name, "b"),
            Rank::new(-1, Name, "a"),
        ];
        assert!(ranks.is_sorted());
    }

    #[test]
    fn the_most_exact_part_says_how_specific() {
        let app = |selector: &AppSelector| {
            selector.matches("shop", "checkout", &Labels::from([("tier".into(), "web".into())]))
        };
        let everything = LabelSelector { match_labels: Labels::new(), match_expressions: Vec::new() };
        let all = AppSelector { labels: everything.clone(), names: None, teams: None };
        let labels = |value: &str| LabelSelector {
            match_labels: Labels::from([("tier".into(), value.into())]),
            ..everything.clone()
        };
        let named = |name: &str| AppSelector { names: Some(vec![name.into()]), ..all.clone() };
        assert_eq!(app(&all), Some(Specificity::All));
        assert_eq!(app(&AppSelector { teams: Some(vec!["shop".into()]), ..all.clone() }), Some(Specificity::All));
        assert_eq!(app(&AppSelector { teams: Some(vec!["web".into()]), ..all.clone() }), None);
        assert_eq!(app(&AppSelector { labels: labels("web"), ..all.clone() }), Some(Specificity::Label));
        assert_eq!(app(&AppSelector { labels: labels("db"), ..all.clone() }), None);
        assert_eq!(app(&named("checkout")), Some(Specificity::Name));
        assert_eq!(app(&named("shop/checkout")), Some(Specificity::Name));
        assert_eq!(app(&named("other/checkout")), None);
        // All parts must hold: a name does not make up for labels.
        assert_eq!(app(&AppSelector { labels: labels("db"), ..named("checkout") }), None);
        assert_eq!(app(&AppSelector { labels: labels("web"), ..named("checkout") }), Some(Specificity::Name));
    }
}
