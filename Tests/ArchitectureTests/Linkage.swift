// SPDX-License-Identifier: MIT
import Glibc

/// Lists the libraries that a program with one product of the package is linked against: builds `Tests/AsUsers/Embedding` in a
/// separate folder, and runs `ldd`.
struct Linkage {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The name prefixes of the C library, the compiler's libraries, and the dependencies of the package.
    static let expectedLibraries = [
        "linux-vdso", "ld-linux", "libc.", "libm.", "libgcc_s.", "libstdc++.", "libz.", "libbrotlidec.",
        "libbrotlicommon.", "libbrotlienc.", "libssl.", "libcrypto.",
    ]
    /// The name prefixes of Swift's runtime if it is linked dynamically; Foundation is not part of it.
    static let runtimeLibraries = ["libswift", "libdispatch.", "libBlocksRuntime."]

    /// Returns the names in the output of `ldd` that start with none of `allowed`.
    static func unexpectedLibraries(in listing: String, allowed: [String]) -> [String] {
        listing.split(separator: "\n").compactMap { line in
            let path = line.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }
            let name = path.split(separator: "/").last ?? path
            return allowed.contains(where: name.hasPrefix) ? nil : String(name)
        }
    }

    /// Builds the program for one product, runs it once with `arguments`, and returns the output of `tool` (`ldd` or `nm`) for
    /// it. Throws unless the program prints `expected`.
    static func listing(
        by tool: String = "ldd", product: String, staticRuntime: Bool, arguments: [String], expected: String
    ) throws -> String {
        let root = Repository.here.root
        let scratch = "\(root)/.build-embedding/\(staticRuntime ? "static" : "dynamic")"
        var build = [
            "swift", "build", "--package-path", "\(root)/Tests/AsUsers/Embedding", "--scratch-path", scratch,
        ]
        build += ["--product", "Embedding\(product)"] + (staticRuntime ? ["--static-swift-stdlib"] : [])
        _ = try run(build)
        let program = "\(scratch)/debug/Embedding\(product)"
        let printed = try run([program] + arguments)
        guard printed == expected else { throw Failure(description: "\(program) printed: \(printed)") }
        return try run([tool, program])
    }

    /// Runs a command and returns its output. It uses `popen`, since Foundation's `Process` leaves a weak reference that
    /// AddressSanitizer's leak check counts.
    private static func run(_ arguments: [String]) throws -> String {
        let line = arguments.map { "'\($0)'" }.joined(separator: " ") + " 2>&1 </dev/null"
        guard let stream = unsafe popen(line, "r") else {
            throw Failure(description: "cannot start: \(line)")
        }
        var output: [UInt8] = []
        while case let byte = unsafe fgetc(stream), byte != EOF {
            output.append(UInt8(truncatingIfNeeded: byte))
        }
        let status = unsafe pclose(stream)
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0 else { throw Failure(description: "\(line): ended with \(status)\n\(text)") }
        return text
    }
}
