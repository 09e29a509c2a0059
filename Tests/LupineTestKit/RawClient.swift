// SPDX-License-Identifier: MIT

import Glibc
package import LupineTLS

/// A client with minimal knowledge of HTTP: a blocking socket, bytes that the test provides, and a parser of responses that
/// shares no code with the codec. After `startTLS` everything goes through an engine.
///
/// Used by one test at a time. A read without data throws after ten minutes, so that a test fails and does not hang.
package final class RawClient {
    /// The errors of the client.
    package enum Failure: Error {
        case system(Int32)
        case closedInHead([UInt8])
        case closedInBody
        case notAResponse(String)
    }

    /// A parsed response.
    package struct Response {
        package var status = 0
        package var head = ""
        package var body: [UInt8] = []
        package var trailers = ""

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// Returns the first value of a field.
        package subscript(name: String) -> String? { values(name).first }

        /// Returns all values of a field.
        package func values(_ name: String) -> [String] {
            head.split(separator: "\r\n").compactMap { line in
                guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name.lowercased()
                else { return nil }
                return String(line[line.index(after: colon)...].drop { $0 == " " })
            }
        }
    }

    private let descriptor: Int32
    /// Octets that were received and not returned yet.
    private var pending: [UInt8] = []
    /// The largest number of bytes per system call.
    private var pieceBytes = Int.max
    /// The TLS layers, the innermost last.
    private var layers: [RawTLS] = []

    /// Connects to 127.0.0.1. `receiveBuffer` asks for a small kernel buffer.
    package init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure.system(errno) }
        if let receiveBuffer { setOption(SO_RCVBUF, receiveBuffer) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        try connect(to: address)
    }

    /// Connects to a Unix-domain socket.
    package init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure.system(errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: path.utf8.prefix(field.count - 1))
        }
        try connect(to: address)
    }

    deinit { Glibc.close(descriptor) }

    private func connect<Address: BitwiseCopyable>(to address: Address) throws {
        var address = address
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { native in
                unsafe Glibc.connect(descriptor, native, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard result == 0 else { throw Failure.system(errno) }
        setOption(SO_RCVTIMEO, timeval(tv_sec: 600, tv_usec: 0))
        setOption(SO_SNDTIMEO, timeval(tv_sec: 600, tv_usec: 0))
    }

    /// Sets a socket option.
    private func setOption<Value: BitwiseCopyable>(_ name: Int32, _ value: Value) {
        var value = value
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, name, &value, socklen_t(MemoryLayout<Value>.size))
    }

    // MARK: TLS

    /// Performs a handshake, inside the existing TLS layers if there are any; `trusting` evaluates the server's certificate.
    package func startTLS(
        _ context: TLSClientContext, host: String, resuming session: TLSSession? = nil,
        trusting: (PeerTrust) -> Result<Void, TrustFailure> = { _ in .success(()) }
    ) throws {
        let layer: RawTLS
        if let below = layers.last {
            layer = try RawTLS(
                context, host: host, resuming: session, receive: { try below.receive(atMost: $0) },
                send: { try below.send($0) })
        } else {
            // Unowned, because the client retains its layers.
            layer = try RawTLS(
                context, host: host, resuming: session,
                receive: { [unowned self] in try receiveBeneathTLS(atMost: $0) },
                send: { [unowned self] in try sendBeneathTLS($0) })
        }
        try layer.handshake(trusting)
        layers.append(layer)
    }

    /// Requests a renegotiation (TLS 1.2), but does not process the response: later data is read beneath TLS.
    package func requestRenegotiation() throws { try layers.last?.requestRenegotiation() }

    /// The engine of the innermost TLS layer.
    package var engine: TLSEngine? { layers.last?.engine }

    // MARK: sending

    /// Sends text.
    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends octets.
    package func send(_ bytes: [UInt8]) throws {
        if let layer = layers.last { try layer.send(bytes) } else { try sendBeneathTLS(bytes) }
    }

    /// Makes later sends use pieces of `bytes` bytes, each in its own packet.
    package func setPieceSize(_ bytes: Int) {
        pieceBytes = bytes
        var on: Int32 = 1
        _ = unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends octets on the socket, beneath TLS.
    package func sendBeneathTLS(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { raw in
                unsafe Glibc.send(
                    descriptor, UnsafeRawBufferPointer(rebasing: raw[sent...]).baseAddress,
                    min(raw.count - sent, pieceBytes), Int32(MSG_NOSIGNAL))
            }
            guard count >= 0 else { throw Failure.system(errno) }
            sent += count
        }
    }

    /// Shuts down the sending side.
    package func closeOurHalf() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    // MARK: receiving

    /// Returns the next octets, at least one; an empty array at the end.
    package func receive(atMost limit: Int = 64 << 10) throws -> [UInt8] {
        if !pending.isEmpty {
            defer { pending = [] }
            return pending
        }
        return try layers.last?.receive(atMost: limit) ?? receiveBeneathTLS(atMost: limit)
    }

    /// Returns the next octets of the socket, beneath TLS.
    package func receiveBeneathTLS(atMost limit: Int = 64 << 10) throws -> [UInt8] {
        var failure: Int32 = 0
        let received = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let result = unsafe recv(descriptor, buffer.baseAddress, limit, 0)
            failure = result < 0 ? errno : 0
            count = max(0, result)
        }
        guard failure == 0 else { throw Failure.system(failure) }
        return received
    }

    /// Returns all octets up to the end.
    package func receiveAll() throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let piece = try receive()
            if piece.isEmpty { return all }
            all += piece
        }
    }

    /// Returns exactly `count` octets.
    package func receive(exactly count: Int) throws -> [UInt8] {
        while pending.count < count {
            var more = pending
            pending = []
            let piece = try receive()
            guard !piece.isEmpty else { throw Failure.closedInBody }
            more += piece
            pending = more
        }
        defer { pending.removeFirst(count) }
        return Array(pending.prefix(count))
    }

    /// Returns the text up to and including `mark`.
    private func receive(through mark: String) throws -> String {
        let octets = Array(mark.utf8)
        while true {
            if let found = pending.firstRange(of: octets) {
                defer { pending.removeSubrange(..<found.upperBound) }
                return String(decoding: pending[..<found.upperBound], as: UTF8.self)
            }
            var more = pending
            pending = []
            let piece = try receive()
            guard !piece.isEmpty else { throw Failure.closedInHead(more) }
            more += piece
            pending = more
        }
    }

    /// Receives the head of a response, and leaves its body unread.
    package func receiveHead() throws -> Response {
        var response = Response()
        response.head = try receive(through: "\r\n\r\n")
        let parts = response.head.split(separator: " ")
        guard parts.count > 1, parts[0] == "HTTP/1.1", let status = Int(parts[1].prefix(3)) else {
            throw Failure.notAResponse(response.head)
        }
        response.status = status
        return response
    }

    /// Receives a whole response.
    package func receiveResponse(toHead: Bool = false) throws -> Response {
        var response = try receiveHead()
        if toHead || response.status < 200 || response.status == 204 || response.status == 304 {
            return response
        }
        if let length = response["Content-Length"].flatMap({ Int($0) }) {
            response.body = try receive(exactly: length)
        } else if response["Transfer-Encoding"] == "chunked" {
            while true {
                let line = try receive(through: "\r\n").dropLast(1)
                guard let size = Int(line, radix: 16) else { throw Failure.notAResponse(String(line)) }
                if size == 0 { break }
                response.body += try receive(exactly: size)
                guard try receive(exactly: 2) == [13, 10] else { throw Failure.notAResponse("chunk end") }
            }
            while true {
                let line = try receive(through: "\r\n")
                if line == "\r\n" { break }
                response.trailers += line
            }
        } else {
            response.body = try receiveAll()
        }
        return response
    }

    /// Sends a GET request and receives the response.
    package func get(_ target: String, _ fields: String = "") throws -> Response {
        try send("GET \(target) HTTP/1.1\r\nHost: test\r\n\(fields)\r\n")
        return try receiveResponse()
    }

    /// Sends a request with a body and receives the response.
    package func request(
        _ method: String, _ target: String, _ fields: String = "", body: [UInt8] = []
    ) throws -> Response {
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: test\r\nContent-Length: \(body.count)\r\n\(fields)\r\n"
        try send(Array(head.utf8) + body)
        return try receiveResponse(toHead: method == "HEAD")
    }
}
