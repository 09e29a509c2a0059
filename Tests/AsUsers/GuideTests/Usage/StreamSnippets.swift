// SPDX-License-Identifier: MIT

// The patterns are the guide's.
// swift-format-ignore-file: UseLetInEveryBoundCaseVariable

import Dispatch
import Foundation
import Lupine
import Testing

/// Streams of content, and the four ways to cancel them.
@Suite struct StreamSnippets {
    struct SomeType: Decodable, Sendable { let id: Int }
    struct SomeError: Error {}

    /// A stream has an event and a token; an event is a result or the completion; the completion has four parts.
    @Test func aStreamHasItsParts() async throws {
        try await HTTPBin.serve { httpbin in
            let (events, event) = AsyncStream.makeStream(of: DataStreamRequest.Stream<Data, Never>.self)
            AF.streamRequest("\(httpbin)/bytes/4").responseStream { stream in
                event.yield(stream)
                if case .complete = stream.event { event.finish() }
            }
            var count = 0
            for await stream in events {
                let _: DataStreamRequest.CancellationToken = stream.token
                let latest: DataStreamRequest.Event<Data, Never> = stream.event
                switch latest {
                case let .stream(result):
                    let data: Result<Data, Never> = result
                    count += data.get().count
                case let .complete(completion):
                    let request: URLRequest? = completion.request
                    let response: HTTPURLResponse? = completion.response
                    let metrics: URLSessionTaskMetrics? = completion.metrics
                    let error: AFError? = completion.error
                    #expect(request?.url?.absoluteString == "\(httpbin)/bytes/4")
                    #expect(response?.statusCode == 200)
                    #expect(metrics != nil)
                    #expect(error == nil)
                }
            }
            #expect(count == 4)
        }
    }

    @Test func aStreamHasAQueue() async throws {
        try await HTTPBin.serve { httpbin in
            let queue = DispatchQueue(label: "org.example.streams")
            let error: AFError? = await handed { hand in
                let stream: DataStreamRequest.Handler<Data, Never> = { stream in
                    dispatchPrecondition(condition: .onQueue(queue))
                    if case let .complete(completion) = stream.event { hand(completion.error) }
                }
                AF.streamRequest("\(httpbin)/bytes/4").responseStream(on: queue, stream: stream)
            }
            #expect(error == nil)
        }
    }

    @Test func dataIsStreamed() async throws {
        try await HTTPBin.serve { httpbin in
            let (pieces, piece) = AsyncStream.makeStream(of: Data.self)
            AF.streamRequest("\(httpbin)/bytes/100000").responseStream { stream in
                switch stream.event {
                case let .stream(result):
                    switch result {
                    case let .success(data):
                        print(data)
                        piece.yield(data)
                    }
                case let .complete(completion):
                    print(completion)
                    piece.finish()
                }
            }
            var count = 0
            for await data in pieces { count += data.count }
            #expect(count == 100_000)
        }
    }

    @Test func textHasAQueue() async throws {
        try await HTTPBin.serve { httpbin in
            let queue = DispatchQueue(label: "org.example.streams")
            let error: AFError? = await handed { hand in
                let stream: DataStreamRequest.Handler<String, Never> = { stream in
                    dispatchPrecondition(condition: .onQueue(queue))
                    if case let .complete(completion) = stream.event { hand(completion.error) }
                }
                AF.streamRequest("\(httpbin)/encoding/utf8").responseStreamString(on: queue, stream: stream)
            }
            #expect(error == nil)
        }
    }

    @Test func textIsStreamed() async throws {
        try await HTTPBin.serve { httpbin in
            let (pieces, piece) = AsyncStream.makeStream(of: String.self)
            AF.streamRequest("\(httpbin)/robots.txt").responseStreamString { stream in
                switch stream.event {
                case let .stream(result):
                    switch result {
                    case let .success(string):
                        print(string)
                        piece.yield(string)
                    }
                case let .complete(completion):
                    print(completion)
                    piece.finish()
                }
            }
            var text = ""
            for await string in pieces { text += string }
            #expect(text == "User-agent: *\nDisallow: /deny\n")
        }
    }

    @Test func decodingHasOptions() async throws {
        try await HTTPBin.serve { httpbin in
            let queue = DispatchQueue(label: "org.example.streams")
            let ids: [Int] = await handed { hand in
                let seen = Seen<Int>()
                AF.streamRequest("\(httpbin)/stream/1").responseStreamDecodable(
                    of: SomeType.self,
                    on: queue,
                    using: JSONDecoder(),
                    preprocessor: PassthroughPreprocessor(),
                    stream: { stream in
                        switch stream.event {
                        case let .stream(result): seen.note(try result.get().id)
                        case .complete: hand(seen.all)
                        }
                    })
            }
            #expect(ids == [0])
        }
    }

    @Test func valuesAreStreamed() async throws {
        try await HTTPBin.serve { httpbin in
            for (path, expected) in [
                ("stream/1", ["0", "complete"]), ("robots.txt", ["failed", "complete"]),
            ] {
                let (seen, note) = AsyncStream.makeStream(of: String.self)
                AF.streamRequest("\(httpbin)/\(path)").responseStreamDecodable(of: SomeType.self) { stream in
                    switch stream.event {
                    case let .stream(result):
                        switch result {
                        case let .success(value):
                            print(value)
                            note.yield("\(value.id)")
                        case let .failure(error):
                            print(error)
                            note.yield("failed")
                        }
                    case let .complete(completion):
                        print(completion)
                        // Data that cannot be decoded does not end the stream.
                        note.yield(completion.error == nil ? "complete" : "ended")
                        note.finish()
                    }
                }
                var all: [String] = []
                for await event in seen { all.append(event) }
                #expect(all == expected)
            }
        }
    }

    @Test func aStreamIsCancelledByItsRequest() async throws {
        try await HTTPBin.serve { httpbin in
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let error: AFError? = await handedLater { hand in
                let request = AF.streamRequest("\(httpbin)/infinite").responseStream { stream in
                    begin.finish()
                    if case let .complete(completion) = stream.event { hand(completion.error) }
                }
                for await _ in begun {}
                request.cancel()
            }
            #expect(error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func aStreamIsCancelledByASerializersError() async throws {
        try await HTTPBin.serve { httpbin in
            let error: AFError? = await handed { hand in
                AF.streamRequest("\(httpbin)/infinite", automaticallyCancelOnStreamError: true)
                    .responseStreamDecodable(of: SomeType.self) { stream in
                        if case let .complete(completion) = stream.event { hand(completion.error) }
                    }
            }
            #expect(error != nil)
        }
    }

    @Test func aStreamIsCancelledByAThrownError() async throws {
        try await HTTPBin.serve { httpbin in
            let error: AFError? = await handed { hand in
                AF.streamRequest("\(httpbin)/infinite").responseStream { stream in
                    if case let .complete(completion) = stream.event { return hand(completion.error) }
                    // Process stream.
                    throw SomeError()  // Cancels request.
                }
            }
            #expect(error?.underlyingError is SomeError)
        }
    }

    @Test func aStreamIsCancelledByItself() async throws {
        try await HTTPBin.serve { httpbin in
            let error: AFError? = await handed { hand in
                AF.streamRequest("\(httpbin)/infinite").responseStream { stream in
                    if case let .complete(completion) = stream.event { return hand(completion.error) }
                    // Decide to cancel request.
                    stream.cancel()
                }
            }
            #expect(error?.isExplicitlyCancelledError == true)
        }
    }
}
