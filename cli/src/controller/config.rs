//! Settings of the controller: flags, then the environment, then the file, then what nobody stated.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use fleetwright_compiler::base::{SmolStr, Span, Spanned};
use fleetwright_compiler::yaml::{self, DecodeErrorKind};
use fleetwright_reconciler::decide::Identity;
use fleetwright_reconciler::io::kube::Connection;
use fleetwright_reconciler::io::notify::CommandNotifier;
use serde::Deserialize;

use super::{Args, Listen};
use crate::exit::Failure;

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct File {
    /// As `--repo`.
    repo: Option<String>,
    /// As `--intents`.
    intents: Option<String>,
    /// As `--mirror`.
    mirror: Option<PathBuf>,
    /// As `--kubeconfig`.
    kubeconfig: Option<PathBuf>,
    /// As `--cluster`.
    cluster: Option<SmolStr>,
    /// As `--apply-only`.
    #[serde(default)]
    apply_only: bool,
    /// As `--holder`.
    holder: Option<Spanned<SmolStr>>,
    /// As `--poll-secs`.
    poll_secs: Option<Spanned<u64>>,
    /// As `--listen`.
    listen: Option<Spanned<String>>,
    /// Elects one of several processes by a Lease in a cluster.
    lease: Option<LeaseFile>,
    /// What is run to tell people of what only they can mend: a program and its arguments. The message is its input.
    #[serde(default)]
    notify: Vec<String>,
    /// Clusters that are reached in another way than by a context of the kubeconfig.
    #[serde(default)]
    clusters: BTreeMap<SmolStr, Spanned<ConnectionFile>>,
}

/// Which Lease, and in which cluster.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct LeaseFile {
    /// The namespace; default `fleetwright-system`.
    namespace: Option<SmolStr>,
    /// The name; default `fleetwright-controller`.
    name: Option<SmolStr>,
    /// The cluster; default: the one this runs in.
    cluster: Option<SmolStr>,
}

/// How a cluster is reached: one of these.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ConnectionFile {
    /// A context.
    context: Option<String>,
    /// Of this kubeconfig, rather than of the common one.
    kubeconfig: Option<PathBuf>,
    /// The service account of the pod this runs in.
    #[serde(default)]
    in_cluster: bool,
}

/// All settings.
#[derive(Debug)]
pub struct Settings {
    /// `repo`, `intents` and `mirror` of the file, for those that no flag gives.
    pub repository: (Option<String>, Option<String>, Option<PathBuf>),
    /// The kubeconfig.
    pub kubeconfig: Option<PathBuf>,
    /// The cluster of an agent.
    pub cluster: Option<SmolStr>,
    /// Whether it decides nothing.
    pub apply_only: bool,
    /// Its name.
    pub holder: SmolStr,
    /// Seconds between two looks at the repository.
    pub poll_secs: u64,
    /// Where it listens.
    pub listen: Listen,
    /// The Lease, where one is needed.
    pub lease: Option<Lease>,
    /// What is run to tell people of something.
    pub notifier: Option<CommandNotifier>,
    /// How clusters are reached.
    pub connections: BTreeMap<SmolStr, Connection>,
}

/// A Lease.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Its namespace.
    pub namespace: SmolStr,
    /// Its name.
    pub name: SmolStr,
    /// The cluster it is in; `None`: the one this runs in.
    pub cluster: Option<SmolStr>,
}

/// Seconds between two looks at the repository where nobody states them.
const POLL_SECS: u64 = 10;
/// What may be stated.
pub const POLLS: RangeInclusive<u64> = 1..=3600;

/// Where it listens where nobody states it: for the machine alone.
const LISTEN: &str = "127.0.0.1:8080";

