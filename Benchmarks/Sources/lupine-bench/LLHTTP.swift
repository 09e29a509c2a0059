// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import CBenchmarkPeers

/// Entries for llhttp, the reference of the cases that parse.
enum LLHTTP {
    /// Returns the entry's name with the version, on which the figures depend.
    static func name(_ variant: String = "") -> String {
        let version = unsafe peer_llhttp_version().map { unsafe String(cString: $0) }
        return "llhttp" + (version.map { " \($0)" } ?? "") + (variant.isEmpty ? "" : " (\(variant))")
    }

    /// Parses `head` and checks that status 200 and `fields` fields were found.
    static func heads(_ head: [UInt8], fields: Int, _ variant: peer_llhttp_way, named: String = "") -> Entry {
        entry(named) { name in
            { times in
                let sum = unsafe head.withUnsafeBufferPointer { bytes in
                    unsafe peer_llhttp_heads(bytes.baseAddress, bytes.count, variant, UInt64(times))
                }
                try WrongResult.check(name, sum, each: UInt64(200 + 1000 * fields), times: times)
            }
        }
    }

    /// Parses a whole response and checks that `body` bytes of content were found.
    static func response(_ response: [UInt8], body: Int) -> Entry {
        entry("") { name in
            { times in
                let sum = unsafe response.withUnsafeBufferPointer { bytes in
                    unsafe peer_llhttp_response(bytes.baseAddress, bytes.count, UInt64(times))
                }
                try WrongResult.check(name, sum, each: UInt64(body), times: times)
            }
        }
    }

    private static func entry(_ variant: String, _ body: (String) -> (Int) throws -> Void) -> Entry {
        let name = name(variant)
        guard unsafe peer_llhttp_version() != nil else {
            return Entry(name, .absent("its C source is not installed (Debian: node-llhttp)"))
        }
        return Entry(name, .loop(body(name)))
    }
}
