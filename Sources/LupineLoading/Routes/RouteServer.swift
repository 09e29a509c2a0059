// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The server that a URL names. It is parsed and validated once for all URLs that spell it in the same way: `RouteTable` caches
/// the servers of a session.
final class RouteServer: Sendable {
    /// The scheme: `http` also for `ws`, `https` also for `wss`.
    let scheme: Origin.Scheme
    /// A name in ASCII, or an address without brackets but with its zone, if it has one.
    let host: String
    /// `host` without the zone.
    let nameWithoutZone: String
    /// The port; that of the scheme (80 or 443) if the URL names none.
    let port: UInt16
    /// The value of `Host`.
    let hostField: String
    /// The text of the URL from which the server was parsed, up to the end of the authority. Empty if the server must not be
    /// cached.
    let spelling: [UInt8]

    /// Parses an authority.
    ///
    /// - Parameters:
    ///   - scheme: The scheme.
    ///   - authority: Host and port, without user information; the host name is in ASCII.
    ///   - spelling: The value of `spelling`.
    /// - Throws: `TransportError.url` if the authority is not valid.
    init(
        _ scheme: Origin.Scheme, authority: String, spelling: [UInt8]
    ) throws(TransportError) {
        let origin: TransportURL
        do throws(TransportURLError) {
            origin = try TransportURL((scheme == .https ? "https://" : "http://") + authority)
        } catch { throw .url(error) }
        self.scheme = scheme
        host = origin.zone.map { origin.host + "%" + $0 } ?? origin.host
        nameWithoutZone = origin.host
        port = origin.port
        hostField = origin.hostField
        self.spelling = spelling
    }

    /// Returns whether `spelling` is not empty and equals `beginning`, the beginning of a URL, byte by byte.
    func hasSpelling(_ beginning: Span<UInt8>) -> Bool {
        guard !spelling.isEmpty, beginning.count == spelling.count else { return false }
        var index = spelling.count - 1
        // Compares from the end, because most URLs begin with the same scheme, so that spellings usually differ near their end.
        while index >= 0, spelling[index] == beginning[index] { index -= 1 }
        return index < 0
    }
}
