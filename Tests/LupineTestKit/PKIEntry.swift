// SPDX-License-Identifier: MIT

/// The facts about one certificate of the tests: a line of `facts.txt`, computed by the `openssl` command, with the verdict that
/// its row in `Tests/Fixtures/PKI/README.md` expects.
package struct PKIEntry: Hashable, Sendable, CustomStringConvertible {
    /// The name of its files: `NAME.pem`, `NAME.key`, and for leaves `NAME-chain.pem`.
    package let name: String
    /// The serial number in upper-case hexadecimal.
    package let serial: String
    /// SHA-256 of the certificate's DER in lower-case hexadecimal.
    package let fingerprint: String
    /// The pin of its key: `sha256/` and the BASE64 of the SHA-256 of its SubjectPublicKeyInfo.
    package let pin: String
    /// The first second of its validity, as `2024-01-01 00:00:00Z`.
    package let notBefore: String
    /// The last second of its validity.
    package let notAfter: String
    /// The host for which `code` is the verdict; nil for authorities, responders and clients.
    package let host: String?
    /// OpenSSL's verification code (0: accepted) if `root` is trusted (for clients: `client-root`); nil for authorities and
    /// responders.
    package let code: Int32?

    package var description: String { name }

    /// Whether it is the certificate of a server, which has a host to check.
    package var isServer: Bool { host != nil }

    /// Returns all entries, in the order of the README.
    package static func all() throws -> [PKIEntry] {
        try PKI.text("facts.txt").split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            guard let entry = PKIEntry(line: line) else { throw Malformed(line: String(line)) }
            return entry
        }
    }

    /// Returns the entry of this name.
    package static func named(_ name: String) throws -> PKIEntry {
        guard let entry = try all().first(where: { $0.name == name }) else { throw Unknown(name: name) }
        return entry
    }

    /// Thrown for a malformed line of `facts.txt`.
    package struct Malformed: Error { package let line: String }

    /// Thrown for a name that no entry has.
    package struct Unknown: Error { package let name: String }

    private init?(line: Substring) {
        let fields = line.split(separator: " | ", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 8 else { return nil }
        (name, serial, fingerprint, pin) = (fields[0], fields[1], fields[2], fields[3])
        (notBefore, notAfter) = (fields[4], fields[5])
        host = fields[6] == "-" ? nil : fields[6]
        guard let code = Int32(fields[7]) else {
            guard fields[7] == "-" else { return nil }
            self.code = nil
            return
        }
        self.code = code
    }
}
