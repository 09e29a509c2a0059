// SPDX-License-Identifier: MIT

/// What a program of the groups `loading`, `pipeline` and `transfer` is told to do: which form of the face to fetch with, what, and
/// how often.
package struct LoadJob: Sendable {
    /// The programs know the forms by these names.
    package enum Form: String, Sendable {
        /// `data(for:)`, awaited by as many tasks as there are connections.
        case async
        /// The same, by tasks on the session's event loops.
        case executor
        /// `dataTask(with:completionHandler:)`, each handler starting the next task.
        case handler
        /// `downloadTask(with:completionHandler:)`: to a file, which is removed when its size has been read.
        case download
        /// PUTs of the file that `LUPINE_BENCH_FILE` names.
        case upload
        /// `async`, with the content decoded.
        case decodable
        /// The same; what decoding adds to a request, and what the decoder takes alone, are told besides.
        case decoding
        /// `async`, without a cache, each request for another address.
        case addresses
        /// The same, with a cache as it comes: every answer is stored.
        case storing
        /// The same over a session as it comes but for its connections: with the cache, the cookies and the notifications that a
        /// program has which sets nothing up.
        case program
        /// The same, adapted by an interceptor, heard of by a monitor, and validated.
        case written
        /// The same, decoded.
        case writtenDecodable
        /// `async`, each answer asked about at the server before it comes out of a cache.
        case revalidated
        /// `async`, answered by a cache out of memory.
        case memoryHit
        /// The same out of its folder: it has no memory.
        case diskHit
        /// The decoder alone: the content is fetched once, and decoded as often as there are requests.
        case decoder
    }

    /// What is done with the connections; the peers' programs know the modes by these names.
    package enum Mode: String, Sendable {
        /// They are kept.
        case get
        /// Every request has one of its own.
        case full
        /// One request on each, all of which stay open: measures what one holds.
        case idle
        /// The same on a server that answers when all requests have come: measures what one in flight holds.
        case hold
    }

    package let form: Form
    package let mode: Mode
    /// The only version of TLS and the file of its only roots; nil for none.
    package let tls: (version: String, authorities: String)?
    /// Asked in turn.
    package let urls: [String]
    /// Of a server that holds requests, whose paths are numbers, one that it does not hold.
    package let firstURL: String
    package let connections: Int
    package let requests: Int
    /// Whether all requests go over one HTTP/2 connection: `connections` are streams then.
    package let sharesConnection: Bool

    /// Whether a request is a long one, about a file.
    package var isTransfer: Bool { form == .download || form == .upload }
    /// Whether it is about what connections hold.
    package var isAboutMemory: Bool { mode == .idle || mode == .hold }
    /// All hosts and lanes have had a request after so many.
    package var round: Int { max(connections, urls.count) }

    /// `[--http2] FORM [MODE [VERSION CAFILE]] HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS`; nil when that is not what stands there.
    package init?(_ arguments: [String]) {
        sharesConnection = arguments.first == "--http2"
        let arguments = sharesConnection ? Array(arguments.dropFirst()) : arguments
        guard [6, 7, 9].contains(arguments.count), let form = Form(rawValue: arguments[0]),
            let mode = arguments.count == 6 ? .get : Mode(rawValue: arguments[1])
        else { return nil }
        if sharesConnection, mode == .full || mode == .idle { return nil }
        let target = Array(arguments.suffix(5))
        guard let port = UInt16(target[1]), let connections = Int(target[3]),
            let requests = Int(target[4]), connections > 0, requests > 0
        else { return nil }
        self.form = form
        self.mode = mode
        tls = arguments.count == 9 ? (arguments[2], arguments[3]) : nil
        let scheme = tls == nil ? "http" : "https"
        let hosts = LoadJob.hosts(target[0])
        urls = hosts.map { "\(scheme)://\($0):\(port)\(target[2])" }
        let firstPath = target[2].dropFirst().first?.isNumber == true ? "/1" : target[2]
        firstURL = "\(scheme)://\(hosts[0]):\(port)\(firstPath)"
        self.connections = connections
        self.requests = mode == .idle || mode == .hold ? connections : requests
    }

    /// `HOSTx100` are a hundred hosts from an IPv4 address on; anything else is one.
    package static func hosts(_ text: String) -> [String] {
        let parts = text.split(separator: "x")
        guard parts.count == 2, let count = UInt32(parts[1]), count > 0 else { return [text] }
        let octets = parts[0].split(separator: ".").compactMap { UInt32($0) }
        guard octets.count == 4 else { return [text] }
        let first = octets.reduce(0) { $0 << 8 | $1 & 255 }
        return (0..<count).map { index in
            let address = first &+ index
            return [24, 16, 8, 0].map { "\(address >> $0 & 255)" }.joined(separator: ".")
        }
    }
}
