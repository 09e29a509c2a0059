// SPDX-License-Identifier: MIT
import Foundation
import Testing

/// Tests that the inputs of the fuzz targets are few files, and that archives of inputs are complete and reproducible.
struct FuzzCorpusTests {
    private static let maximumFiles = 1_500

    private static var paths: [String] { Repository.here.paths(under: "Fuzz/Corpus", endingIn: [""]) }

    @Test func theCorpusHasFewFiles() {
        let count = Self.paths.count
        #expect(
            count < Self.maximumFiles,
            "Fuzz/Corpus has \(count) files: Scripts/fuzz --pack takes those without a name together")
    }

    @Test func inputsWithoutANameAreInTheArchives() {
        let unnamed = Self.paths.filter { path in
            let name = path.split(separator: "/").last ?? ""
            return name.utf8.count == 40 && name.allSatisfy(\.isHexDigit)
        }
        #expect(
            unnamed.isEmpty,
            "Scripts/fuzz --pack takes these into the archives, or give them a name: \(unnamed)")
    }

    @Test func eachFolderAndArchiveBelongsToATarget() throws {
        let root = Repository.here.root
        let targets = try FileManager.default.contentsOfDirectory(atPath: "\(root)/Fuzz/Targets")
        for entry in try FileManager.default.contentsOfDirectory(atPath: "\(root)/Fuzz/Corpus") {
            let target = entry.hasSuffix(".tar.gz") ? String(entry.dropLast(7)) : entry
            #expect(targets.contains(target), "Fuzz/Corpus/\(entry): there is no Fuzz/Targets/\(target)")
        }
    }

    /// The names are the SHA-1 digests of `1`, `2`, `3` and of no octets.
    @Test func packedInputsAreUnpackedAndTheArchiveIsReproducible() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "seeds-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (status, output) = try Script.run(
            "bash", "-euo", "pipefail", "-c",
            """
            . Scripts/lib/seeds.sh
            cd "$0"
            first=356a192b7913b04c54574d18c28d46e6395428ab second=da4b9237bacccdf19c0760cab7aec4a8359010b0
            third=77de68daecd823babbb58edb1c8e14d7106e83bb empty=da39a3ee5e6b4b0d3255bfef95601890afd80709
            mkdir one two
            printf 1 >one/$first; printf 2 >one/$second; : >one/$empty; printf 4 >one/has-a-name
            : >two/$empty; printf 2 >two/$second; printf 1 >two/$first; chmod 600 two/$first
            touch -d @1 one/* && touch -d @2000000000 two/*
            pack_seeds one one.tar.gz && pack_seeds two two.tar.gz
            cmp one.tar.gz two.tar.gz && echo equal
            unpack_seeds one.tar.gz out && rm one/has-a-name && diff -r one out && echo whole
            unpack_seeds none.tar.gz nothing && ls nothing
            printf 3 >out/$third && pack_seeds out out.tar.gz
            if cmp -s one.tar.gz out.tar.gz; then echo "a new input changed nothing"; fi
            mkdir named && printf 3 >named/three && drop_named_seeds out named
            diff -r one out && echo dropped
            rm out/* && pack_seeds out out.tar.gz && ls
            """, folder.path)
        #expect(status == 0)
        #expect(output == "equal\nwhole\ndropped\nnamed\nnothing\none\none.tar.gz\nout\ntwo\ntwo.tar.gz\n")
    }
}
