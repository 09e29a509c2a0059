// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineTransport

/// Formats the certificate chains that servers presented (`--certs`), with the details that a person checks and the values for
/// `--pin`.
enum CertificateReport {
    /// Returns the report; `now` decides which certificates are valid.
    static func text(
        _ chains: [(host: String, certificates: [SecCertificate])], style: Style, now: UnixTime = .now
    ) -> TerminalText {
        guard !chains.isEmpty else {
            return "No server presented a certificate: nothing was loaded over https.\n"
        }
        var text = TerminalText()
        for (host, certificates) in chains {
            text += style.paint(host, .strong) + "\n"
            for (index, certificate) in certificates.enumerated() {
                text += description(of: certificate, index, style, now)
            }
            // The first certificate is the server's own; its key is the one to pin.
            if let pin = certificates.first?.af.publicKey?.pin { text += "  to pin it: --pin \(pin)\n" }
        }
        return text
    }

    /// Returns the lines about one certificate.
    private static func description(
        of certificate: SecCertificate, _ index: Int, _ style: Style, _ now: UnixTime
    ) -> TerminalText {
        let der = [UInt8](SecCertificateCopyData(certificate))
        guard let parsed = try? Certificate(der: der) else { return "  \(index). (cannot be read)\n" }
        let names = parsed.subjectAlternativeNames.map(name)
        let secondsPerDay: Int64 = 86_400
        let daysLeft = (parsed.notAfter.seconds - now.seconds) / secondsPerDay
        let validity: TerminalText
        if parsed.notAfter < now {
            validity = style.paint("expired", .bad)
        } else if now < parsed.notBefore {
            validity = style.paint("not valid yet", .bad)
        } else {
            validity = "\(daysLeft) days left"
        }
        var rows: [(name: String, value: TerminalText)] = [
            ("subject", "\(parsed.subject)"), ("issuer", parsed.isSelfSigned ? "itself" : "\(parsed.issuer)"),
            ("names", names.isEmpty ? "none" : "\(names.joined(separator: ", "))"),
            ("valid", "\(parsed.notBefore) to \(parsed.notAfter) (\(validity))"),
            ("key", "\(parsed.keyType), signed with \(parsed.signatureAlgorithm)"),
        ]
        // An authority has no names, as it is not a server.
        if parsed.isAuthority { rows.removeAll { $0.name == "names" } }
        if let pin = certificate.af.publicKey?.pin { rows.append(("pin", "\(pin)")) }
        let firstMargin: TerminalText = "  \(index). "
        return rows.enumerated().map { number, row -> TerminalText in
            let margin = number == 0 ? firstMargin : "     "
            return margin + style.paint(row.name.padded(to: 8), .name) + row.value + "\n"
        }.joined()
    }

    /// Returns the text for a name of a certificate.
    private static func name(_ name: SubjectAlternativeName) -> String {
        switch name {
        case .dns(let text): text
        default: "\(name)"
        }
    }
}
