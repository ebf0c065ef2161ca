//! `advance` and the orders of people, against a bare repository.

use std::path::{Path, PathBuf};

use super::{Run, assert_code, git, line, new_fleet, run, workspace, write};

/// A fleet in a clone of a bare repository, pushed to `main`.
fn cloned() -> (tempfile::TempDir, PathBuf) {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    git(folder.path(), "init -q --bare -b main remote.git");
    git(&fleet, "init -q -b main");
    git(&fleet, "config user.name ann");
    git(&fleet, "config user.email ann@fleet.example");
    git(&fleet, "remote add origin ../remote.git");
    push(&fleet);
    (folder, fleet)
}

fn push(fleet: &Path) {
    git(fleet, "add -A");
    git(fleet, "commit -q --allow-empty -m change");
    git(fleet, "push -q origin main");
}

fn remote_live(fleet: &Path) -> String {
    git(&fleet.join("../remote.git"), "rev-parse refs/heads/live")
}

fn says(run: &Run, code: i32, text: &str) {
    assert_code(run, code);
    assert!(run.stdout.contains(text) || run.stderr.contains(text), "{text}:\n{}\n{}", run.stdout, run.stderr);
}

#[test]
fn main_goes_live_and_people_decide() {
    let (_folder, fleet) = cloned();
    says(&line(&fleet, "drain eu-a"), 4, "`fleetwright advance` makes it");
    says(&line(&fleet, "advance"), 0, "Pin Apply ");
    let first = remote_live(&fleet);
    let again = line(&fleet, "advance");
    assert_eq!((again.code, again.stdout.as_str()), (0, ""));
    says(&line(&fleet, "advance -o json"), 0, "\"commits\": []");
    assert_eq!(remote_live(&fleet), first);

    let cluster = std::fs::read_dir(fleet.join("clusters")).expect("clusters").next().expect("one").expect("one");
    let cluster = cluster.file_name().into_string().expect("text").replace(".yaml", "");
    says(&line(&fleet, &format!("cordon {cluster}")), 0, &format!("Cordon {cluster}"));
    says(&line(&fleet, &format!("cordon {cluster}")), 4, "is Cordoned already");
    says(&line(&fleet, "cordon nowhere"), 2, "there is no cluster `nowhere`");
    let history = line(&fleet, "history");
    says(&history, 0, "Cordon");
    let sha = history.stdout.split_whitespace().next().expect("a commit").to_owned();
    says(&line(&fleet, &format!("undo {sha} --hold 8h --reason test")), 0, "Undo");
    says(&line(&fleet, "history -o json"), 0, "\"cause\": \"Undo\"");
    says(&line(&fleet, "history -n 1"), 0, "Undo");
    says(&line(&fleet, "advance --holder other"), 4, "`fleetwright promote-decider other`");
    says(&line(&fleet, "promote-decider other"), 0, "term 2");
    says(&line(&fleet, "advance --holder other"), 0, "up to date");
    says(&line(&fleet, "advance"), 4, "`other` decides this repository (term 2)");
    // By URL, without a checkout.
    let bare = fleet.join("../remote.git");
    says(&line(Path::new("/"), &format!("advance --holder other --repo {}", bare.display())), 0, "up to date");
}

/// Every command that decides shows what it would commit, and leaves the remote as it was.
#[test]
fn a_dry_run_writes_nothing() {
    let (_folder, fleet) = cloned();
    let dry = line(&fleet, "advance --dry-run");
    says(&dry, 0, "Fleetwright-Cause: Pin");
    says(&dry, 0, "dry run: nothing was written");
    assert_eq!(git(&fleet.join("../remote.git"), "branch --list live"), "");
    says(&line(&fleet, "advance"), 0, "Pin");
    let live = remote_live(&fleet);
    says(&line(&fleet, "advance --dry-run"), 0, "nothing is due");
    for (order, says_) in [
        ("drain prod-eu", "Drain prod-eu"),
        ("failover prod-eu", "Failover"),
        ("suspend shop/web", "Suspend shop/web"),
        ("promote-decider other", "term 2"),
    ] {
        let run = line(&fleet, &format!("{order} --dry-run"));
        says(&run, 0, says_);
        says(&run, 0, "dry run: nothing was written");
        let data = line(&fleet, &format!("{order} --dry-run -o json"));
        says(&data, 0, "\"dryRun\": true");
        assert!(!data.stdout.contains("\"id\""), "{}", data.stdout);
        assert_eq!(remote_live(&fleet), live, "{order}");
    }
    says(&line(&fleet, "rebalance --team shop --dry-run"), 0, "dry run: nothing was written");
    says(&line(&fleet, "rebalance --dry-run"), 2, "`--team TEAM` those of a team");
    says(&line(&fleet, "rebalance --team shpo"), 2, "there is no team `shpo`; did you mean `shop`?");
    for budget in ["0", "0%"] {
        let run = line(&fleet, &format!("rebalance --team shop --max-move {budget}"));
        says(&run, 0, "nothing is to be committed: `live` stays as it is");
    }
    says(&line(&fleet, "rebalance -l no=such"), 2, "no App has the labels of `-l`");
    assert_eq!(remote_live(&fleet), live);
}

