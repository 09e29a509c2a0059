// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The server that a URL names, read and judged once for all the URLs that spell it in the same way.
///
/// An engine keeps those that it has sent to: see `RouteTable`.
final class RouteServer: Sendable {
    /// How it is reached; a web socket's schemes count as those of HTTP.
    let scheme: Origin.Scheme
    /// A name in ASCII, or an address without brackets; with its zone, where an address has one.
    let host: String
    /// The same without a zone.
    let nameWithoutZone: String
    let port: UInt16
    /// The value of `Host`.
    let hostField: String
    /// The beginning of the URL that it was read from, up to the end of the authority; empty when it is not to be found again.
    let spelling: [UInt8]

    /// Reads an authority without a user, its name in ASCII.
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

    /// Whether the beginning of a URL spells it in the same way, byte by byte.
    func isSpelled(_ beginning: Span<UInt8>) -> Bool {
        guard !spelling.isEmpty, beginning.count == spelling.count else { return false }
        var place = spelling.count - 1
        // From the end: there they differ, if they do.
        while place >= 0, spelling[place] == beginning[place] { place -= 1 }
        return place < 0
    }
}
