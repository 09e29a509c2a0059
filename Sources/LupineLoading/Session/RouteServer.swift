// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The server that a URL names, read and judged once for all the URLs that spell it in the same way.
///
/// An engine keeps the last one: programs send request after request to one server.
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
    let spelling: String

    /// Reads an authority without a user, its name in ASCII.
    init(
        _ scheme: Origin.Scheme, authority: String, spelling: String
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
}

extension Span<UInt8> {
    /// Whether the other is the same, byte by byte.
    package func hasOctets(of other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        // From the end: there addresses differ, if they do.
        var place = count - 1
        while place >= 0, self[place] == other[place] { place -= 1 }
        return place < 0
    }

    func firstIndex(from start: Int, where isIt: (UInt8) -> Bool) -> Int? {
        var place = start
        while place < count {
            if isIt(self[place]) { return place }
            place += 1
        }
        return nil
    }
}
