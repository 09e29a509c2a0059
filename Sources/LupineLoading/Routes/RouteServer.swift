// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The server that a URL names, parsed and validated once for all URLs that spell it in the same way.
///
/// An engine keeps the servers that it has sent to: see `RouteTable`.
final class RouteServer: Sendable {
    /// The scheme; the schemes of web sockets count as those of HTTP.
    let scheme: Origin.Scheme
    /// A name in ASCII, or an address without brackets but with its zone, if it has one.
    let host: String
    /// `host` without the zone.
    let nameWithoutZone: String
    let port: UInt16
    /// The value of `Host`.
    let hostField: String
    /// The beginning of the URL that it was parsed from, up to the end of the authority; empty if the server must not be found
    /// by it.
    let spelling: [UInt8]

    /// Parses an authority without user information, whose name is in ASCII.
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
    func isSpelled(_ beginning: Span<UInt8>) -> Bool {
        guard !spelling.isEmpty, beginning.count == spelling.count else { return false }
        var place = spelling.count - 1
        // From the end, where spellings that differ mostly do so.
        while place >= 0, spelling[place] == beginning[place] { place -= 1 }
        return place < 0
    }
}
