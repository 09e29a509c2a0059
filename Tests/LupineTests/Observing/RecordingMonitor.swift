// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// A monitor that records the events of a plain request, and the queue on which each is received.
final class RecordingMonitor: EventMonitor {
    /// The name in each record, to tell several monitors apart.
    let name: String
    let queue: DispatchQueue
    let heard: ValueLog<String>
    /// Called for each event, on the monitor's queue.
    private let onEvent: @Sendable (String, Request?) -> Void

    init(
        _ name: String = "", queue: DispatchQueue = DispatchQueue(label: "recording"),
        heard: ValueLog<String> = ValueLog(), onEvent: @escaping @Sendable (String, Request?) -> Void = { _, _ in }
    ) {
        self.name = name
        self.queue = queue
        self.heard = heard
        self.onEvent = onEvent
    }

    private func note(_ event: String, _ request: Request? = nil) {
        dispatchPrecondition(condition: .onQueue(queue))
        onEvent(event, request)
        heard.add(name + event)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("s7")
    }
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        note("s8 \(task.taskDescription ?? "")")
    }
    func requestDidResume(_ request: Request) { note("r1", request) }
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        note("r2", request)
    }
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) { note("r6", request) }
    func request(_ request: Request, didCreateTask task: URLSessionTask) { note("r7", request) }
    func request(_ request: Request, didResumeTask task: URLSessionTask) { note("r8", request) }
    func requestDidCancel(_ request: Request) { note("r11", request) }
    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) { note("r13", request) }
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        note("r15", request)
    }
    func requestDidFinish(_ request: Request) { note("r17", request) }
    func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {
        note("d3", request)
    }
}