/// Whoever orders is one line of text, in every command that takes it.
#[test]
fn who_orders_is_a_name() {
    let (_folder, fleet) = cloned();
    says(&line(&fleet, "advance"), 0, "Pin");
    let live = remote_live(&fleet);
    for order in
        ["cordon prod-eu", "rebalance --team shop", "preempt shop/web", "undo abc", "approve b3:0123456789abcdef"]
    {
        for (name, expected) in [
            ("", "it is empty; expected a name"),
            ("  ", "it is empty; expected a name"),
            ("Ann\nFleetwright-Cause: Pin", "line breaks"),
            ("Ann\u{1b}[2J", "cannot be seen"),
            ("<ann>", "without `<` and `>`"),
        ] {
            let refused = run(&fleet, order.split(' ').chain(["--by", name]));
            says(&refused, 2, expected);
        }
    }
    says(&run(&fleet, ["undo", "abc", "--hold", "8h", "--reason", " "]), 2, "it is empty; expected a reason");
    says(&run(&fleet, ["advance", "--holder", ""]), 2, "the name of a decider is one word");
    assert_eq!(remote_live(&fleet), live);
    says(&run(&fleet, ["cordon", "prod-eu", "--by", " Ann Lee "]), 0, "Cordon prod-eu");
    assert_eq!(git(&fleet.join("../remote.git"), "log -1 --format=%an live"), "Ann Lee");
    git(&fleet, "config user.name \u{1}");
    says(&line(&fleet, "cordon prod-us"), 2, "`user.name` of Git");
}

/// Reports name the commit of the record, its time, and how to get a newer one.
#[test]
fn reports_say_which_record_counts() {
    let (_folder, fleet) = cloned();
    says(&line(&fleet, "advance"), 0, "Pin");
    git(&fleet, "fetch -q origin");
    let live = remote_live(&fleet);
    let head = format!("Record: origin/live at {} of 2", live.get(..12).expect("an id"));
    let hint = "; as last fetched: `git fetch origin live` looks for a newer one\n";
    for command in ["plan", "why shop/web", "what-if --replicas shop/web=3", "diff", "diff main"] {
        let run = line(&fleet, command);
        assert_code(&run, 0);
        let text = run.stdout.replace("Base: ", "Record: ");
        assert!(text.contains(&head) && text.contains(hint), "{command}: {}", run.stdout);
        let data = line(&fleet, &format!("{command} -o json"));
        assert!(data.stdout.contains(&format!("\"commit\": \"{live}\"")), "{command}: {}", data.stdout);
    }
    // one here counts before that of the remote, and that it lags behind is said
    git(&fleet, "branch -q live origin/live");
    let now = format!("Record: live at {}", live.get(..12).expect("an id"));
    says(&line(&fleet, "plan"), 0, &now);
    says(&line(&fleet, "suspend shop/web"), 0, "Suspend");
    git(&fleet, "fetch -q origin");
    let newer = remote_live(&fleet);
    let lags = format!("the branch here counts, and origin/live is at {}", newer.get(..12).expect("an id"));
    says(&line(&fleet, "plan"), 0, &lags);
    says(&line(&fleet, "plan"), 0, "`git fetch origin live:live`");
}

#[test]
fn what_does_not_compile_stays_out_and_is_said() {
    let (_folder, fleet) = cloned();
    says(&line(&fleet, "advance"), 0, "Pin");
    let live = remote_live(&fleet);
    write(&fleet, "clusters/broken.yaml", "apiVersion: fleetwright.io/v1alpha1\nkind: Cluster\nspec: 3\n");
    push(&fleet);
    let run = line(&fleet, "advance");
    says(&run, 3, "clusters/broken.yaml:");
    assert_eq!(remote_live(&fleet), live);
}

/// What a slow line needs is named where people look for it.
#[test]
fn how_git_gets_longer_is_said() {
    let root = workspace();
    let kubernetes = root.join("reconciler/kubernetes");
    let mut texts = vec![run(&root, ["controller", "--help"]).stdout, run(&root, ["advance", "--help"]).stdout];
    let files = [root.join("README.md"), kubernetes.join("controller.yaml"), kubernetes.join("agent.yaml")];
    texts.extend(files.iter().map(|file| std::fs::read_to_string(file).expect("a file")));
    for text in texts {
        assert!(text.contains("FLEETWRIGHT_GIT_TIMEOUT_SECS") && text.contains("600 s"), "{text}");
    }
}

#[test]
fn where_the_environment_fails() {
    let (folder, fleet) = cloned();
    says(&line(&fleet, "advance --repo http://git.example/x"), 2, "not supported");
    says(&line(&fleet, "advance --repo /nowhere/at/all"), 5, "/nowhere/at/all");
    let hook = fleet.join("../remote.git/hooks/update");
    write(&fleet, "../remote.git/hooks/update", "#!/bin/sh\ncase $1 in *live) echo frozen >&2; exit 1;; esac\n");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).expect("permissions");
    says(&line(&fleet, "advance"), 5, "frozen");
    let outside = folder.path().join("plain");
    std::fs::create_dir(&outside).expect("a folder");
    says(&line(&outside, "advance"), 5, "");
}