impl Settings {
    /// Of flags, environment and file.
    ///
    /// # Errors
    /// When the file cannot be read, or says something that does not fit.
    pub fn of(args: &Args) -> Result<Self, Failure> {
        let text = match &args.config {
            Some(path) => std::fs::read_to_string(path).map_err(|e| crate::fleet::disk_error("read", path, &e))?,
            None => String::new(),
        };
        let source = Source { path: args.config.as_deref().unwrap_or(Path::new("")), text: &text };
        let file = source.read()?;
        let listen = match (args.listen, &file.listen) {
            (Some(listen), _) => listen,
            (None, Some(Spanned { value, span })) => {
                value.parse().map_err(|e| source.wrong(*span, &format!("listen: `{value}`: {e}")))?
            }
            (None, None) => LISTEN.parse().map_err(|e| Failure::Bug(format!("{LISTEN}: {e}")))?,
        };
        let holder = file.holder.map(|Spanned { value, span }| {
            Identity::check_holder(&value)
                .map(|()| value)
                .map_err(|expected| source.wrong(span, &format!("`holder`: {expected}")))
        });
        let holder = holder.transpose()?;
        let poll_secs = file.poll_secs.map(|Spanned { value, span }| match POLLS.contains(&value) {
            true => Ok(value),
            false => {
                let (least, most) = (POLLS.start(), POLLS.end());
                Err(source.wrong(span, &format!("`pollSecs`: expected {least} to {most} seconds, found {value}")))
            }
        });
        let poll_secs = poll_secs.transpose()?;
        let cluster = args.cluster.clone().or(file.cluster);
        let apply_only = args.apply_only || file.apply_only;
        if apply_only && cluster.is_some() {
            return Err(Failure::Usage(
                "`cluster` (--cluster) and `applyOnly` (--apply-only) exclude each other, whether a flag or the file states them: \
                 an agent of one cluster decides nothing anyway"
                    .to_owned(),
            ));
        }
        let connections = file.clusters.into_iter().map(|(name, stated)| {
            let connection = connection(&name, stated, &source)?;
            Ok((name, connection))
        });
        Ok(Self {
            repository: (file.repo, file.intents, file.mirror),
            kubeconfig: args.kubeconfig.clone().or(file.kubeconfig),
            cluster,
            apply_only,
            holder: args.holder.clone().or(holder).unwrap_or_else(|| "controller".into()),
            poll_secs: args.poll_secs.or(poll_secs).unwrap_or(POLL_SECS),
            listen,
            lease: file.lease.map(|lease| Lease {
                namespace: lease.namespace.unwrap_or_else(|| "fleetwright-system".into()),
                name: lease.name.unwrap_or_else(|| "fleetwright-controller".into()),
                cluster: lease.cluster,
            }),
            notifier: file.notify.split_first().map(|(program, arguments)| CommandNotifier {
                program: program.clone(),
                arguments: arguments.to_vec(),
            }),
            connections: connections.collect::<Result<_, Failure>>()?,
        })
    }
}

/// The file that settings are read from.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    /// An empty file states nothing.
    fn read(&self) -> Result<File, Failure> {
        let (documents, errors) = yaml::compose(self.text, &yaml::Limits::default());
        if let Some(error) = errors.first() {
            return Err(self.wrong(error.span, &error.to_string()));
        }
        let mut roots = documents.iter().filter_map(|document| document.root.as_ref());
        let Some(root) = roots.next() else { return Ok(File::default()) };
        if let Some(second) = roots.next() {
            return Err(self.wrong(second.span, "a second document: the settings are one"));
        }
        yaml::decode(root).map_err(|error| {
            let error = error.with_source(self.text);
            let field = match &error.kind {
                DecodeErrorKind::UnknownField { .. } | DecodeErrorKind::MissingField { .. } => String::new(),
                _ => field_at(root, error.span).map(|field| format!("`{field}`: ")).unwrap_or_default(),
            };
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            self.wrong(error.span, &format!("{field}{error}{hint}"))
        })
    }

    /// What is wrong at a place: `config.yaml:3:7: …`.
    fn wrong(&self, span: Span, what: &str) -> Failure {
        let (line, column) = yaml::LineIndex::new(self.text).position(span.start);
        Failure::Usage(format!("{}:{line}:{column}: {what}", self.path.display()))
    }
}

/// The field that a place is in: `clusters.eu.context`.
fn field_at(root: &yaml::Node<'_>, span: Span) -> Option<String> {
    let (mut node, mut path) = (root, Vec::new());
    while let yaml::Yaml::Map(entries) = &node.value {
        let holds = |of: Span| of.start <= span.start && span.end <= of.end;
        let Some((key, value)) = entries.iter().find(|(key, value)| holds(key.span) || holds(value.span)) else {
            break;
        };
        path.push(key.text.to_string());
        node = value;
    }
    (!path.is_empty()).then(|| path.join("."))
}

