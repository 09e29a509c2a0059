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
                noCache = ListSyntax.contains("no-cache", in: pragma.utf8.span)
            }
            return
        }
        let octets = field.utf8.span
        ListSyntax.forEachElement(in: octets, upTo: ListSyntax.mostElements) { element in
            let equals = element.first { octets[$0] == 0x3D }
            let name = octets.trimmed(element.lowerBound..<(equals ?? element.upperBound))
            guard
                let directive = Directive.allCases.first(where: {
                    octets.equals(lowercased: $0.rawValue, in: name)
                })
            else { return }
            take(
                directive,
                equals.map { ListSyntax.unquoted(octets, octets.trimmed(($0 + 1)..<element.upperBound)) })
        }
    }

    /// What a response says.
    init(of response: HTTPURLResponse) {
        let field = response.value(of: .cacheControl)
        self.init(field: field, pragma: field == nil ? response.value(of: .pragma) : nil)
    }

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

    private mutating func take(_ directive: Directive, _ value: String?) {
        switch directive {
        case .noStore: noStore = true
        case .noCache: noCache = true
        case .isPublic: isPublic = true
        case .isPrivate: isPrivate = true
        case .mustRevalidate: mustRevalidate = true
        case .onlyIfCached: onlyIfCached = true
        // A number that is none is the strictest; of several the smallest counts.
        case .maxAge: maxAge = min(maxAge ?? Self.longest, value.flatMap(Self.seconds) ?? 0)
        case .minFresh: minFresh = max(minFresh ?? 0, value.flatMap(Self.seconds) ?? Self.longest)
        case .maxStale:
            guard let value else {
                maxStale = .any
                return
            }
            maxStale = .upTo(seconds: Self.seconds(value) ?? 0)
        }
    }

    private static func seconds(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return min(Int(text) ?? longest, longest)
    }
}
