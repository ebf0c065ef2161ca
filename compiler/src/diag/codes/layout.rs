//! FW1040–FW1059: files and documents in the wrong place.

family! {
    /// A kind that does not belong into this folder: `fleet.yaml` holds the Fleet, `clusters/` Clusters, `policies/`
    /// PlacementPolicy, OverridePolicy, Tide, Calendar, WorkloadKind and PriorityClass, `teams/*.yaml` Teams, `teams/<team>/`
    /// Apps, manifests, and the team's own policies.
    MISPLACED_KIND = 1040 Error "kind in the wrong folder";
    /// There is no `fleet.yaml` at the root of the repository, or it holds no Fleet. It marks the folder as a fleet and
    /// holds its settings; `fleetwright init` writes one.
    NO_FLEET = 1041 Error "no fleet.yaml";
    /// Two documents define the same Cluster, Team, App, policy or class. Rename or remove one.
    DUPLICATE_NAME = 1042 Error "defined twice";
    /// A folder below `teams/` belongs to no Team: there is no `teams/<name>.yaml` with that name. Mistakes in its
    /// files are reported, and nothing in it is deployed.
    NO_TEAM = 1043 Error "folder of no team";
    /// A symbolic link leaves the repository, points nowhere, or runs in a circle. What it points at is not read.
    BAD_LINK = 1044 Error "symbolic link that cannot be followed";
    /// A Git submodule inside the fleet repository. Its content is not part of the commit, so a compile could not be a
    /// function of the commit. Copy the files in.
    SUBMODULE = 1045 Error "submodule";
    /// A file or folder that cannot be used: its name is not UTF-8 or holds control characters or backslashes, a file
    /// lies where a folder belongs, or it is a device, a pipe or a socket.
    BAD_PATH = 1046 Error "unusable path";
    /// Files in a team's folder with another ending than .yaml, .yml or .json are not read. Rename the file if it holds
    /// manifests, or move it out of the folder.
    IGNORED_FILE = 1047 Warning "file that is not read";
    /// A file of manifests that belongs to no App: no App file lies in its folder or above it, and no App's `manifests`
    /// names it. It is not deployed.
    UNUSED_MANIFEST = 1048 Warning "manifest of no app";
    /// A pattern in `manifests` matches no file, is not valid, or leaves the team's folder. Patterns are relative to
    /// the folder of the App's file; `*` matches inside one folder, `**/` any number of them.
    BAD_GLOB = 1049 Error "manifests pattern without files";
    /// A `kustomization.yaml` or a `Chart.yaml` among the manifests. fleetwright does not run Kustomize or Helm while
    /// compiling: render them once, commit the text, and list it in `manifests`.
    NOT_PLAIN_MANIFESTS = 1050 Error "Kustomize or Helm input among the manifests";
    /// `placements/` and `state/` belong to the branch `live`. On people's branch they are an error: nobody would read
    /// them, and they would look as if they counted.
    RECORD_IN_INTENTS = 1051 Error "record among the intents";
    /// More files than any fleet has, or a path deeper than any fleet needs: reading stopped there, and nothing is
    /// concluded from a part.
    TOO_MANY_FILES = 1052 Error "too many files";
    /// An App without any manifest would deploy nothing, and look as if it did. Put manifests into its folder, or name
    /// them in `manifests`.
    NO_MANIFESTS = 1053 Error "app without manifests";
}
