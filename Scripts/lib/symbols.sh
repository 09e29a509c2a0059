# SPDX-License-Identifier: MIT
#
# Reads the symbols of modules from the debug build. Sourced by scripts, after house.sh.

# read_symbols FOLDER "MODULE..." OPTION...: writes the symbol graphs of the modules, and of their extensions of other modules'
# types, into the folder; the options are those of `swift symbolgraph-extract`. Builds the package first if it is not built yet.
read_symbols() {
    local folder=$1 modules=$2 log built target module map search
    shift 2
    log=$(mktemp)
    swift build "${debug_build[@]}" --jobs "$jobs_wanted" >"$log" 2>&1 </dev/null ||
        { cat "$log" >&2; fail "the package does not build"; }
    built=$(swift build "${debug_build[@]}" --show-bin-path)
    target=$(swift -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])')
    search=(-I "$built/Modules")
    while IFS= read -r map; do search+=(-I "$(dirname "$map")"); done \
        < <(find Sources "$built"/CLupine*.build -name module.modulemap 2>/dev/null)
    for map in Sources/CLupine*/include; do
        if [ -d "$map" ]; then search+=(-I "$map"); fi
    done
    for module in $modules; do
        swift symbolgraph-extract -module-name "$module" -target "$target" "${search[@]}" -output-dir "$folder" "$@" \
            >"$log" 2>&1 </dev/null || { cat "$log" >&2; fail "$module: no symbols"; }
    done
    rm -f "$log"
}
