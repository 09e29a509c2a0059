# SPDX-License-Identifier: MIT
#
# How a script runs several others, one after the other, goes on behind one that fails, and tells at the end how each went.
# Sourced after house.sh, never run.

rows=() failed=() passed=0
printed=$(mktemp -d "${TMPDIR:-/tmp}/lupine-$name.XXXXXX")
trap 'rm -rf "$printed"' EXIT

# part NAME COMMAND...: runs one part, notes its time, its outcome and what it printed.
part() {
    local part_name=$1 start=$SECONDS outcome=passed
    shift
    printf '\n== %s: %s\n' "$part_name" "$*"
    if "$@" > >(tee "$printed/$part_name") 2>&1; then
        passed=$((passed + 1))
    else
        outcome=FAILED
        failed+=("$part_name")
    fi
    rows+=("$(printf '%-12s %6d s  %s' "$part_name" "$(seconds_since "$start")" "$outcome")")
}

# why PART: the lines of a part that failed which say why: the tests that failed or stood still, else what looks like an error,
# else its last ones. A process that a test has crash on purpose says so too, and is no reason.
why() {
    local pattern lines
    printf '\n== %s failed:\n' "$1"
    for pattern in \
        '^[[:space:]]*✘.*recorded an issue|==[0-9]+==ERROR|WARNING: ThreadSanitizer|^no test has begun or ended|^under way for ' \
        'error:|warning:|broken:|failed|found something:|ERROR: |not instrumented:' ''; do
        lines=$(grep -aE -- "$pattern" "$printed/$1") && break
    done
    printf '%s\n' "$lines" | tail -n 60 | cut -c1-600
}

# outcome: each part's time, how many passed, and of those that failed why. False when one failed.
outcome() {
    local part_name
    for part_name in ${failed[@]+"${failed[@]}"}; do why "$part_name"; done
    printf '\n'
    printf '%s\n' "${rows[@]}"
    printf 'whole        %6d s\n' "$SECONDS"
    for part_name in ${failed[@]+"${failed[@]}"}; do printf 'failed: %s\n' "$part_name"; done
    printf '%d passed, %d failed\n' "$passed" "${#failed[@]}"
    [ ${#failed[@]} = 0 ]
}
