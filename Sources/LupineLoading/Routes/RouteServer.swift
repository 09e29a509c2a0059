// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The server that a URL names, parsed and validated once for all URLs that spell it in the same way.
///
/// `RouteTable` keeps the servers that a session has sent to.
final class RouteServer: Sendable {
    /// The scheme: `http` also for `ws`, `https` also for `wss`.
    let scheme: Origin.Scheme
    /// A name in ASCII, or an address without brackets but with its zone, if it has one.
    let host: String
    /// `host` without the zone.
    let nameWithoutZone: String
    let port: UInt16
    /// The value of `Host`.
    let hostField: String
    /// The URL that the server was parsed from, up to the end of the authority; empty if the server must not be found by its
    /// spelling.
    let spelling: [UInt8]

    /// Parses an authority without user info, whose name is in ASCII.
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

    /// Whether the beginning of a URL equals `spelling`, byte by byte.
    func hasSpelling(_ beginning: Span<UInt8>) -> Bool {
        guard !spelling.isEmpty, beginning.count == spelling.count else { return false }
        var index = spelling.count - 1
        // Compares from the end, where most different spellings differ.
        while index >= 0, spelling[index] == beginning[index] { index -= 1 }
        return index < 0
    }
}
