// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import CBenchmarkPeers
internal import LupineHTTP2

/// Header compression compared with nghttp2: heads of ten fields on a connection whose tables are filled.
enum HPACKGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("hpack", "header blocks of HTTP/2 against nghttp2") {
            [
                decode("decode-response", HPACKHead.response), encode("encode-response", HPACKHead.response),
                decode("decode-request", HPACKHead.request), encode("encode-request", HPACKHead.request),
            ]
        }
    }

    private static func decode(_ name: String, _ head: HPACKHead) -> BenchmarkCase {
        let (first, block) = (head.block(isWarm: false), head.block(isWarm: true))
        let sum = UInt64(head.octets + 100_000 * head.fields.count)
        return BenchmarkCase(
            name, unit: "head", bytes: block.count,
            entries: [
                decodedByPeer("copied out", first, block, copies: true, sum),
                decodedByPeer("seen", first, block, copies: false, sum),
                Entry(
                    "LupineHTTP2", isOurs: true, goals: Goals(ratio: 1),
                    .loop { times in
                        var decoder = HPACKDecoder()
                        _ = try decoder.decode(first.span)
                        var total: UInt64 = 0
                        for _ in 0..<times {
                            let list = try decoder.decode(block.span)
                            total &+= UInt64(list.octets.count &+ 100_000 &* list.count)
                        }
                        try WrongResult.check("LupineHTTP2", total, each: sum, times: times)
                    }),
            ])
    }

    private static func decodedByPeer(
        _ variant: String, _ first: [UInt8], _ block: [UInt8], copies: Bool, _ sum: UInt64
    ) -> Entry {
        let name = "\(peer) (\(variant))"
        return Entry(
            name,
            .loop { times in
                var room = [UInt8](repeating: 0, count: 8_192)
                let total = unsafe room.withUnsafeMutableBufferPointer { room in
                    unsafe peer_nghttp2_decode(
                        first, first.count, block, block.count, copies ? room.baseAddress : nil, room.count,
                        UInt64(times))
                }
                try WrongResult.check(name, total, each: sum, times: times)
            })
    }

    private static func encode(_ name: String, _ head: HPACKHead) -> BenchmarkCase {
        let memory = StaticFields(head.fields)
        let length = UInt64(head.block(isWarm: true).count)
        return BenchmarkCase(
            name, unit: "head", bytes: Int(length),
            entries: [
                Entry(
                    peer,
                    .loop { times in
                        var room = [UInt8](repeating: 0, count: 8_192)
                        let total = unsafe memory.fields.withUnsafeBufferPointer { fields in
                            unsafe room.withUnsafeMutableBufferPointer { room in
                                unsafe peer_nghttp2_encode(
                                    fields.baseAddress, fields.count, head.notIndexed, room.baseAddress,
                                    room.count, UInt64(times))
                            }
                        }
                        try WrongResult.check(peer, total, each: length, times: times)
                    }),
                Entry(
                    "LupineHTTP2", isOurs: true, goals: Goals(ratio: 1, allocations: 0),
                    .loop { times in
                        let list = head.list
                        var encoder = HPACKEncoder()
                        var output: [UInt8] = []
                        encoder.encode(list, into: &output)
                        var total: UInt64 = 0
                        for _ in 0..<times {
                            output.removeAll(keepingCapacity: true)
                            encoder.encode(list, into: &output)
                            total &+= UInt64(output.count)
                        }
                        try WrongResult.check("LupineHTTP2", total, each: length, times: times)
                    }),
            ])
    }

    private static var peer: String {
        "nghttp2" + (unsafe peer_nghttp2_version().map { unsafe " " + String(cString: $0) } ?? "")
    }
}

/// A head for both codecs. Fields whose values differ from message to message are not indexed.
struct HPACKHead {
    let fields: [(name: String, value: String)]
    private let notIndexedNames: Set<String>

    /// A bit mask: bit n is set if field n is not indexed.
    var notIndexed: UInt64 {
        fields.indices.reduce(0) { notIndexedNames.contains(fields[$1].name) ? $0 | 1 << UInt64($1) : $0 }
    }

    /// The octets of all names and values.
    var octets: Int { fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } }

    var list: HeaderList {
        var list = HeaderList()
        for (name, value) in fields {
            list.append(name, value, indexing: notIndexedNames.contains(name) ? .never : .incremental)
        }
        return list
    }

    /// Returns the block that nghttp2 makes of the head, as the first on a connection or as a later one.
    func block(isWarm: Bool) -> [UInt8] {
        let memory = StaticFields(fields)
        var room = [UInt8](repeating: 0, count: 8_192)
        let count = unsafe memory.fields.withUnsafeBufferPointer { fields in
            unsafe room.withUnsafeMutableBufferPointer { room in
                unsafe peer_nghttp2_block(
                    fields.baseAddress, fields.count, notIndexed, isWarm, room.baseAddress, room.count)
            }
        }
        return Array(room.prefix(count))
    }

    static let response = HPACKHead(
        fields: [
            (":status", "200"), ("content-length", "18290"), ("server", "nginx"),
            ("date", "Mon, 21 Oct 2013 20:13:21 GMT"), ("content-type", "application/json; charset=utf-8"),
            ("last-modified", "Sun, 20 Oct 2013 08:01:55 GMT"), ("etag", "\"5263c1a3-4772\""),
            ("cache-control", "private, max-age=60"), ("vary", "accept-encoding"),
            ("x-request-id", "7f2a9c04-1d3b-4e5f-8a6b-9c0d1e2f3a4b"),
        ], notIndexedNames: ["content-length", "last-modified", "etag", "x-request-id"])

    static let request = HPACKHead(
        fields: [
            (":method", "GET"), (":scheme", "https"), (":authority", "api.example.com"),
            (":path", "/v1/accounts/4711/transactions?page=3&size=50"), ("accept", "application/json"),
            ("accept-encoding", "br, gzip, deflate"), ("accept-language", "en-GB, en;q=0.8, de;q=0.6"),
            ("user-agent", "Example/4.2.0 Lupine/1.0"), ("x-client-version", "4.2.0 (3117)"),
            ("authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0NzExIn0.c2lnbmF0dXJl"),
        ], notIndexedNames: [":path", "authorization"])
}
