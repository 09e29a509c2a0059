# SPDX-License-Identifier: MIT
#
# What every script of the house shares: where the root is, how to speak, how `--help` is printed. Sourced, never
# run. A script's help is its own header comment, from the line after the licence to the first line that is none.

set -euo pipefail

house_script=$(readlink -f "$0")
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
name=$(basename "$house_script")
cores=$(nproc 2>/dev/null || echo 2)
# How many compile jobs a build may run: LUPINE_JOBS, for a machine that is shared.
jobs_wanted=${LUPINE_JOBS:-$cores}
# The debug build of the package and its tests, as SwiftPM's arguments: plain and in .build, or, with LUPINE_COVERAGE=yes, one that
# notes which lines are run, in a folder of its own. Whatever builds or looks at it takes these, so that one build serves all.
debug_build=()
if [ "${LUPINE_COVERAGE:-no}" = yes ]; then debug_build=(--enable-code-coverage --scratch-path "$root/.build-coverage"); fi
cd "$root"

# say WORDS: one line about what happens now.
say() { printf '== %s: %s\n' "$name" "$*"; }

# fail WORDS: what went wrong and what to do next; ends the script.
fail() {
    printf '%s: error: %s\n' "$name" "$*" >&2
    exit 1
}

# summary FILE: what a script does, in one line: the first line of its header comment, behind the licence, that is neither empty
# nor a line of how it is called.
summary() { awk 'NR <= 2 || /^#$/ || /^# (Scripts\/|\.ci\/)/ { next } !/^# / { exit } { print substr($0, 3); exit }' "$1"; }

# usage: the header comment of the running script.
usage() { awk 'NR <= 2 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$house_script"; }

# misuse WORDS: a wrong argument; says which, prints the help, ends with 64.
misuse() {
    printf '%s: %s\n\n' "$name" "$*" >&2
    usage >&2
    exit 64
}

# want_help "$@": prints the help and ends when it was asked for.
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

# set_up [--test] [--bench]: brings the machine up to what the script needs; quiet when nothing is missing.
set_up() { "$root/Scripts/setup" --quiet "$@" </dev/null; }

# seconds_since START: whole seconds since START, itself a value of $SECONDS.
seconds_since() { echo $((SECONDS - $1)); }
