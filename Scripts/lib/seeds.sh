# SPDX-License-Identifier: MIT
#
# Packs the inputs of a fuzz target that have no descriptive name into one archive. Sourced, never run.
#
# An input in an archive is named by its SHA-1, as libFuzzer names the inputs that it finds. The same inputs give the same
# archive, octet for octet: names are sorted, and the archive contains neither times nor owners.

# unnamed_seeds FOLDER: prints the names of the files in the folder that are named by their SHA-1, each followed by a NUL.
unnamed_seeds() { find "$1" -maxdepth 1 -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' -printf '%f\0' | LC_ALL=C sort -z; }

# pack_seeds FOLDER ARCHIVE: makes the archive from the folder's files that are named by their SHA-1. Without such files it makes
# no archive.
pack_seeds() {
    local folder=$1 archive=$2
    if [ "$(unnamed_seeds "$folder" | wc -c)" = 0 ]; then
        rm -f "$archive"
        return
    fi
    unnamed_seeds "$folder" | tar -C "$folder" --null -T - --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner \
        --mode=0644 -cf - | gzip -n -9 >"$archive.new"
    mv "$archive.new" "$archive"
}

# unpack_seeds ARCHIVE FOLDER: adds the inputs of the archive, if there is one, to the folder.
unpack_seeds() {
    mkdir -p "$2"
    if [ -f "$1" ]; then tar -C "$2" --no-same-owner -xzf "$1"; fi
}

# drop_named_seeds FOLDER SEEDS: removes each file of FOLDER that has the same content as a file in SEEDS. The files of FOLDER are
# named by their SHA-1.
drop_named_seeds() {
    local hash
    find "$2" -maxdepth 1 -type f -exec sha1sum {} + | while read -r hash _; do rm -f "$1/${hash#\\}"; done
}
