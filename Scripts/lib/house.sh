# SPDX-License-Identifier: MIT
#
# Functions and settings that all scripts share: the root of the repository, messages, `--help`. Scripts source this file; it is
# never run. The help of a script is its header comment, from the line after the licence to the last line of that comment.

set -euo pipefail

house_script=$(readlink -f "$0")
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
name=$(basename "$house_script")
cores=$(nproc 2>/dev/null || echo 2)
# The number of compile jobs that a build may run: LUPINE_JOBS limits it on a shared machine.
jobs_wanted=${LUPINE_JOBS:-$cores}
# SwiftPM's arguments for the debug build of the package and its tests: the plain build in .build or, with LUPINE_COVERAGE=yes,
# one that records coverage, in a separate folder. All scripts that build or read it use these arguments, and so share one build.
debug_build=()
if [ "${LUPINE_COVERAGE:-no}" = yes ]; then debug_build=(--enable-code-coverage --scratch-path "$root/.build-coverage"); fi
cd "$root"

# say WORDS: prints one line about the present step.
say() { printf '== %s: %s\n' "$name" "$*"; }

# fail WORDS: prints what went wrong and what to do next, and ends the script.
fail() {
    printf '%s: error: %s\n' "$name" "$*" >&2
    exit 1
}

# summary FILE: prints what a script does, in one line: the first line of its header comment, after the licence, that is neither
# empty nor shows how to call the script.
summary() { awk 'NR <= 2 || /^#$/ || /^# (Scripts\/|\.ci\/)/ { next } !/^# / { exit } { print substr($0, 3); exit }' "$1"; }

# usage: prints the header comment of the running script.
usage() { awk 'NR <= 2 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$house_script"; }

# misuse WORDS: reports a wrong argument, prints the help, and exits with 64.
misuse() {
    printf '%s: %s\n\n' "$name" "$*" >&2
    usage >&2
    exit 64
}

# want_help "$@": if the arguments contain -h or --help, prints the help and ends the script.
want_help() {
    local argument
    for argument in "$@"; do
        case $argument in
        -h | --help)
            usage
            exit 0
            ;;
        esac
    done
}

# set_up [--test] [--bench]: installs the packages that the script needs; prints nothing if none is missing.
set_up() { "$root/Scripts/setup" --quiet "$@" </dev/null; }

# seconds_since START: prints the whole seconds since START, which is an earlier value of $SECONDS.
seconds_since() { echo $((SECONDS - $1)); }
