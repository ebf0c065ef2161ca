//! FW1060–FW1079: names that name nothing.

family! {
    /// A cluster is named that has no file in `clusters/`. The nearest name is shown where one is near.
    UNKNOWN_CLUSTER = 1060 Error "unknown cluster";
    /// A team is named that has no file `teams/<name>.yaml`. The nearest name is shown where one is near.
    UNKNOWN_TEAM = 1061 Error "unknown team";
    /// A policy names an app that is not there: `app`, or `team/app`. The nearest name is shown where one is near. A
    /// policy for apps to come selects by label.
    UNKNOWN_APP = 1062 Error "unknown app";
    /// A priority class is named that has no file in `policies/`. Those of the clusters themselves are not read:
    /// priority orders scheduling across the fleet.
    UNKNOWN_PRIORITY_CLASS = 1063 Error "unknown priority class";
    /// A provider, region or zone is named that no cluster has. The selector would never match because of it.
    UNKNOWN_TOPOLOGY = 1064 Warning "provider, region or zone of no cluster";
    /// A policy, a rule or a selector selects nothing, so it does nothing. Often a label or a name is misspelt.
    SELECTS_NOTHING = 1065 Warning "selects nothing";
    /// More than one PriorityClass says `globalDefault: true`. Kubernetes allows one; which of them counts would depend
    /// on the order of files.
    TWO_DEFAULT_CLASSES = 1066 Error "more than one default priority class";
}
