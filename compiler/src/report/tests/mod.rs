//! Tables of facts about reports.

mod comments;
mod lines;
mod many;
mod secrets;
mod suppositions;
mod texts;
mod tides;
mod whys;