fn connection(name: &SmolStr, stated: Spanned<ConnectionFile>, source: &Source<'_>) -> Result<Connection, Failure> {
    match stated.value {
        ConnectionFile { context: None, kubeconfig: None, in_cluster: true } => Ok(Connection::InCluster),
        ConnectionFile { context, kubeconfig, in_cluster: false } if context.is_some() || kubeconfig.is_some() => {
            Ok(Connection::Context { context, kubeconfig })
        }
        ConnectionFile { .. } => Err(source.wrong(
            stated.span,
            &format!("`clusters.{name}`: expected `inCluster: true`, or `context` or `kubeconfig` or both"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn settings(text: &str, flags: &[&str]) -> Result<Settings, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.yaml");
        std::fs::write(&file, text).unwrap();
        let line = ["x", "--config", file.to_str().unwrap()];
        Settings::of(&Line::try_parse_from(line.iter().chain(flags)).unwrap().args)
    }

    #[test]
    fn flags_outrank_the_file_and_the_file_what_nobody_stated() {
        let text = "repo: https://example.com/fleet.git\npollSecs: 30\nlisten: 0.0.0.0:9000\nholder: hub\nlease: {}\nnotify: [mail, -s, fleet, ops]\n\
                    clusters:\n  hub: {inCluster: true}\n  eu: {context: eu-admin}\n";
        let found = settings(text, &["--poll-secs", "5", "--listen", "none"]).unwrap();
        assert_eq!((found.poll_secs, found.listen, found.holder.as_str()), (5, Listen::Nowhere, "hub"));
        assert_eq!(found.repository.0.as_deref(), Some("https://example.com/fleet.git"));
        assert_eq!(found.lease.unwrap().name, "fleetwright-controller");
        let notifier = found.notifier.unwrap();
        assert_eq!((notifier.program.as_str(), notifier.arguments.len()), ("mail", 3));
        assert_eq!(found.connections["hub"], Connection::InCluster);
        let none = settings("", &[]).unwrap();
        assert_eq!((none.poll_secs, none.listen), (10, "127.0.0.1:8080".parse().unwrap()));
        assert!(none.lease.is_none() && none.cluster.is_none() && !none.apply_only);
    }

    /// What the manifests to install it say, is what is read.
    #[test]
    fn the_settings_of_the_install_manifests() {
        for (manifests, cluster, lease) in [
            (include_str!("../../../reconciler/kubernetes/controller.yaml"), None, true),
            (include_str!("../../../reconciler/kubernetes/agent.yaml"), Some("eu-1"), false),
        ] {
            let mut found = 0;
            for document in serde_yaml::Deserializer::from_str(manifests) {
                let object = serde_json::Value::deserialize(document).unwrap();
                let Some(text) = object["data"]["config.yaml"].as_str() else { continue };
                let settings = settings(text, &[]).unwrap();
                assert_eq!((settings.cluster.as_deref(), settings.lease.is_some()), (cluster, lease));
                assert_eq!(settings.repository.0.as_deref(), Some("https://git.example/fleet.git"));
                found += 1;
            }
            assert_eq!(found, 1);
        }
    }

    #[test]
    fn a_file_that_says_something_else_is_refused() {
        for (text, expected) in [
            ("poll: 3\n", "config.yaml:1:1: unknown field `poll`; expected fields: repo, intents"),
            (
                "repo: x\nPollSecs: 3\n",
                "config.yaml:2:1: unknown field `PollSecs`; write `pollSecs`: names are case-sensitive",
            ),
            ("pollSecs: soon\n", "config.yaml:1:11: `pollSecs`: expected"),
            (
                "repo: x\nclusters:\n  a: {context: [b]}\n",
                "config.yaml:3:16: `clusters.a.context`: expected a string, found a list",
            ),
            ("repo: a\nrepo: b\n", "config.yaml:2:1: "),
            ("repo: [\n", "config.yaml:"),
            ("repo: a\n---\nrepo: b\n", "config.yaml:3:1: a second document: the settings are one"),
            ("repo: a\npollSecs: 0\n", "config.yaml:2:11: `pollSecs`: expected 1 to 3600 seconds, found 0"),
            ("pollSecs: 7200\n", "config.yaml:1:11: `pollSecs`: expected 1 to 3600 seconds, found 7200"),
            ("holder: two words\n", "config.yaml:1:9: `holder`: the name of a decider is one word"),
            ("listen: here\n", "config.yaml:1:9: listen: `here`: expected an address"),
            ("clusters: {a: {}}\n", "config.yaml:1:15: `clusters.a`: expected `inCluster: true`"),
            ("clusters: {a: {inCluster: true, context: b}}\n", "`clusters.a`: expected"),
            (
                "cluster: a\napplyOnly: true\n",
                "`cluster` (--cluster) and `applyOnly` (--apply-only) exclude each other",
            ),
        ] {
            match settings(text, &[]) {
                Err(Failure::Usage(found)) => assert!(found.contains(expected), "{text}: {found}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
