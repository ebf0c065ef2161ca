//! Annotations of GitHub Actions: workflow commands that the runner shows beside the lines of a pull request.
//!
//! Format and escapes: docs.github.com, "Workflow commands for GitHub Actions"; `escapeData` and `escapeProperty` of
//! actions/toolkit.

use fleetwright_compiler::report::Located;

use super::Paths;

/// One command a line.
pub fn text(located: &[Located], paths: &Paths) -> String {
    located.iter().map(|one| command(one, paths)).collect()
}

fn command(one: &Located, paths: &Paths) -> String {
    let mut properties: Vec<(&str, String)> = Vec::new();
    if let Some(path) = &one.path {
        properties.push(("file", format!("{}{path}", paths.in_repository)));
        if let Some(at) = one.position {
            properties.push(("line", at.line.to_string()));
            // GitHub drops columns of an annotation over several lines, so it is put on its first.
            properties.push(("col", at.column.to_string()));
        }
    }
    properties.push(("title", format!("{}: {}", one.code, one.title)));
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    let mut message = one.message.clone();
    for related in &one.related {
        let place = paths.place(related.path.as_deref(), related.position);
        message.push_str(&format!("\n{place}{}", related.message));
    }
    if let Some(help) = &one.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    format!("::{} {}::{}\n", one.severity, properties.join(","), data(&message))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    #[test]
    fn commands() {
        let paths = Paths { on_screen: "x/".into(), record: "live:".into(), in_repository: "fleet/".into() };
        assert_eq!(
            text(&fixture::located(), &paths),
            "\
::error file=fleet/teams/shop/web.yaml,line=3,col=9,title=FW1060%3A unknown cluster::\
there is no cluster `eu-x`%0Ax/clusters/eu-a.yaml:4:9: the nearest name%0Ahelp: did you mean `eu-a`?
::warning file=fleet/placements/shop.yaml,title=FW1184%3A recorded placement of something that is gone::\
two%0Alines, 100%25
::error title=FW1041%3A no fleet.yaml::nowhere
"
        );
    }

    #[test]
    fn escapes() {
        assert_eq!(property("a:b,c%d\r\n"), "a%3Ab%2Cc%25d%0D%0A");
        // What would end the command, or begin another, is data.
        assert_eq!(data("x\n::stop-commands::t"), "x%0A::stop-commands::t");
    }
}
