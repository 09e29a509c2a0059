// SPDX-License-Identifier: MIT

internal import Glibc

extension SignedAnswers {
    /// Returns the contents of a fixture.
    static func bytes(_ name: String) -> [UInt8] {
        guard let file = unsafe fopen(fixtures + name, "rb") else {
            preconditionFailure("no fixture \(name)")
        }
        defer { unsafe _ = fclose(file) }
        return unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
            count = unsafe fread(buffer.baseAddress, 1, buffer.count, file)
        }
    }
}
