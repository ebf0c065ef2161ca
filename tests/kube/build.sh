#!/usr/bin/env bash
# Builds the programs of a Kubernetes control plane from the Go modules pinned here, once for each machine, and prints
# the folder that holds them. Needs Go (go.mod names the version) and git; GOPROXY, GOCACHE and GOFLAGS are the caller's.
#
#   tests/kube/build.sh          builds what is missing, prints the folder
#   tests/kube/build.sh --where  prints the folder, builds nothing; exit code 1 when it is not complete
#
# Five to ten minutes and 2.7 GB of Go's build cache the first time, nothing after that. The folder is named by a digest of
# everything that decides its content, and appears by one rename: it is complete or it is not there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

programs=(kube-apiserver kube-controller-manager kube-scheduler kwok etcd)
version=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit }' "$here/go.mod")
minor=${version#v*.}
minor=${minor%%.*}
about=k8s.io/component-base/version
# without these the servers call themselves v0.0.0, which clients refuse to parse
stamp="-X $about.gitVersion=$version -X $about.gitMajor=1 -X $about.gitMinor=$minor"
flags=(-mod=readonly -trimpath -buildvcs=false -ldflags "-s -w $stamp")
export CGO_ENABLED=0 GOWORK=off

key=$({ cat "$here/go.mod" "$here/go.sum"; printf '%s\n' "${programs[@]}" "${flags[@]}" "$(uname -sm)"; } |
  git hash-object --stdin)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/fleetwright/kube
folder=$cache/${key:0:16}

complete() {
  local program
  for program in "${programs[@]}"; do
    [[ -x $folder/$program ]] || return 1
  done
}

if complete; then
  echo "$folder"
  exit 0
fi
if [[ ${1:-} == --where ]]; then
  echo "$folder"
  exit 1
fi
if ! command -v go >/dev/null; then
  echo "$0: Go is not installed; it is needed to build ${programs[*]} $version" >&2
  exit 69
fi

mkdir -p "$cache"
if command -v flock >/dev/null; then
  # a second run waits for the first instead of building the same; without flock both build, and one of them wins
  exec 9>"$cache/.lock"
  flock 9
  if complete; then
    echo "$folder"
    exit 0
  fi
  rm -rf "$cache"/.building.* # of runs that were killed
fi

building=$(mktemp -d "$cache/.building.XXXXXX")
trap 'rm -rf "$building"' EXIT
cd "$here"
echo "building ${programs[*]} $version into $folder" >&2
go build "${flags[@]}" -o "$building/" \
  k8s.io/kubernetes/cmd/kube-{apiserver,controller-manager,scheduler} sigs.k8s.io/kwok/cmd/kwok >&2
# the package of etcd's main is named `server`
go build "${flags[@]}" -o "$building/etcd" go.etcd.io/etcd/server/v3 >&2

if ! complete; then
  rm -rf "$folder" # somebody removed a program from it
  chmod 755 "$building"
  mv "$building" "$folder"
  rm -rf "${folder:?}/$(basename "$building")" # another run won between the last lines, and ours was moved inside
fi
echo "$folder"
