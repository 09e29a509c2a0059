// SPDX-License-Identifier: MIT

import CNGHTTP2Peer
import LupineHTTP2

/// A session of nghttp2. Its events are fetched as records, its output as octets.
@safe final class NGHTTP2Session {
    typealias Field = PackedFields.Field

    /// An event of the session.
    enum Record: Hashable {
        /// A frame was received completely.
        case frame(StreamID, FrameType, FrameFlags)
        /// A header block begins.
        case headers(StreamID)
        case field(StreamID, Field)
        case content(StreamID, [UInt8])
        case closed(StreamID, HTTP2ErrorCode)
        /// A frame was refused, with nghttp2's error code.
        case invalid(StreamID, Int)
    }

    private let peer: OpaquePointer?

    init(_ role: HTTP2Role) { unsafe peer = nghttp2_peer_create(role == .server) }

    deinit { unsafe nghttp2_peer_destroy(peer) }

    // MARK: octets

    /// Receives octets, all of them unless it throws.
    func receive(_ octets: [UInt8]) throws(NGHTTP2Failure) {
        let count = unsafe nghttp2_peer_receive(peer, octets, octets.count)
        guard count == octets.count else { throw NGHTTP2Failure(min(count, 0)) }
    }

    /// Returns the octets to be sent now.
    func takeOutput() throws(NGHTTP2Failure) -> [UInt8] {
        let output = unsafe nghttp2_peer_send(peer)
        let count = unsafe output.count
        guard unsafe output.start != nil || count == 0 else { throw NGHTTP2Failure(-count) }
        return unsafe output.copied
    }

    func takeRecords() -> [Record] {
        var rest = unsafe nghttp2_peer_records(peer).copied[...]
        var records: [Record] = []
        while rest.count >= 13 {
            let kind = rest[rest.startIndex]
            let stream = StreamID(UInt32(PackedFields.number(rest.dropFirst(1).prefix(4))))
            let number = PackedFields.number(rest.dropFirst(5).prefix(4))
            let count = PackedFields.number(rest.dropFirst(9).prefix(4))
            let octets = Array(rest.dropFirst(13).prefix(count))
            rest = rest.dropFirst(13 + count)
            switch Int(kind) {
            case NGHTTP2_PEER_FRAME:
                let (type, flags) = (UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF))
                records.append(
                    .frame(stream, FrameType(rawValue: type), FrameFlags(rawValue: flags)))
            case NGHTTP2_PEER_FIELD:
                records += PackedFields.fields(octets).map { .field(stream, $0) }
            case NGHTTP2_PEER_CONTENT: records.append(.content(stream, octets))
            case NGHTTP2_PEER_CLOSED:
                records.append(.closed(stream, HTTP2ErrorCode(rawValue: UInt32(number))))
            case NGHTTP2_PEER_HEADERS: records.append(.headers(stream))
            default: records.append(.invalid(stream, -number))
            }
        }
        return records
    }

    // MARK: what it is told to do

    func set(_ settings: [(Setting.Identifier, UInt32)]) throws(NGHTTP2Failure) {
        let pairs = settings.flatMap { [UInt32($0.0.rawValue), $0.1] }
        try NGHTTP2Failure.check(unsafe nghttp2_peer_settings(peer, pairs, pairs.count))
    }

    func open(_ fields: [Field], endsStream: Bool) throws(NGHTTP2Failure) -> StreamID {
        let packed = PackedFields.packed(fields)
        let stream = unsafe nghttp2_peer_request(peer, packed, packed.count, endsStream)
        guard stream > 0 else { throw NGHTTP2Failure(stream) }
        return StreamID(UInt32(stream))
    }

    func respond(_ stream: StreamID, _ fields: [Field], endsStream: Bool) throws(NGHTTP2Failure) {
        let packed = PackedFields.packed(fields)
        try NGHTTP2Failure.check(
            unsafe nghttp2_peer_respond(peer, stream.signed, packed, packed.count, endsStream))
    }

    func sendInterim(_ stream: StreamID, _ fields: [Field]) throws(NGHTTP2Failure) {
        let packed = PackedFields.packed(fields)
        try NGHTTP2Failure.check(unsafe nghttp2_peer_interim(peer, stream.signed, packed, packed.count))
    }

    func send(_ stream: StreamID, _ content: [UInt8], endsStream: Bool) throws(NGHTTP2Failure) {
        try NGHTTP2Failure.check(
            unsafe nghttp2_peer_content(peer, stream.signed, content, content.count, endsStream))
    }

    func sendTrailers(_ stream: StreamID, _ fields: [Field]) throws(NGHTTP2Failure) {
        let packed = PackedFields.packed(fields)
        try NGHTTP2Failure.check(unsafe nghttp2_peer_trailers(peer, stream.signed, packed, packed.count))
    }

    func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) throws(NGHTTP2Failure) {
        try NGHTTP2Failure.check(unsafe nghttp2_peer_reset(peer, stream.signed, code.rawValue))
    }

    func ping() throws(NGHTTP2Failure) { try NGHTTP2Failure.check(unsafe nghttp2_peer_ping(peer)) }

    func setWindow(of stream: StreamID, to size: Int) throws(NGHTTP2Failure) {
        try NGHTTP2Failure.check(unsafe nghttp2_peer_window(peer, stream.signed, Int32(size)))
    }

    /// Sends the first of a server's two GOAWAY frames.
    func announceShutdown() throws(NGHTTP2Failure) {
        try NGHTTP2Failure.check(unsafe nghttp2_peer_announce_leave(peer))
    }

    func leave() throws(NGHTTP2Failure) { try NGHTTP2Failure.check(unsafe nghttp2_peer_leave(peer)) }

    func consume(_ count: Int, on stream: StreamID) throws(NGHTTP2Failure) {
        try NGHTTP2Failure.check(unsafe nghttp2_peer_consume(peer, stream.signed, count))
    }

    // MARK: what is known

    var isOver: Bool { unsafe nghttp2_peer_is_over(peer) }
    var sendRoom: Int { Int(unsafe nghttp2_peer_send_room(peer)) }
    /// The number of octets received that no WINDOW_UPDATE has returned yet.
    var takenOctets: Int { Int(unsafe nghttp2_peer_taken(peer)) }
    var windowSize: Int { Int(unsafe nghttp2_peer_window_size(peer)) }
    var headerTableSizes: (encoder: Int, decoder: Int) {
        (unsafe nghttp2_peer_encoder_table(peer), unsafe nghttp2_peer_decoder_table(peer))
    }
}

extension StreamID {
    fileprivate var signed: Int32 { Int32(bitPattern: rawValue) }
}
