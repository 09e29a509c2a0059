// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The `Cache-Control` directives of a request or a response (RFC 9111 §5.2) that matter to a private cache.
///
/// Ignores the directives for shared caches (`s-maxage`, `proxy-revalidate`) and unknown directives. `Pragma` is read only if
/// there is no `Cache-Control`.
struct CacheControl: Hashable, Sendable {
    /// The staleness that a request accepts.
    enum Staleness: Hashable, Sendable {
        /// The response must be fresh.
        case none
        /// The response may have been stale for this long.
        case upTo(seconds: Int)
        /// The response may have been stale for any time.
        case any
    }

    /// `no-store`: nothing may be stored.
    var noStore = false
    /// `no-cache`: a stored response must be validated before use. Also set by the form with a list of fields.
    var noCache = false
    /// `public`: the response is the same for all users.
    var isPublic = false
    /// `private`: the response is for one user. Also set by the form with a list of fields.
    var isPrivate = false
    /// `max-age`: the largest age of a response, in seconds; nil without the directive.
    var maxAge: Int?
    /// `must-revalidate`: a stale response may not be used, even if the request has `max-stale`.
    var mustRevalidate = false
    /// `min-fresh`: for how many seconds a response must remain fresh; nil without the directive.
    var minFresh: Int?
    /// `max-stale`: for how long a response may have been stale.
    var maxStale = Staleness.none
    /// `only-if-cached`: the network must not be used.
    var onlyIfCached = false

    /// The largest number of seconds; larger numbers are reduced to it.
    private static let maxSeconds = Int(Int32.max)

    /// No directives.
    init() {}

    /// Parses the fields.
    ///
    /// - Parameters:
    ///   - field: The lines of `Cache-Control`, joined by commas; nil if there is none.
    ///   - pragma: The lines of `Pragma`, joined by commas; nil if there is none.
    init(field: String?, pragma: String?) {
        guard let field else {
            if let pragma {
                noCache = ListSyntax.contains("no-cache", in: pragma.utf8.span)
            }
            return
        }
        let octets = field.utf8.span
        ListSyntax.forEachElement(in: octets, upTo: ListSyntax.elementLimit) { element in
            let equals = element.first { octets[$0] == UInt8(ascii: "=") }
            let name = octets.trimmed(element.lowerBound..<(equals ?? element.upperBound))
            guard
                let directive = Directive.allCases.first(where: {
                    octets.equals(lowercased: $0.rawValue, in: name)
                })
            else { return }
            let value = equals.map {
                ListSyntax.unquoted(octets, octets.trimmed(($0 + 1)..<element.upperBound))
            }
            apply(directive, value)
        }
    }

    /// The directives of a response.
    init(of response: HTTPURLResponse) {
        let field = response.value(of: .cacheControl)
        self.init(field: field, pragma: field == nil ? response.value(of: .pragma) : nil)
    }

    /// The directives that matter; the raw values are their names.
    private enum Directive: String, CaseIterable {
        case noStore = "no-store"
        case noCache = "no-cache"
        case isPublic = "public"
        case isPrivate = "private"
        case maxAge = "max-age"
        case mustRevalidate = "must-revalidate"
        case minFresh = "min-fresh"
        case maxStale = "max-stale"
        case onlyIfCached = "only-if-cached"
    }

    /// Sets the property of a directive. `value` is the text after `=`, without quotes; nil if there is none.
    private mutating func apply(_ directive: Directive, _ value: String?) {
        switch directive {
        case .noStore: noStore = true
        case .noCache: noCache = true
        case .isPublic: isPublic = true
        case .isPrivate: isPrivate = true
        case .mustRevalidate: mustRevalidate = true
        case .onlyIfCached: onlyIfCached = true
        // Of several `max-age` or `min-fresh` directives the strictest applies. An invalid number counts as the strictest one.
        case .maxAge: maxAge = min(maxAge ?? Self.maxSeconds, value.flatMap(Self.seconds) ?? 0)
        case .minFresh: minFresh = max(minFresh ?? 0, value.flatMap(Self.seconds) ?? Self.maxSeconds)
        case .maxStale:
            guard let value else {
                maxStale = .any
                return
            }
            maxStale = .upTo(seconds: Self.seconds(value) ?? 0)
        }
    }

    /// Parses a number of seconds (`delta-seconds`, RFC 9111 §1.2.2), in ASCII digits (0x30...0x39); nil if it is invalid.
    private static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return min(Int(text) ?? maxSeconds, maxSeconds)
    }
}
