// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// A stream's content as an `InputStream`.
@Suite struct InputStreamSnippets {
    /// The guide's declaration, called with its default argument and with another one.
    @Test func aStreamHasABufferSize() async throws {
        try await HTTPBin.serve { httpbin in
            let make: (DataStreamRequest) -> [InputStream?] = { request in
                [request.asInputStream(), request.asInputStream(bufferSize: 16)]
            }
            let request = AF.streamRequest("\(httpbin)/range/100")
            let streams = make(request)
            // The second call ends the first stream; together they contain all of the content.
            #expect(await read(streams).count == 100)
        }
    }

    @Test func aStreamIsRead() async throws {
        try await HTTPBin.serve { httpbin in
            let seen = Seen<Data>()
            // Keeps content from arriving before the stream exists, even if this thread is delayed: a stream contains only what
            // arrives after its creation.
            AF.rootQueue.suspend()
            let inputStream = AF.streamRequest("\(httpbin)/range/26")
                .responseStream { output in
                    if case .stream(.success(let data)) = output.event { seen.note(data) }
                }
                .asInputStream()
            AF.rootQueue.resume()
            #expect(await read([inputStream]) == Array("abcdefghijklmnopqrstuvwxyz".utf8))
        }
    }

    /// Passes streams to the thread that reads them.
    private struct Carried: @unchecked Sendable {
        let streams: [InputStream?]
    }

    /// Returns the concatenated content of the streams, read on a thread that may block.
    private func read(_ streams: [InputStream?]) async -> [UInt8] {
        let carried = Carried(streams: streams)
        return await handed { hand in
            DispatchQueue(label: "org.example.reader").async {
                var all: [UInt8] = []
                for stream in carried.streams {
                    var buffer = [UInt8](repeating: 0, count: 64)
                    stream?.open()
                    while let count = stream?.read(&buffer, maxLength: buffer.count), count > 0 {
                        all += buffer.prefix(count)
                    }
                    stream?.close()
                }
                hand(all)
            }
        }
    }
}
