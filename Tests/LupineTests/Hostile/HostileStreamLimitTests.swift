// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import Testing

@testable import Lupine

/// The limits of lines and events apply to every function that reads them, and the stream continues after the part that was too
/// long.
@Suite struct HostileStreamLimitTests {
    enum Case: CaseIterable {
        case eventLine, event, jsonLine

        /// A line or event that is too long, followed by one that is not.
        var text: String {
            let long = String(repeating: "a", count: Limit.collected)
            return switch self {
            case .eventLine: "data: \(long)\n\ndata: b\n\n"
            case .event: String(repeating: "data: \(long.prefix(99))\n", count: 11) + "\ndata: b\n\n"
            case .jsonLine: "\"\(long)\"\n\"b\"\n"
            }
        }

        var error: StreamLimitError {
            switch self {
            case .eventLine, .jsonLine: .lineTooLong(limit: Limit.collected)
            case .event: .eventTooLarge(limit: Limit.collected)
            }
        }

        /// Returns the data of one piece.
        func serialize(_ data: Data) throws -> String {
            switch self {
            case .eventLine, .event: try Self.events.serialize(data).data
            case .jsonLine: try Self.lines.serialize(data)
            }
        }

        static let events = ServerSentEventsSerializer(
            maximumLineLength: Limit.collected, maximumEventSize: Limit.collected)
        static let lines = NDJSONSerializer<String>(maximumLineLength: Limit.collected)
    }

    private func check(_ found: [Result<String, AFError>], _ limit: Case) throws {
        #expect(found.count == 2)
        let error = #expect(throws: AFError.self) { try found.first?.get() }
        #expect(error?.underlyingError as? StreamLimitError == limit.error)
        #expect(try found.last?.get() == "b")
    }

    private func handled<Serializer: DataStreamSerializer>(
        _ request: DataStreamRequest, _ serializer: Serializer,
        _ text: @escaping @Sendable (Serializer.SerializedObject) -> String
    ) async -> [Result<String, AFError>] {
        let found = ValueLog<Result<String, AFError>>()
        let _: Bool = await called { answer in
            request.responseStream(using: serializer, on: DispatchQueue(label: "handler")) { stream in
                switch stream.event {
                case .stream(let result): found.add(result.map(text))
                case .complete: answer(true)
                }
            }
        }
        return found.all
    }

    private func iterated<Serializer: DataStreamSerializer>(
        _ request: DataStreamRequest, _ serializer: Serializer,
        _ text: @escaping @Sendable (Serializer.SerializedObject) -> String
    ) async -> [Result<String, AFError>] {
        var found: [Result<String, AFError>] = []
        for await stream in request.streamTask().streamingResponses(serializedUsing: serializer) {
            if case .stream(let result) = stream.event { found.append(result.map(text)) }
        }
        return found
    }

    @Test("a line and an event of a stream", arguments: [false, true], Case.allCases)
    func streams(iterates: Bool, _ limit: Case) async throws {
        try await withPipeline { stage in
            stage.origin.route("GET", "/long") { _ throws(Refusal) in
                try OriginResponse(200, "text/plain", Array(limit.text.utf8))
            }
            let request = stage.session.streamRequest(stage.url("/long"))
            switch limit {
            case .eventLine, .event:
                try check(
                    iterates
                        ? await iterated(request, Case.events) { $0.data }
                        : await handled(request, Case.events) { $0.data }, limit)
            case .jsonLine:
                try check(
                    iterates
                        ? await iterated(request, Case.lines) { $0 }
                        : await handled(request, Case.lines) { $0 }, limit)
            }
        }
    }

    @Test("a serializer of its own", arguments: Case.allCases)
    func serializers(_ limit: Case) {
        let long =
            limit == .jsonLine ? limit.text.prefix { $0 != "\n" } : limit.text.prefix(limit.text.count - 9)
        #expect(throws: limit.error) { try limit.serialize(Data(long.utf8)) }
    }
}
