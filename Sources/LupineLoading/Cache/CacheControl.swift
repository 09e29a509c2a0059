// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// What `Cache-Control` says, of a request or of a response (RFC 9111 §5.2), as far as a private cache cares.
///
/// Directives that a private cache has nothing to do with (`s-maxage`, `proxy-revalidate`) and those that nobody has to know
/// are left out. `Pragma` stands in where there is no `Cache-Control` at all.
struct CacheControl: Hashable, Sendable {
    /// How much too old a response may be.
    enum Staleness: Hashable, Sendable {
        case none
        case upTo(seconds: Int)
        case any
    }

    /// Nothing may be kept.
    var noStore = false
    /// Nothing may be used without asking; also with a list of fields, which is not told apart.
    var noCache = false
    /// The response is the same for all users.
    var isPublic = false
    /// The response is for one user; also with a list of fields.
    var isPrivate = false
    /// How old a response may be, in seconds.
    var maxAge: Int?
    /// A stale response may not be used, whatever the request says.
    var mustRevalidate = false
    /// How long a response has to be fresh yet, in seconds.
    var minFresh: Int?
    /// How long it may have been stale.
    var maxStale = Staleness.none
    /// The network is not to be asked.
    var onlyIfCached = false

    /// More seconds than these are as many.
    private static let longest = Int(Int32.max)

    /// Nothing said.
    init() {}

    /// - Parameters:
    ///   - field: The lines of `Cache-Control`, joined by commas; nil when there is none.
    ///   - pragma: Those of `Pragma`.
    init(field: String?, pragma: String?) {
        guard let field else {
            if let pragma {
                noCache = ListSyntax.contains("no-cache", in: Array(pragma.utf8).span)
            }
            return
        }
        let octets = Array(field.utf8)
        ListSyntax.forEachElement(in: octets.span, upTo: ListSyntax.mostElements) { element in
            let text = octets[element]
            let equals = text.firstIndex(of: 0x3D)
            let name = String(decoding: text[..<(equals ?? text.endIndex)], as: UTF8.self)
                .trimmingBlanks().lowercased()
            let value = equals.map { equals in
                ListSyntax.unquoted(octets.span, Self.trimmed((equals + 1)..<element.upperBound, in: octets))
            }
            take(name, value)
        }
    }

    private mutating func take(_ name: String, _ value: String?) {
        switch name {
        case "no-store": noStore = true
        case "no-cache": noCache = true
        case "public": isPublic = true
        case "private": isPrivate = true
        case "must-revalidate": mustRevalidate = true
        case "only-if-cached": onlyIfCached = true
        // A number that is none is the strictest; of several the smallest counts.
        case "max-age": maxAge = min(maxAge ?? Self.longest, value.flatMap(Self.seconds) ?? 0)
        case "min-fresh": minFresh = max(minFresh ?? 0, value.flatMap(Self.seconds) ?? Self.longest)
        case "max-stale":
            guard let value else {
                maxStale = .any
                return
            }
            maxStale = .upTo(seconds: Self.seconds(value) ?? 0)
        default: break
        }
    }

    private static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return min(Int(text) ?? longest, longest)
    }

    private static func trimmed(_ range: Range<Int>, in octets: [UInt8]) -> Range<Int> {
        var start = range.lowerBound
        while start < range.upperBound, octets[start] == 0x20 || octets[start] == 0x09 { start += 1 }
        return start..<range.upperBound
    }
}

extension String {
    fileprivate func trimmingBlanks() -> String {
        let octets = utf8.drop { $0 == 0x20 || $0 == 0x09 }
        let end = octets.lastIndex { $0 != 0x20 && $0 != 0x09 }
        return end.map { String(Substring(octets[...$0])) } ?? ""
    }
}
