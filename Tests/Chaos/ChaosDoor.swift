// SPDX-License-Identifier: MIT

/// A port of the chaos origin. Misbehaviour that precedes the request cannot be selected in the request, so each such kind has
/// its own port; all other kinds are requested at `main` or `calm`.
package enum ChaosDoor: String, CaseIterable, Sendable {
    /// Does with each request what the request selects.
    case main
    /// The same, but leaves no connection that looks usable and is not: for requests that cannot be sent twice.
    case calm
    /// No socket listens.
    case refused
    /// A socket listens, never accepts, and its queue is full: the kernel drops new connections.
    case unanswered
    /// Resets connections as soon as it has accepted them.
    case resetting
    /// Closes connections as soon as it has accepted them.
    case closing
    /// Accepts connections, and does nothing else.
    case silent
    /// Sends bytes that are not HTTP, and reads no request.
    case babbling

    // For HTTP/2 only: one misbehaviour affects all streams of a connection.

    /// Does nothing to its connections beyond what a stream's script does.
    case streams
    /// Sends GOAWAY now and then, changes its settings, and has small windows: some requests may have to be sent again.
    case leaving
    /// Disclaims requests, and those after them, with GOAWAY.
    case disclaiming
    /// Breaks its connections.
    case breaking
    /// Stops sending on its connections.
    case stalling

    // With TLS only.

    /// Answers the handshake with an alert.
    case alerting
    /// Stops in the middle of its handshake.
    case stallingHandshake
    /// Resets in the middle of its handshake.
    case resettingHandshake
    /// Ends the stream in the middle of its handshake.
    case cuttingHandshake
    /// Has a certificate that has expired.
    case expired
    /// Has a certificate for another host.
    case foreign
    /// Has a certificate of an authority that is not trusted.
    case untrusted
    /// Presents a valid certificate on one connection, another valid one on the next, an expired one on the third.
    case turning
    /// Speaks TLS 1.2.
    case old

    /// Whether the door exists without TLS too.
    package var isPlainToo: Bool {
        switch self {
        case .main, .calm, .refused, .unanswered, .resetting, .closing, .silent, .babbling, .streams,
            .leaving,
            .disclaiming, .breaking, .stalling:
            true
        case .alerting, .stallingHandshake, .resettingHandshake, .cuttingHandshake, .expired, .foreign,
            .untrusted, .turning, .old:
            false
        }
    }
}

extension ChaosDoor {
    /// The errors of requests that result from the misbehaviour of another request on the same connection.
    package var collateral: Set<ChaosFailure> {
        switch self {
        case .leaving: [.lost]
        // Two requests may be disclaimed in an order in which the second GOAWAY raises the last stream identifier, which is an
        // error (RFC 9113 §6.8).
        case .disclaiming, .breaking: [.lost, .badResponse]
        default: []
        }
    }
}

/// The ports of an origin's doors, printed for the other process.
package struct ChaosDoors: Hashable, Sendable {
    private var ports: [String: UInt16] = [:]

    /// Creates an empty list.
    package init() {}

    /// Parses `description`; nil if a door is missing.
    package init?(_ text: String) {
        for pair in text.split(separator: ",") {
            let halves = pair.split(separator: "=")
            guard halves.count == 2, let port = UInt16(halves[1]) else { return nil }
            ports[String(halves[0])] = port
        }
        let isWhole = ChaosDoor.allCases.allSatisfy { door in
            self[door, secure: true] != nil && (!door.isPlainToo || self[door, secure: false] != nil)
        }
        guard isWhole else { return nil }
    }

    /// The port of a door, with or without TLS.
    package subscript(_ door: ChaosDoor, secure isSecure: Bool) -> UInt16? {
        get { ports[Self.name(door, isSecure)] }
        set { ports[Self.name(door, isSecure)] = newValue }
    }

    private static func name(_ door: ChaosDoor, _ isSecure: Bool) -> String {
        (isSecure ? "tls-" : "") + door.rawValue
    }
}

extension ChaosDoors: CustomStringConvertible {
    package var description: String {
        ports.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
    }
}
