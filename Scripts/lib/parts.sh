# SPDX-License-Identifier: MIT
#
# Functions for a script that runs several others: it continues if one fails, and prints the result of each at the end.
# Sourced after house.sh, never run.

rows=() failed=() passed=0 aside=()
printed=$(mktemp -d "${TMPDIR:-/tmp}/lupine-$name.XXXXXX")
trap 'rm -rf "$printed"' EXIT

# part NAME COMMAND...: runs one part, and records its time, its outcome and its output.
part() {
    local part_name=$1 start=$SECONDS outcome=passed
    shift
    printf '\n== %s: %s\n' "$part_name" "$*"
    "$@" > >(tee "$printed/$part_name") 2>&1 || outcome=FAILED
    note "$part_name" "$(seconds_since "$start")" $outcome
}

# beside NAME COMMAND...: starts a part in the background, because it does not use all cores; the next parts run at the same time,
# until `joined` waits for it. Only one part may run in the background.
beside() {
    local part_name=$1
    shift
    printf '\n== %s, beside what follows: %s\n' "$part_name" "$*"
    (
        start=$SECONDS outcome=passed
        "$@" >"$printed/$part_name" 2>&1 || outcome=FAILED
        printf '%s %s\n' "$(seconds_since "$start")" $outcome >"$printed/$part_name.outcome"
    ) &
    aside=("$part_name" $!)
}

# joined: waits for the part that `beside` has started, and prints its output.
joined() {
    local part_name=${aside[0]} seconds="?" outcome=FAILED
    wait "${aside[1]}" || true
    aside=()
    printf '\n== %s, which ran beside:\n' "$part_name"
    cat "$printed/$part_name"
    if [ -s "$printed/$part_name.outcome" ]; then read -r seconds outcome <"$printed/$part_name.outcome"; fi
    note "$part_name" "$seconds" "$outcome"
}

# note NAME SECONDS OUTCOME: records the result of a part.
note() {
    if [ "$3" = passed ]; then passed=$((passed + 1)); else failed+=("$1"); fi
    rows+=("$(printf '%-12s %6s s  %s' "$1" "$2" "$3")")
}

# why PART: prints the lines of a failed part that say why: the tests that failed or hung, else lines that look like errors, else
# the last lines. Lines of a process that a test makes crash on purpose are left out.
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

# outcome: prints the time of each part, how many parts passed, and why the others failed. Fails if a part failed.
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
