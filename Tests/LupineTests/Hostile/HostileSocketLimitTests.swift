// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The limits of WebSocket connections apply to every function that delivers messages.
@Suite struct HostileSocketLimitTests {
    enum Case: CaseIterable {
        /// A message of the maximum size.
        case fits
        /// A message of one byte more.
        case message
        /// More messages, each of them short, than are buffered.
        case gathered

        static let size = 500

        /// - Parameter ends: Whether the origin ends the connection.
        func query(ends: Bool = true) -> String {
            let end = ends ? "&close=1000" : ""
            return switch self {
            case .fits: "size=\(Self.size)\(end)"
            case .message: "size=\(Self.size + 1)\(end)"
            case .gathered: "count=\(Limit.collected)\(end)"
            }
        }
    }

    @Test("[W-14, C-45] a message, and what is gathered", arguments: LimitSocket.all, Case.allCases)
    func holds(_ socket: LimitSocket, _ limit: Case) async throws {
        for testedHTTP in TestedHTTP.allCases {
            try await withPipeline(PipelineSetUp(configure: Limit.set), over: testedHTTP) { stage in
                // Where messages are buffered, exceeding the limit ends the connection.
                let ends = !(socket.gathers && limit == .gathered)
                let request = stage.socket(
                    limit.query(ends: ends), configuration: .maximumMessageSize(Case.size), resumes: false)
                let ended = ValueLog<Bool>()
                request.underlyingQueue.async { request.onFinish { ended.add(true) } }
                let rest = socket.take(stage, request)
                request.resume()
                await ended.wait(for: 1)
                await rest()
                switch limit {
                case .fits: #expect(request.error == nil)
                case .message: #expect(isTooLong(request.error))
                case .gathered:
                    let expected = socket.gathers ? URLError.Code.dataLengthExceedsMaximum : nil
                    #expect(loadingError(in: request.error)?.code == expected)
                }
            }
        }
    }

    @Test("[U-8.6] URLSessionWebSocketTask.receive", arguments: [false, true], [Case.fits, .message])
    func receives(awaits: Bool, _ limit: Case) async throws {
        for testedHTTP in TestedHTTP.allCases {
            try await withPipeline(PipelineSetUp(configure: Limit.set), over: testedHTTP) { stage in
                let task = stage.session.session.webSocketTask(
                    with: try stage.socketURL(limit.query()).asURL())
                task.maximumMessageSize = Case.size
                task.resume()
                var failure: (any Error)?
                if awaits {
                    do { _ = try await task.receive() } catch { failure = error }
                } else if case .failure(let error) = await called({ answer in task.receive { answer($0) } }) {
                    failure = error
                }
                #expect(isTooLong(failure) == (limit == .message))
                task.cancel()
            }
        }
    }

    private func isTooLong(_ error: (any Error)?) -> Bool {
        let error = ((error as? AFError)?.underlyingError ?? error).map { $0 as NSError }
        return error?.domain == NSPOSIXErrorDomain && error?.code == Int(EMSGSIZE)
    }
}
