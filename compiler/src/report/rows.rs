//! Rows of clusters: few are told one by one, of many those that say the same are one row.

use super::names::short_list;

/// Rows that are told one by one, whatever they say.
const ONE_BY_ONE: usize = 6;
/// Rows beyond which the rest is counted.
const MOST: usize = 12;

/// A cluster and the cells that are said of it.
pub(super) type Row = (String, Vec<String>);

/// The rows as they are shown: each cluster by itself where there are few of them or `all` is asked for, else clusters with
/// equal cells in one row, `eu-a, eu-b, eu-c and 36 more, each`, and what is more than a screen takes as a number.
pub(super) fn by_cluster(rows: Vec<Row>, all: bool) -> Vec<Row> {
    let groups = alike(rows, all);
    // the last line would be as long as the row it stands for
    if all || groups.len() <= MOST + 1 {
        return groups.into_iter().map(shown).collect();
    }
    let rest: usize = groups.iter().skip(MOST).map(|(names, _)| names.len()).sum();
    let more = (format!("and {rest} more clusters"), Vec::new());
    groups.into_iter().take(MOST).map(shown).chain([more]).collect()
}

/// The same with nothing left out, for what a report is about.
pub(super) fn grouped(rows: Vec<Row>, all: bool) -> Vec<Row> {
    alike(rows, all).into_iter().map(shown).collect()
}

/// Names that have the same cells, in the order of the first of them.
fn alike(rows: Vec<Row>, all: bool) -> Vec<(Vec<String>, Vec<String>)> {
    let one_by_one = all || rows.len() <= ONE_BY_ONE;
    let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for (name, cells) in rows {
        match groups.iter_mut().find(|(_, of)| !one_by_one && *of == cells) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], cells)),
        }
    }
    groups
}

fn shown((names, cells): (Vec<String>, Vec<String>)) -> Row {
    match names.as_slice() {
        [one] => (one.clone(), cells),
        several => (format!("{}, each", short_list(several)), cells),
    }
}

/// The same for rows of several things, of which each is told by itself: the rows of one follow each other.
pub(super) fn of_each(rows: Vec<(String, Row)>, all: bool) -> Vec<Vec<String>> {
    let mut table = Vec::new();
    for of_one in rows.chunk_by(|(a, _), (b, _)| a == b) {
        let Some((name, _)) = of_one.first() else { continue };
        let rows = by_cluster(of_one.iter().map(|(_, row)| row.clone()).collect(), all);
        table.extend(rows.into_iter().map(|(cluster, cells)| {
            let mut line = vec![name.clone(), cluster];
            line.extend(cells);
            line
        }));
    }
    table
}

/// Lines of a list of which the first tell enough.
pub(super) fn first_lines(lines: Vec<String>, most: usize) -> Vec<String> {
    let rest = lines.len().saturating_sub(most);
    if rest <= 1 {
        return lines;
    }
    let more = format!("and {rest} more: `--all` lists them");
    lines.into_iter().take(most).chain([more]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cells: &[&str]) -> Vec<Row> {
        cells.iter().enumerate().map(|(at, cell)| (format!("c{at}"), vec![(*cell).to_owned()])).collect()
    }

    fn lines(rows: Vec<Row>) -> Vec<String> {
        rows.into_iter().map(|(name, cells)| format!("{name}: {}", cells.join(" "))).collect()
    }

    #[test]
    fn many_rows_that_say_the_same_are_one() {
        let few = rows(&["1"; 6]);
        assert_eq!(by_cluster(few.clone(), false), few);
        assert_eq!(
            lines(by_cluster(rows(&["1", "1", "2", "1", "1", "1", "1"]), false)),
            ["c0, c1, c3 and 3 more, each: 1", "c2: 2"]
        );
        let forty = rows(&["1"; 40]);
        assert_eq!(lines(by_cluster(forty.clone(), false)), ["c0, c1, c2 and 37 more, each: 1"]);
        assert_eq!(by_cluster(forty.clone(), true), forty);
    }

    #[test]
    fn many_that_differ_are_counted() {
        let cells: Vec<String> = (0..40).map(|n| n.to_string()).collect();
        let of = |n: usize| by_cluster(rows(&cells.iter().take(n).map(String::as_str).collect::<Vec<_>>()), false);
        assert_eq!((of(13).len(), of(14).len()), (13, 13));
        assert_eq!(of(40).last(), Some(&("and 28 more clusters".to_owned(), Vec::new())));
        let all = rows(&cells.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(grouped(all.clone(), false), all);
    }

    #[test]
    fn each_thing_is_told_by_itself() {
        let mut all: Vec<(String, Row)> = rows(&["1"; 7]).into_iter().map(|row| ("a".to_owned(), row)).collect();
        all.extend(rows(&["1"; 2]).into_iter().map(|row| ("b".to_owned(), row)));
        let lines: Vec<String> = of_each(all, false).iter().map(|line| line.join(" ")).collect();
        assert_eq!(lines, ["a c0, c1, c2 and 4 more, each 1", "b c0 1", "b c1 1"]);
    }

    #[test]
    fn lists_end_with_a_count() {
        let lines: Vec<String> = (0..5).map(|n| n.to_string()).collect();
        assert_eq!(first_lines(lines.clone(), 4), lines);
        assert_eq!(first_lines(lines, 3), ["0", "1", "2", "and 2 more: `--all` lists them"]);
    }
}
