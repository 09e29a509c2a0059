// SPDX-License-Identifier: MIT

internal import Foundation

/// The public suffixes: names such as `co.uk` under which anybody may register a domain. No cookie may be set for all domains
/// below one (RFC 6265 §5.3).
///
/// Uses the list that the distribution maintains, if it is installed (the source file of libpsl, Debian's package
/// `publicsuffix`). Without that list, only names of a single label and those in `builtIn` count as public suffixes. The
/// check is then incomplete: hosts under other suffixes can set cookies for one another.
struct PublicSuffixList: Sendable {
    /// The rules of the list: a name is a public suffix; `*.name` makes each name directly below `name` a suffix; `!name`
    /// is an exception to a rule with `*`.
    private let rules: Set<String>
    /// The number of labels of the longest rule. A look-up reads only this many labels at the end of a host, because a server may
    /// name a host with very many labels.
    private let maxLabels: Int

    /// Reads the system's list in advance, on `StorageQueue.files`: its first use may be on an event loop, which must not block.
    static func readAhead() { readOnce }

    /// Starts the read when this constant is first evaluated, and so only once. The read evaluates `system`, which is the list.
    private static let readOnce: Void = StorageQueue.files.async { _ = system }

    /// The system's list, read on first use; `builtIn` if it is not installed.
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

    /// The suffixes that are used if the system has no list.
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
        maxLabels = rules.lazy.map { $0.utf8.count { $0 == UInt8(ascii: ".") } + 1 }.max() ?? 1
    }

    /// Parses a list in the format of publicsuffix.org.
    init(text: String) {
        var rules: Set<String> = []
        let isLineEnd = { (octet: UInt8) in octet == UInt8(ascii: "\n") || octet == UInt8(ascii: "\r") }
        for line in text.utf8.split(whereSeparator: isLineEnd) {
            // A rule ends at the first blank; comments begin with `//`.
            let rule = line.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            if rule.isEmpty || rule.starts(with: "//".utf8) { continue }
            // Most rules are ASCII without capital letters (0x41...0x5A), and need no conversion.
            let isCanonical = rule.allSatisfy { $0 < 0x80 && !(0x41...0x5A ~= $0) }
            let name = String(Substring(rule))
            rules.insert(isCanonical ? name : HostName.canonical(name))
        }
        self.init(rules: rules)
    }

    /// Whether a canonical host is a public suffix itself, with or without the dot of the root. False for an IP address.
    func contains(_ host: String) -> Bool {
        let host = String(HostName.withoutRoot(host))
        return suffix(of: host) == host && !HostName.isAddress(host)
    }

    /// Returns the registrable domain of a canonical host: its public suffix and one more label, without the dot of the root. An
    /// IP address or a public suffix is returned as it is.
    func registrableDomain(of host: String) -> String {
        if HostName.isAddress(host) { return host }
        let host = String(HostName.withoutRoot(host))
        let suffix = suffix(of: host)
        guard suffix.utf8.count < host.utf8.count else { return host }
        // The last label before the dot of the suffix belongs to the registrable domain.
        let beforeSuffix = host.dropLast(suffix.count + 1)
        guard let dot = beforeSuffix.lastIndex(of: ".") else { return host }
        return String(host[host.index(after: dot)...])
    }

    /// Returns the longest public suffix of a host; the host's last label if no rule matches. If an exception (`!`) matches, the
    /// suffix is its name without the first label.
    private func suffix(of host: String) -> String {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        // The first candidate is the longest.
        for start in labels.indices.suffix(maxLabels) {
            let candidate = labels[start...].joined(separator: ".")
            if rules.contains("!" + candidate) { return labels[(start + 1)...].joined(separator: ".") }
            if rules.contains(candidate) { return candidate }
            let parent = labels[(start + 1)...].joined(separator: ".")
            if !parent.isEmpty, rules.contains("*." + parent) { return candidate }
        }
        return labels.last.map(String.init) ?? host
    }
}
