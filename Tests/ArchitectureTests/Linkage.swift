// SPDX-License-Identifier: MIT
import Glibc

/// What a program that uses one product of the package is linked against: builds `Tests/AsUsers/Embedding` into a folder
/// of its own and asks `ldd`.
struct Linkage {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What the C library, the compiler and our own dependencies bring.
    static let ours = [
        "linux-vdso", "ld-linux", "libc.", "libm.", "libgcc_s.", "libstdc++.", "libz.", "libbrotlidec.",
        "libbrotlicommon.", "libbrotlienc.", "libssl.", "libcrypto.",
    ]
    /// What Swift's own runtime adds where it is linked dynamically; Foundation is no part of it.
    static let runtime = ["libswift", "libdispatch.", "libBlocksRuntime."]

    /// The names in `listing`, as `ldd` prints it, that start with none of `allowed`.
    static func strangers(in listing: String, allowed: [String]) -> [String] {
        listing.split(separator: "\n").compactMap { line in
            let path = line.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }
            let name = path.split(separator: "/").last ?? path
            return allowed.contains(where: name.hasPrefix) ? nil : String(name)
        }
    }

    /// Builds the program for one product and returns what a tool prints about it, `ldd` or `nm`, having run it once: with
    /// `arguments` it has to print `expected`.
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
        let said = try run([program] + arguments)
        guard said == expected else { throw Failure(description: "\(program) printed: \(said)") }
        return try run([tool, program])
    }

    /// Runs a command and returns what it wrote. Through `popen`: Foundation's `Process` leaves a weak reference
    /// behind, and AddressSanitizer's leak check counts it.
    private static func run(_ words: [String]) throws -> String {
        let line = words.map { "'\($0)'" }.joined(separator: " ") + " 2>&1 </dev/null"
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
