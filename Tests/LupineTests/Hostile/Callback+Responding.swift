// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// Callbacks that validate, serialize and receive a response.
extension Callback {
    private struct Serializing: ResponseSerializer {
        let hook: Hook
        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Int {
            hook.call()
            return 1
        }
        func serializeDownload(
            request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
        ) throws -> Int {
            hook.call()
            return 1
        }
    }

    private struct Preprocessing: DataPreprocessor {
        let hook: Hook
        func preprocess(_ data: Data) throws -> Data {
            hook.call()
            return data
        }
    }

    private struct Decoding: DataDecoder {
        let hook: Hook
        func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
            hook.call()
            return try JSONDecoder().decode(type, from: data)
        }
    }

    private struct Anything: Decodable, Sendable {
        init(from decoder: any Decoder) throws {}
    }

    private struct Pieces: DataStreamSerializer {
        let hook: Hook
        func serialize(_ data: Data) throws -> Int {
            hook.call()
            return data.count
        }
    }

    private struct Span: SpanningStreamSerializer {
        struct Reader: DataStreamReader {
            let hook: Hook
            mutating func read(_ data: Data) -> [Result<Int, any Error>] {
                hook.call()
                return [.success(data.count)]
            }
            mutating func finish() -> [Result<Int, any Error>] { [] }
        }
        let hook: Hook
        func makeReader() -> any DataStreamReader<Int> { Reader(hook: hook) }
        func serialize(_ data: Data) throws -> Int { data.count }
    }

    private struct Messages: WebSocketMessageSerializer {
        let hook: Hook
        func decode(_ message: URLSessionWebSocketTask.Message) throws -> Int {
            hook.call()
            return 1
        }
    }

    private static func withSerializationQueue(_ setUp: inout PipelineSetUp, _ hook: Hook) {
        setUp.serializationQueue = DispatchQueue(label: "hostile.serialization", attributes: .concurrent)
    }

    static let responding = [
        Callback("validator") { stage, hook in
            stage.get().validate { _, _, _ in
                hook.call()
                return .success(())
            }
        },
        Callback("acceptable types") { stage, hook in
            @Sendable func types() -> [String] {
                hook.call()
                return ["*/*"]
            }
            return stage.get().validate(contentType: types())
        },
        Callback("serializer") { stage, hook in
            stage.get().response(queue: stage.queue(), responseSerializer: Serializing(hook: hook)) { _ in }
        },
        Callback(
            "serializer on a queue of the program's", holds: .itself,
            prepare: withSerializationQueue
        ) { stage, hook in
            stage.get().response(queue: stage.queue(), responseSerializer: Serializing(hook: hook)) { _ in }
        },
        Callback("serializer of a download") { stage, hook in
            stage.session.download(stage.url()).response(
                queue: stage.queue(), responseSerializer: Serializing(hook: hook)
            ) { _ in }
        },
        Callback("preprocessor") { stage, hook in
            stage.get().responseData(queue: stage.queue(), dataPreprocessor: Preprocessing(hook: hook)) { _ in
            }
        },
        Callback("decoder") { stage, hook in
            stage.get().responseDecodable(
                of: Anything.self, queue: stage.queue(), decoder: Decoding(hook: hook)
            ) { _ in }
        },
        Callback("handler of a response", holds: .itself) { stage, hook in
            stage.get().response(queue: stage.queue()) { _ in hook.call() }
        },
        Callback("handler of a download", holds: .itself) { stage, hook in
            stage.session.download(stage.url()).response(queue: stage.queue()) { _ in hook.call() }
        },
        Callback("handler of a stream", holds: .itself) { stage, hook in
            stage.session.streamRequest(stage.url()).responseStream(on: stage.queue()) { _ in hook.call() }
        },
        Callback("serializer of a stream") { stage, hook in
            stage.session.streamRequest(stage.url()).responseStream(
                using: Pieces(hook: hook), on: stage.queue()
            ) { _ in }
        },
        Callback("reader of a stream") { stage, hook in
            stage.session.streamRequest(stage.url()).responseStream(
                using: Span(hook: hook), on: stage.queue()
            ) { _ in }
        },
        Callback("handler of a web socket", holds: .itself) { stage, hook in
            stage.session.webSocketRequest(to: stage.socketURL()).streamMessageEvents(on: stage.queue()) {
                _ in
                hook.call()
            }
        },
        Callback("serializer of a web socket") { stage, hook in
            let request = stage.session.webSocketRequest(to: stage.socketURL())
            request.streamSerializer(Messages(hook: hook), on: stage.queue()) { _ in }
            request.send(.string("a"), queue: stage.queue()) { _ in }
            return request
        },
        Callback("what became of a message", holds: .itself) { stage, hook in
            let request = stage.session.webSocketRequest(to: stage.socketURL())
            request.send(.string("a"), queue: stage.queue()) { _ in hook.call() }
            return request
        },
        Callback("what became of a ping", holds: .itself) { stage, hook in
            let request = stage.session.webSocketRequest(to: stage.socketURL())
            request.sendPing(respondingOn: stage.queue()) { _ in hook.call() }
            return request
        },
    ]
}
