//! Three diagnostics that between them have everything a form must handle.

use fleetwright_compiler::report::{Located, Position, Related};

pub fn located() -> Vec<Located> {
    let nowhere = Located {
        code: "FW1041".into(),
        severity: "error",
        title: "no fleet.yaml",
        path: None,
        position: None,
        message: "nowhere".into(),
        help: None,
        related: Vec::new(),
    };
    let at = |line, start| Position { line, column: 9, end_line: line, end_column: 13, start, end: start + 4 };
    vec![
        Located {
            code: "FW1060".into(),
            title: "unknown cluster",
            path: Some("teams/shop/web.yaml".into()),
            position: Some(at(3, 30)),
            message: "there is no cluster `eu-x`".into(),
            help: Some("did you mean `eu-a`?".into()),
            related: vec![Related {
                path: Some("clusters/eu-a.yaml".into()),
                position: Some(at(4, 20)),
                message: "the nearest name".into(),
            }],
            ..nowhere.clone()
        },
        Located {
            code: "FW1184".into(),
            severity: "warning",
            title: "recorded placement of something that is gone",
            path: Some("placements/shop.yaml".into()),
            message: "two\nlines, 100%".into(),
            ..nowhere.clone()
        },
        nowhere,
    ]
}
