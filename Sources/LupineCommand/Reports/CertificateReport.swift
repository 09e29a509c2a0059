// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineTransport

/// The certificate chains that servers presented (`--certs`), with the details that a person checks and the pins to paste.
enum CertificateReport {
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
                text += described(certificate, index, style, now)
            }
            if let pin = certificates.first?.af.publicKey?.pin { text += "  to pin it: --pin \(pin)\n" }
        }
        return text
    }

    private static func described(
        _ certificate: SecCertificate, _ index: Int, _ style: Style, _ now: UnixTime
    ) -> TerminalText {
        let der = [UInt8](SecCertificateCopyData(certificate))
        guard let view = try? Certificate(der: der) else { return "  \(index). (cannot be read)\n" }
        let names = view.subjectAlternativeNames.map(name)
        let days = (view.notAfter.seconds - now.seconds) / 86_400
        let state: TerminalText =
            view.notAfter < now
            ? style.paint("expired", .bad)
            : now < view.notBefore ? style.paint("not valid yet", .bad) : "\(days) days left"
        var rows: [(name: String, value: TerminalText)] = [
            ("subject", "\(view.subject)"), ("issuer", view.isSelfSigned ? "itself" : "\(view.issuer)"),
            ("names", names.isEmpty ? "none" : "\(names.joined(separator: ", "))"),
            ("valid", "\(view.notBefore) to \(view.notAfter) (\(state))"),
            ("key", "\(view.keyType), signed with \(view.signatureAlgorithm)"),
        ]
        if view.isAuthority { rows.remove(at: 2) }
        if let pin = certificate.af.publicKey?.pin { rows.append(("pin", "\(pin)")) }
        let head: TerminalText = "  \(index). "
        return rows.enumerated().map { number, row in
            (number == 0 ? head : "     ") + style.paint(row.name.padded(to: 8), .name) + row.value + "\n"
        }.joined()
    }

    private static func name(_ name: SubjectAlternativeName) -> String {
        switch name {
        case .dns(let text): text
        default: "\(name)"
        }
    }
}
