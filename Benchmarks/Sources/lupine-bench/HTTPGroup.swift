// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import CBenchmarkPeers

/// The HTTP/1.1 codec compared with llhttp and plain C.
enum HTTPGroup {
    static var group: BenchmarkGroup {
        BenchmarkGroup("http", "the HTTP/1.1 codec against llhttp and plain C loops") {
            [
                head("head-nginx", ResponseHeads.nginx, fields: 8),
                head("head-network", ResponseHeads.network, fields: 24),
                try chunked("chunked-4k", size: 4096, count: 16),
                try chunked("chunked-64", size: 64, count: 256),
                try find(),
                try encode(),
            ]
        }
    }

    private static func head(_ name: String, _ bytes: [UInt8], fields: Int) -> BenchmarkCase {
        BenchmarkCase(
            name, unit: "head", bytes: bytes.count,
            entries: [
                LLHTTP.heads(bytes, fields: fields, PEER_LLHTTP_REUSED),
                LLHTTP.heads(bytes, fields: fields, PEER_LLHTTP_FRESH, named: "fresh"),
                LLHTTP.heads(bytes, fields: fields, PEER_LLHTTP_OWNED, named: "copied out"),
                Codec.heads(bytes),
                Codec.keptHeads(bytes, fields: fields),
                Codec.exchanges(bytes, fields: fields),
            ])
    }

    private static func chunked(_ name: String, size: Int, count: Int) throws -> BenchmarkCase {
        let bytes = ResponseHeads.chunked(size: size, count: count)
        return try BenchmarkCase(
            name, unit: "body", bytes: size * count,
            entries: [
                LLHTTP.response(bytes, body: size * count), Codec.response(bytes, body: size * count),
            ])
    }

    private static func find() throws -> BenchmarkCase {
        let wanted = ["Content-Length", "Connection", "ETag", "Date"]
        let fields = ResponseHeads.fields(of: ResponseHeads.network)
        let found = UInt64(
            wanted.map { name in fields.first { $0.name == name }?.value.utf8.count ?? 0 }.reduce(0, +))
        let memory = StaticFields(fields)
        let spans = unsafe wanted.map { unsafe memory.span($0) }
        return try BenchmarkCase(
            "find", unit: "4 names",
            entries: [
                Entry(
                    "C, strncasecmp",
                    .loop { times in
                        let sum = unsafe memory.fields.withUnsafeBufferPointer { list in
                            unsafe spans.withUnsafeBufferPointer { names in
                                unsafe peer_find_fields(
                                    list.baseAddress, list.count, names.baseAddress, names.count,
                                    UInt64(times))
                            }
                        }
                        try WrongResult.check("strncasecmp", sum, each: found, times: times)
                    }),
                Codec.find(in: ResponseHeads.network, wanted, found: found, fromStrings: false),
                Codec.find(in: ResponseHeads.network, wanted, found: found, fromStrings: true),
            ])
    }

    private static func encode() throws -> BenchmarkCase {
        let request = SampleRequest()
        let memory = StaticFields(request.fields)
        let method = unsafe memory.span(request.method)
        let target = unsafe memory.span(request.target)
        let host = unsafe memory.span(request.host)
        let length = request.wire.utf8.count
        return try BenchmarkCase(
            "encode", unit: "request", bytes: length,
            entries: [
                Entry(
                    "C, memcpy",
                    .loop { times in
                        let sum = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) {
                            buffer in
                            unsafe memory.fields.withUnsafeBufferPointer { list in
                                unsafe peer_copy_request(
                                    method, target, host, list.baseAddress, list.count, buffer.baseAddress,
                                    buffer.count, UInt64(times))
                            }
                        }
                        try WrongResult.check("memcpy", sum, each: UInt64(length), times: times)
                    }),
                Entry(
                    "C, snprintf",
                    .loop { times in
                        let sum = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) {
                            buffer in
                            unsafe memory.fields.withUnsafeBufferPointer { list in
                                unsafe peer_format_request(
                                    method.start, target.start, host.start, list.baseAddress, list.count,
                                    buffer.baseAddress, buffer.count, UInt64(times))
                            }
                        }
                        try WrongResult.check("snprintf", sum, each: UInt64(length), times: times)
                    }),
                Codec.encode(request),
            ])
    }
}
