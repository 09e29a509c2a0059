// SPDX-License-Identifier: MIT

internal import Foundation

/// Which domains are public suffixes: names such as `co.uk` under which anybody may register, so that no cookie may be
/// set for all of them (RFC 6265 §5.3).
///
/// The list that the distribution keeps up to date is used where it is installed (the file that libpsl is made from,
/// Debian's package `publicsuffix`). Without it only single labels and a few second-level registries count as public:
/// the check is then incomplete, and hosts under other registries can set cookies for one another.
struct PublicSuffixList: Sendable {
    /// The lines of the list: names, `*.` for every name below, `!` for an exception.
    private let rules: Set<String>
    /// The labels of the longest rule: what stands before them in a host's name, of which that decides how much there is, is not
    /// looked at.
    private let mostLabels: Int

    /// Has the list of this machine read on a thread of its own: who has cookies will ask for it, and may be a loop.
    static func readAhead() { reading }

    private static let reading: Void = StorageQueue.files.async { _ = system }

    /// The list of this machine, read when it is first asked for.
    static let system: PublicSuffixList = {
        let paths = [
            "/usr/share/publicsuffix/public_suffix_list.dat",
            "/usr/share/publicsuffix/effective_tld_names.dat",
        ]
        for path in paths {
            guard let data = FileManager.default.contents(atPath: path) else { continue }
            let list = PublicSuffixList(text: String(decoding: data, as: UTF8.self))
            if !list.rules.isEmpty { return list }
        }
        return .builtIn
    }()

    /// What is known without a list.
    static let builtIn = PublicSuffixList(
        rules: [
            "ac.jp", "ac.nz", "ac.uk", "ac.za", "co.id", "co.il", "co.in", "co.jp", "co.kr", "co.nz", "co.th",
            "co.uk", "co.za", "com.ar", "com.au", "com.br", "com.cn", "com.co", "com.hk", "com.mx", "com.my",
            "com.ph", "com.pl", "com.sg", "com.tr", "com.tw", "com.ua", "com.vn", "edu.au", "gob.mx",
            "gov.au", "gov.br", "gov.cn", "gov.in", "gov.uk", "ltd.uk", "me.uk", "ne.jp", "net.au", "net.br",
            "net.cn", "net.nz", "net.uk", "nhs.uk", "or.jp", "or.kr", "org.au", "org.br", "org.cn", "org.nz",
            "org.uk", "org.za", "plc.uk", "sch.uk",
        ])

    private init(rules: Set<String>) {
        self.rules = rules
        mostLabels = rules.lazy.map { $0.utf8.count { $0 == UInt8(ascii: ".") } + 1 }.max() ?? 1
    }

    /// The rules of a list in the format of publicsuffix.org.
    init(text: String) {
        var rules: Set<String> = []
        for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let rule = line.prefix { $0 != 0x20 && $0 != 0x09 }
            if rule.isEmpty || rule.starts(with: "//".utf8) { continue }
            let isCanonical = rule.allSatisfy { $0 < 0x80 && !(0x41...0x5A ~= $0) }
            let name = String(Substring(rule))
            rules.insert(isCanonical ? name : HostName.canonical(name))
        }
        self.init(rules: rules)
    }

    /// Whether a canonical host is a public suffix itself, with the root's dot or without. An address is none.
    func contains(_ host: String) -> Bool {
        let host = String(HostName.withoutRoot(host))
        return suffix(of: host) == host && !HostName.isAddress(host)
    }

    /// The domain that was registered for a canonical host: its public suffix and one label more, without the root's dot.
    /// An address, and a host that is a public suffix, stand for themselves.
    func registrableDomain(of host: String) -> String {
        if HostName.isAddress(host) { return host }
        let host = String(HostName.withoutRoot(host))
        let suffix = suffix(of: host)
        guard suffix.utf8.count < host.utf8.count else { return host }
        let rest = host.dropLast(suffix.count + 1)
        guard let dot = rest.lastIndex(of: ".") else { return host }
        return String(host[host.index(after: dot)...])
    }

    /// The longest public suffix of a host; its last label when no rule says more.
    private func suffix(of host: String) -> String {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        for start in labels.indices.suffix(mostLabels) {
            let candidate = labels[start...].joined(separator: ".")
            if rules.contains("!" + candidate) { return labels[(start + 1)...].joined(separator: ".") }
            if rules.contains(candidate) { return candidate }
            let below = labels[(start + 1)...].joined(separator: ".")
            if !below.isEmpty, rules.contains("*." + below) { return candidate }
        }
        return labels.last.map(String.init) ?? host
    }
}
