//! What is known of a custom kind.

use crate::base::SmolStr;
use crate::kinds::cel::Expression;

/// A custom kind that a WorkloadKind teaches.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomKind {
    /// Its API group.
    pub group: SmolStr,
    /// Its name.
    pub kind: SmolStr,
    /// When its objects are healthy; `None`: by their conditions.
    pub health: Option<HealthRules>,
}

/// When objects of a custom kind are healthy.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthRules {
    /// It is as it should be.
    pub current: Expression,
    /// It is on its way.
    pub in_progress: Option<Expression>,
    /// It will not get there by itself.
    pub failed: Option<Expression>,
}
