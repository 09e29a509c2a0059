// SPDX-License-Identifier: MIT

/// The job of a program of the groups `loading`, `pipeline` and `transfer`: the API form to use, the URLs, and the number of
/// requests.
package struct LoadJob: Sendable {
    /// The API form; the raw values are the programs' arguments.
    package enum Form: String, Sendable {
        /// `data(for:)`, awaited by as many tasks as there are connections.
        case async
        /// `async`, by tasks on the session's event loops.
        case executor
        /// `dataTask(with:completionHandler:)`, where each handler starts the next task.
        case handler
        /// `downloadTask(with:completionHandler:)`: to a file, which is removed after its size has been read.
        case download
        /// PUTs of the file that `LUPINE_BENCH_FILE` names.
        case upload
        /// `async`, with the content decoded.
        case decodable
        /// `decodable`, with figures for the cost that decoding adds to a request, and for the cost of the decoder alone.
        case decoding
        /// `async`, without a cache, each request with another URL.
        case addresses
        /// `addresses`, with a default cache: every response is stored.
        case storing
        /// `addresses`, with a session that is default except for its connections: with the cache, the cookies and the
        /// notifications of a program that configures nothing.
        case program
        /// `program`, with an interceptor's adapter, a monitor, and validation.
        case written
        /// `written`, with the content decoded.
        case writtenDecodable
        /// `async`, where each response in the cache is revalidated with the server.
        case revalidated
        /// `async`, answered from a cache in memory.
        case memoryHit
        /// `async`, answered from a cache on the disk, without memory.
        case diskHit
        /// The decoder alone: the content is fetched once, and decoded as often as there are requests.
        case decoder
    }

    /// The use of the connections; the raw values are the arguments of the peers' programs.
    package enum Mode: String, Sendable {
        /// Connections are kept alive.
        case get
        /// Every request has a new connection.
        case full
        /// One request on each connection, all of which stay open: measures the memory of an idle connection.
        case idle
        /// `idle`, with a server that answers when all requests have arrived: measures the memory of a request in flight.
        case hold
    }

    package let form: Form
    package let mode: Mode
    /// The version of TLS, which is the only one, and the file with the only roots; nil without TLS.
    package let tls: (version: String, authorities: String)?
    /// The URLs, requested in turn.
    package let urls: [String]
    /// The URL of the first request. If the server holds requests, whose paths are numbers, it is the path of a request that is
    /// not held.
    package let firstURL: String
    package let connections: Int
    package let requests: Int
    /// Whether all requests use one HTTP/2 connection. Then `connections` is the number of streams.
    package let sharesConnection: Bool

    /// Whether a request transfers a file.
    package var isTransfer: Bool { form == .download || form == .upload }
    /// Whether the job measures the memory of connections.
    package var isAboutMemory: Bool { mode == .idle || mode == .hold }
    /// The number of requests after which every host and every connection has had one.
    package var round: Int { max(connections, urls.count) }

    /// Parses `[--http2] FORM [MODE [VERSION CAFILE]] HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS`; nil if the arguments are
    /// wrong.
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

    /// Expands `HOSTx100` to a hundred hosts from an IPv4 address on; any other text is one host.
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
