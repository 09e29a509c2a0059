// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineCommand

/// Tests of command lines and their output, for every option, against an origin in this process.
struct GoldenTests {
    /// Runs a case and checks its result.
    private func check(_ row: GoldenCase) async throws {
        try await withShell { try await check(row, $0, $1) }
    }

    private func check(_ row: GoldenCase, _ shell: Shell, _ origin: LupineOrigin.Origin, pin: String = "")
        async throws
    {
        try shell.write("one\ntwo\n", to: "lines")
        try shell.write("{\"x\":1}", to: "object")
        try shell.write("abc", to: "part")
        try shell.write("machine localhost login netuser password netpw\n", to: ".netrc")
        if row.line.contains("@/busy") {
            origin.route("GET", "/busy") { _ throws(Refusal) in
                try OriginResponse(503, "text/plain", [UInt8]("not now".utf8))
            }
        }
        var shell = shell
        shell.input = row.input.map { Data($0.utf8) }
        shell.isTerminal = row.isTerminal
        let words = row.line.split(separator: " ").map { word in
            word.hasPrefix("@/")
                ? ":\(origin.port)\(word.dropFirst())"
                : word.replacing(":@", with: ":\(origin.port)").replacing("PIN", with: pin)
        }
        let result = await shell.run(words.map(String.init))
        #expect(result.code == row.code.rawValue, "\(result.errors)")
        let output = Self.withoutVariableParts(result.output, origin)
        if row.isPart {
            #expect(row.output.isEmpty || output.contains(row.output), "\(output)")
        } else {
            #expect(output == row.output)
        }
        let errors = row.errors.replacing("PIN", with: pin)
        #expect(errors.isEmpty || result.errors.contains(errors), "\(result.errors)")
        for (name, content) in row.files {
            let file = name.replacing("_@", with: "_\(origin.port)")
            let text = String(decoding: try shell.read(file), as: UTF8.self)
            #expect(text.contains(content), "\(name): \(text)")
        }
    }

    /// Returns the output without dates, and with `@` for the port.
    private static func withoutVariableParts(_ text: String, _ origin: LupineOrigin.Origin) -> String {
        var text = text.replacing(":\(origin.port)", with: ":@")
        for end in ["\r\n", "\n"] {
            while let start = text.range(of: "Date: "),
                let lineEnd = text.range(of: end, range: start.upperBound..<text.endIndex)
            {
                text.removeSubrange(start.lowerBound..<lineEnd.upperBound)
            }
        }
        text = text.replacing(
            "\u{1B}[2mHTTP/1.1\u{1B}[0m \u{1B}[1;32m200 OK\u{1B}[0m", with: "HTTP/1.1 200 OK")
        return text.replacing("\u{1B}[36mContent-Length\u{1B}[0m", with: "Content-Length")
            .replacing("\u{1B}[36mContent-Type\u{1B}[0m", with: "Content-Type")
            .replacing("\u{1B}[36mDate\u{1B}[0m: ", with: "Date: ")
    }

    @Test(arguments: GoldenCase.sending)
    func sentRequestsAreAsExpected(_ row: GoldenCase) async throws { try await check(row) }

    @Test(arguments: GoldenCase.everyday)
    func everydayOptionsHaveTheirEffect(_ row: GoldenCase) async throws { try await check(row) }

    @Test(arguments: GoldenCase.printing)
    func outputIsAsExpected(_ row: GoldenCase) async throws { try await check(row) }

    @Test(arguments: GoldenCase.saving)
    func savedFilesAreAsExpected(_ row: GoldenCase) async throws { try await check(row) }

    @Test(arguments: GoldenCase.connecting)
    func connectionOptionsHaveTheirEffect(_ row: GoldenCase) async throws { try await check(row) }

    @Test(arguments: GoldenCase.describing)
    func textsAreAsExpected(_ row: GoldenCase) async throws { try await check(row) }

    @Test(arguments: GoldenCase.tls)
    func tlsOptionsHaveTheirEffect(_ row: GoldenCase) async throws {
        let identity = try EphemeralIdentity.make()
        var configuration = OriginConfiguration()
        var tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
        if row.line.contains("client.pem") {
            tls.clientCertificates = .required(
                roots: try Certificate.bundle(file: PKI.path("client-root.pem")))
        }
        configuration.tls = tls
        let pin = try #require(identity.certificate.publicKey?.pin.description)
        try await withShell(configuration) { shell, origin in
            let lines = Data(identity.certificate.der).base64EncodedString(options: .lineLength64Characters)
            try shell.write(
                "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n", to: "root.pem")
            try shell.write(PKI.text("client-ecdsa-chain.pem"), to: "client.pem")
            try shell.write(PKI.text("client-ecdsa.key"), to: "client.key")
            try shell.write(PKI.text("client-ecdsa-encrypted.key"), to: "locked.key")
            try await check(row, shell, origin, pin: pin)
        }
    }

    /// Returns the options that occur in a line.
    private static func options(of line: String) -> Set<OptionName> {
        var found: Set<OptionName> = []
        for word in line.split(separator: " ") where word.hasPrefix("-") && word != "-" {
            if word.hasPrefix("--") {
                if let option = OptionTable.option(long: word.dropFirst(2).prefix { $0 != "=" }) {
                    found.insert(option.name)
                }
                continue
            }
            for letter in word.dropFirst() {
                guard let option = OptionTable.option(short: letter) else { break }
                found.insert(option.name)
            }
        }
        return found
    }

    @Test(arguments: OptionName.allCases)
    func everyOptionHasAGoldenCase(_ name: OptionName) {
        #expect(GoldenCase.all.contains { Self.options(of: $0.line).contains(name) })
    }
}
