//! Where the record comes from, and what is written.

use std::fs;

use super::{assert_code, git, line, new_fleet, write};

#[test]
fn a_plan_that_is_written_moves_nothing_more() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    assert_code(&line(&fleet, "plan --exit-code"), 1);
    assert_code(&line(&fleet, "plan --write --exit-code"), 1);
    let written = fs::read_to_string(fleet.join("placements/shop.yaml")).expect("it was written");
    assert!(written.starts_with("apiVersion: fleetwright.io/v1alpha1\nkind: Placements\n"), "{written}");
    assert_code(&line(&fleet, "plan --exit-code"), 0);
    assert_code(&line(&fleet, "plan --write --exit-code"), 0);
    assert_eq!(fs::read_to_string(fleet.join("placements/shop.yaml")).expect("it stays"), written);
}

#[test]
fn rendering_again_writes_nothing_and_removes_what_is_stale() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    assert_code(&line(&fleet, "render --to ../out"), 0);
    let out = folder.path().join("out");
    let file = out.join("prod-eu/shop/web.yaml");
    let before = fs::metadata(&file).and_then(|m| m.modified()).expect("it was written");
    write(&out, "prod-eu/shop/gone.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n");
    assert_code(&line(&fleet, "render --to ../out"), 0);
    assert_eq!(fs::metadata(&file).and_then(|m| m.modified()).expect("it stays"), before);
    let gone = out.join("prod-eu/shop/gone.yaml");
    // a file that was not rendered by us is somebody's
    assert!(gone.is_file(), "a file of somebody else was removed");
    fs::remove_file(gone).expect("it is there");
    fs::rename(fleet.join("teams/shop/web"), fleet.join("teams/shop/site")).expect("it moves");
    let app = fs::read_to_string(fleet.join("teams/shop/site/app.yaml")).expect("it is there");
    write(&fleet, "teams/shop/site/app.yaml", &app.replacen("name: web", "name: site", 1));
    assert_code(&line(&fleet, "render --to ../out"), 0);
    assert!(!file.exists(), "an app that is gone leaves no file");
    assert!(out.join("prod-eu/shop/site.yaml").is_file());
}

#[test]
fn the_live_branch_is_the_record() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    git(&fleet, "init -q -b main");
    git(&fleet, "add -A");
    git(&fleet, "commit -q -m intents");
    assert_code(&line(&fleet, "plan --write"), 0);
    git(&fleet, "checkout -q -b live");
    git(&fleet, "add -A");
    git(&fleet, "commit -q -m placements");
    git(&fleet, "checkout -q main");
    assert!(!fleet.join("placements").exists());
    assert_code(&line(&fleet, "plan --exit-code"), 0);
    assert_code(&line(&fleet, "plan --exit-code --record none"), 1);
    assert_code(&line(&fleet, "plan --exit-code --record live"), 0);
    // the record lies elsewhere: writing it here would fork it
    let refused = line(&fleet, "plan --write");
    assert_code(&refused, 4);
    assert!(refused.stderr.contains("live"), "{}", refused.stderr);
    assert!(!fleet.join("placements").exists());
    let unchanged = line(&fleet, "diff --exit-code");
    assert_code(&unchanged, 0);
    let deployment = fs::read_to_string(fleet.join("teams/shop/web/deployment.yaml")).expect("it is there");
    write(&fleet, "teams/shop/web/deployment.yaml", &deployment.replace("replicas: ", "replicas: 1"));
    assert_code(&line(&fleet, "diff --exit-code"), 1);
    // a revision is not the folder
    assert_code(&line(&fleet, "diff --exit-code main main"), 0);
    assert_code(&line(&fleet, "plan --rev main --exit-code"), 0);
}

