//! FW1060–FW1079: names that name nothing.

family! {
    /// A cluster is named that has no file in `clusters/`. Correct the name, or add the cluster's file.
    UNKNOWN_CLUSTER = 1060 Error "unknown cluster";
    /// A team is named that has no file `teams/<name>.yaml`. Correct the name, or add the team's file.
    UNKNOWN_TEAM = 1061 Error "unknown team";
    /// An app is named that is not there. Apps are named `team/app`, or `app` where that is enough.
    UNKNOWN_APP = 1062 Error "unknown app";
    /// A priority class is named that has no file in `policies/`. Correct the name, or add the PriorityClass there.
    UNKNOWN_PRIORITY_CLASS = 1063 Error "unknown priority class";
    /// A provider, region or zone is named that no cluster has. The selector would never match because of it.
    UNKNOWN_TOPOLOGY = 1064 Warning "provider, region or zone of no cluster";
    /// A policy, a rule or a selector selects nothing, so it does nothing. Often a label or a name is misspelt.
    SELECTS_NOTHING = 1065 Warning "selects nothing";
    /// More than one PriorityClass says `globalDefault: true`, so the priority of apps that name none is not defined.
    TWO_DEFAULT_CLASSES = 1066 Error "more than one default priority class";
    /// Apps wait for each other (`dependsOn`), in a circle or an app for itself, so that none of them would ever be applied
    /// first. The message names each step. Take one of them out.
    DEPENDENCY_CYCLE = 1067 Error "apps that wait for each other";
    /// A name in `previousNames` is that of an app that is there. What runs under it is that app's. Remove the old App in the
    /// change that adds the new one, or take the name out.
    PREVIOUS_NAME_TAKEN = 1068 Error "previous name of an app that is there";
    /// Two apps say that they had the same name before (`previousNames`). What runs under it can become one of them only.
    PREVIOUS_NAME_TWICE = 1069 Error "previous name claimed twice";
    /// An object needs another one of its App (a ConfigMap it reads, a Secret it mounts, a ServiceAccount it runs as), and a
    /// rule of the App's `objects` keeps that out of clusters where it runs. Its pods would wait there for ever.
    LEFT_BEHIND = 1070 Warning "reference to what a rule keeps away";
    /// An app is named twice in `dependsOn` or `previousNames`. The second time changes nothing; another app may have been meant.
    NAMED_TWICE = 1071 Warning "app that is named twice";
}
