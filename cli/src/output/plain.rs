//! Diagnostics one by one, for files, pipes and logs: `path:line:column: error[FW1042]: message`.

use fleetwright_compiler::report::Located;

use super::Paths;
use super::printable::printable;

/// Each diagnostic in a line that `grep` and editors understand; what belongs to it is indented below.
pub fn text(located: &[Located], paths: &Paths) -> String {
    let mut text = String::new();
    for one in located {
        let place = paths.place(one.path.as_deref(), one.position);
        text.push_str(&format!("{place}{}[{}]: {}\n", one.severity, one.code, below(&one.message)));
        for related in &one.related {
            let place = paths.place(related.path.as_deref(), related.position);
            text.push_str(&format!("  {place}note: {}\n", below(&related.message)));
        }
        if let Some(help) = &one.help {
            text.push_str(&format!("  help: {}\n", below(help)));
        }
    }
    text
}

/// Further lines of a text, indented so that they are not taken for a diagnostic of their own.
fn below(text: &str) -> String {
    printable(text).replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    #[test]
    fn one_line_each() {
        let paths = Paths { on_screen: "fleet/".into(), record: "live:".into(), in_repository: "fleet/".into() };
        assert_eq!(
            text(&fixture::located(), &paths),
            "\
fleet/teams/shop/web.yaml:3:9: error[FW1060]: there is no cluster `eu-x`
  fleet/clusters/eu-a.yaml:4:9: note: the nearest name
  help: did you mean `eu-a`?
live:placements/shop.yaml: warning[FW1184]: two
    lines, 100%
error[FW1041]: nowhere
"
        );
    }
}
