// SPDX-License-Identifier: MIT
// Invariant: a host matches a name exactly when a slow reference matcher says so; case never matters, and a host without a name
// matches nothing.
import Glibc
import LupineTLS

/// The input is a host, a line feed, and a name of a certificate, used as DNS name and as the bytes of an address.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    let lines = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let host = String(decoding: lines[0], as: UTF8.self)
    let nameOctets = lines.count > 1 ? Array(lines[1]) : []
    let name = String(decoding: nameOctets, as: UTF8.self)

    check(host, .dns(name), ReferenceMatcher.matches(host: host, name: name))
    check(host, .ip(nameOctets), ReferenceMatcher.address(of: host) == nameOctets)
    if let address = ReferenceMatcher.address(of: host) { check(host, .ip(address), true) }
    // Random names rarely match, so a matching name is also checked.
    check(host, .dns(host), ReferenceMatcher.matches(host: host, name: host))
    if let dot = host.utf8.firstIndex(of: 0x2E) {
        let wide = "*" + String(decoding: host.utf8[dot...], as: UTF8.self)
        check(host, .dns(wide), ReferenceMatcher.matches(host: host, name: wide))
    }
    for other in [SubjectAlternativeName.email(host), .uri(host), .other(host)] { check(host, other, false) }
    precondition(!PeerIdentity.matches(host: host, names: []))
    return 0
}

private func check(_ host: String, _ name: SubjectAlternativeName, _ expected: Bool) {
    precondition(
        PeerIdentity.matches(host: host, names: [name]) == expected, "\(host) and \(name): not \(expected)")
    guard expected else { return }
    precondition(PeerIdentity.matches(host: asciiUppercased(host), names: [name]) || host.contains("%"))
    precondition(!PeerIdentity.matches(host: "x" + host + "x", names: [name]))
}

private func asciiUppercased(_ text: String) -> String {
    String(decoding: text.utf8.map { (0x61...0x7A).contains($0) ? $0 - 32 : $0 }, as: UTF8.self)
}

/// A slow reference matcher, which works on strings and uses the C library's parser of addresses.
private enum ReferenceMatcher {
    static func matches(host: String, name: String) -> Bool {
        guard address(of: host) == nil, !host.utf8.contains(0x3A), host.utf8.first != 0x5B else {
            return false
        }
        let wanted = without(finalDot: host)
        guard isHostName(wanted) else { return false }
        let last = String(wanted.split(separator: ".", omittingEmptySubsequences: false).last ?? "")
        guard !last.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return false }
        let first = asciiUppercased(wanted)
        let second = asciiUppercased(name)
        if isHostName(name), Array(first.utf8) == Array(second.utf8) { return true }
        guard second.utf8.starts(with: [0x2A, 0x2E]) else { return false }
        let tail = String(decoding: second.utf8.dropFirst(2), as: UTF8.self)
        guard isHostName(tail), tail.utf8.contains(0x2E) else { return false }
        var label = Array(first.utf8)
        while let end = label.last, end != 0x2E || label.count > first.utf8.count - tail.utf8.count {
            _ = end
            label.removeLast()
        }
        return label.count > 1 && !label.dropLast().contains(0x2E)
            && label + Array(tail.utf8) == Array(first.utf8)
    }

    static func address(of host: String) -> [UInt8]? {
        var text = Array(host.utf8)
        if text.contains(0) { return nil }
        if text.first == 0x5B {
            guard text.last == 0x5D, text.contains(0x3A) else { return nil }
            text = Array(text[1..<(text.count - 1)])
        }
        if text.contains(0x3A) {
            if let zone = text.firstIndex(of: 0x25) {
                guard zone + 1 < text.count else { return nil }
                text = Array(text[..<zone])
            }
            return read(text, AF_INET6, 16)
        }
        if text.last == 0x2E { text.removeLast() }
        return read(text, AF_INET, 4)
    }

    private static func read(_ text: [UInt8], _ family: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let string = String(decoding: text, as: UTF8.self)
        let isAddress = unsafe bytes.withUnsafeMutableBytes {
            unsafe inet_pton(family, string, $0.baseAddress)
        }
        return isAddress == 1 ? bytes : nil
    }

    private static func without(finalDot text: String) -> String {
        text.utf8.last == 0x2E ? String(decoding: text.utf8.dropLast(), as: UTF8.self) : text
    }

    private static func isHostName(_ text: String) -> Bool {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)
        guard text.utf8.allSatisfy(allowed.contains), text.utf8.count <= 253 else { return false }
        return text.split(separator: ".", omittingEmptySubsequences: false)
            .allSatisfy { !$0.isEmpty && $0.utf8.count <= 63 }
    }
}
