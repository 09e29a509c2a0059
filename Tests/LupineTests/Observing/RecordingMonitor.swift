// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// A monitor that records the events of a plain request, and checks that each is received on its queue. The names of the events
/// are those of `EventRecorder`.
final class RecordingMonitor: EventMonitor {
    /// The prefix of each record, which distinguishes monitors that share a log.
    let name: String
    let queue: DispatchQueue
    let heard: ValueLog<String>
    /// Called for each event, on the monitor's queue.
    private let onEvent: @Sendable (String, Request?) -> Void

    init(
        _ name: String = "", queue: DispatchQueue = DispatchQueue(label: "recording"),
        heard: ValueLog<String> = ValueLog(),
        onEvent: @escaping @Sendable (String, Request?) -> Void = { _, _ in }
    ) {
        self.name = name
        self.queue = queue
        self.heard = heard
        self.onEvent = onEvent
    }

    private func record(_ event: String, _ request: Request? = nil) {
        dispatchPrecondition(condition: .onQueue(queue))
        onEvent(event, request)
        heard.add(name + event)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        record("s7")
    }
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        record("s8 \(task.taskDescription ?? "")")
    }
    func requestDidResume(_ request: Request) { record("r1", request) }
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        record("r2", request)
    }
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) { record("r6", request) }
    func request(_ request: Request, didCreateTask task: URLSessionTask) { record("r7", request) }
    func request(_ request: Request, didResumeTask task: URLSessionTask) { record("r8", request) }
    func requestDidCancel(_ request: Request) { record("r11", request) }
    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
        record("r13", request)
    }
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        record("r15", request)
    }
    func requestDidFinish(_ request: Request) { record("r17", request) }
    func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {
        record("d3", request)
    }
}