#[test]
fn a_live_branch_that_is_named_and_missing_is_said() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    git(&fleet, "init -q -b main");
    let text = fs::read_to_string(fleet.join("fleet.yaml")).expect("it is there");
    let named = text.replacen("spec:\n", "spec:\n  branches: {live: running}\n", 1);
    assert_ne!(text, named);
    write(&fleet, "fleet.yaml", &named);
    git(&fleet, "add -A");
    git(&fleet, "commit -q -m intents");
    let said = "the live branch `running`, and there is none of that name";
    for words in ["check", "plan", "plan --rev main"] {
        let run = line(&fleet, words);
        assert_code(&run, 0);
        assert!(run.stderr.contains(said), "{words}: {}", run.stderr);
    }
    git(&fleet, "branch running");
    let run = line(&fleet, "plan");
    assert_code(&run, 0);
    assert!(!run.stderr.contains("live branch"), "{}", run.stderr);
    write(&fleet, "fleet.yaml", &text.replacen("spec:\n", "spec:\n  branches: {live: 'run..ning'}\n", 1));
    let run = line(&fleet, "check");
    assert_code(&run, 3);
    assert!(run.stdout.contains("`run..ning` is not a valid branch name"), "{}", run.stdout);
}

#[test]
fn a_folder_and_its_commit_render_the_same() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    git(&fleet, "init -q -b main");
    git(&fleet, "add -A");
    git(&fleet, "commit -q -m intents");
    let (here, there) = (line(&fleet, "plan -o json"), line(&fleet, "plan -o json --rev HEAD"));
    assert_code(&here, 0);
    assert_eq!(here.stdout, there.stdout);
}

#[test]
fn a_rebalance_of_a_folder_writes_only_what_moves() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    let path = fleet.join("placements/shop.yaml");
    for words in ["rebalance --team shop", "rebalance --team shop --dry-run"] {
        let refused = line(&fleet, words);
        assert_code(&refused, 4);
        let said =
            "placements/ says nothing of shop/web, so nothing runs that could move; `fleetwright plan --write` records";
        assert!(refused.stderr.contains(said), "{words}: {}", refused.stderr);
        assert_eq!((refused.stdout.as_str(), path.exists()), ("", false), "{words}");
    }
    assert_code(&line(&fleet, "plan --write"), 0);
    let spread = fs::read_to_string(&path).expect("it was written");
    // as if replicas had been moved by hand
    let moved = spread.replacen("replicas: 3", "replicas: 5", 1).replacen("replicas: 3", "replicas: 1", 1);
    assert_ne!(moved, spread);
    write(&fleet, "placements/shop.yaml", &moved);
    assert_code(&line(&fleet, "plan --exit-code"), 0);

    let dry = line(&fleet, "rebalance --team shop --dry-run");
    assert_code(&dry, 0);
    assert!(dry.stdout.contains("2 of 6 replicas move"), "{}", dry.stdout);
    assert_eq!(fs::read_to_string(&path).expect("it stays"), moved);
    assert_code(&line(&fleet, "rebalance --team shop --max-move 1"), 0);
    assert_code(&line(&fleet, "plan --exit-code"), 0);
    for nothing in ["0", "0%"] {
        let run = line(&fleet, &format!("rebalance --team shop --max-move {nothing}"));
        assert_code(&run, 0);
        assert!(run.stdout.contains("the budget is spent: 1 more replicas to move"), "{nothing}: {}", run.stdout);
        assert!(run.stderr.contains("nothing moves: placements/ stays as it is"), "{nothing}: {}", run.stderr);
    }
    assert_code(&line(&fleet, "rebalance --team shop"), 0);
    assert_eq!(fs::read_to_string(&path).expect("it was written"), spread);
    let again = line(&fleet, "rebalance -l !no-such-label -o json");
    assert!(again.stdout.contains("\"moved\": 0"), "{}", again.stdout);
    // another app beside it, of which nothing is recorded
    let app = "apiVersion: fleetwright.io/v1alpha1\nkind: App\nmetadata: {name: more}\nspec: {namespace: shop}\n";
    write(&fleet, "teams/shop/more/app.yaml", app);
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n";
    write(&fleet, "teams/shop/more/more.yaml", map);
    let both = line(&fleet, "rebalance --team shop");
    assert_code(&both, 0);
    assert!(
        both.stdout.contains("0 of 6 replicas move\n  shop/more: nothing of it is recorded yet"),
        "{}",
        both.stdout
    );
    assert_eq!(fs::read_to_string(&path).expect("it stays"), spread);
    assert_code(&line(&fleet, "rebalance"), 2);
    assert_code(&line(&fleet, "rebalance --team nobody"), 2);
}
