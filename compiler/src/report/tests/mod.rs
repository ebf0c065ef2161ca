//! Tables of facts about reports.
