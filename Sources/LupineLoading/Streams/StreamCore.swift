// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The implementation of a stream task. It queues the operations that the program requests on any thread. Once the task has
/// started, it passes them in order to a `StreamDriver`, on the driver's loop.
///
/// Every handler is called exactly once, on the delegate queue.
final class StreamCore: Sendable {
    typealias Operation = StreamDriver.Operation
    /// Appends a job to the delegate queue.
    typealias Poster = @Sendable (@escaping @Sendable () -> Void) -> Void

    private enum Phase: Sendable {
        /// The task has not started.
        case unstarted
        /// The driver performs the operations, on this loop.
        case open(EventLoop, LoopBound<StreamDriver>)
        /// The stream has ended.
        case ended(Ending)
    }

    /// What later operations report after the end of the stream.
    private struct Ending: Sendable {
        let error: any Error
        /// Whether all of the peer's data was read: reads then report the end instead of the error.
        let isReadToEnd: Bool
    }

    private struct State: Sendable {
        /// Appends a job to the delegate queue; nil until `setPoster` is called.
        var post: Poster?
        var phase = Phase.unstarted
        /// The operations that were not passed to the driver yet.
        var operations = Queue<Operation>()
        /// Whether a job on the loop will pass the queued operations to the driver.
        var isJobScheduled = false
    }

    private let state = Lock(State())

    /// Sets the closure that appends jobs to the delegate queue. Must be called before any other method.
    func setPoster(_ post: @escaping Poster) { state.withLock { $0.post = post } }

    /// Runs a job on the delegate queue.
    func post(_ job: @escaping @Sendable () -> Void) { state.withLock { $0.post }?(job) }

    /// Queues an operation for the driver. If the stream has ended, calls the operation's handler instead.
    func submit(_ operation: Operation) {
        let ending = state.withLock { state -> Ending? in
            if case .ended(let ending) = state.phase { return ending }
            state.operations.append(operation)
            return nil
        }
        if let ending { complete(operation, after: ending) } else { scheduleJob() }
    }

    /// Passes the queued operations, and all later ones, to this driver. Does nothing if the stream has ended.
    func begin(_ driver: LoopBound<StreamDriver>, on loop: EventLoop) {
        state.withLock { state in
            if case .unstarted = state.phase { state.phase = .open(loop, driver) }
        }
        scheduleJob()
    }

    /// Ends the stream: queued and later operations fail with this error, or report the end of the data. Only the first call has
    /// an effect.
    func end(_ error: any Error, isReadToEnd: Bool = false) {
        let ending = Ending(error: error, isReadToEnd: isReadToEnd)
        let operations = state.withLock { state -> [Operation] in
            if case .ended = state.phase { return [] }
            state.phase = .ended(ending)
            return state.operations.takeAll()
        }
        for operation in operations { complete(operation, after: ending) }
    }

    /// Calls the handler of an operation that the driver does not get, because the stream has ended.
    private func complete(_ operation: Operation, after ending: Ending) {
        switch operation {
        case .read(_, _, _, let handler):
            // The arguments are the data, whether the peer's data has ended, and the error.
            if ending.isReadToEnd { return post { handler(nil, true, nil) } }
            post { handler(nil, false, ending.error) }
        case .write(_, _, let handler): post { handler(ending.error) }
        case .barrier: break
        }
    }

    /// Schedules `performOperations` on the driver's loop, unless it is scheduled or no operation is queued.
    private func scheduleJob() {
        let target = state.withLock { state -> (EventLoop, LoopBound<StreamDriver>)? in
            guard case .open(let loop, let driver) = state.phase else { return nil }
            if state.isJobScheduled || state.operations.isEmpty { return nil }
            state.isJobScheduled = true
            return (loop, driver)
        }
        guard let (loop, driver) = target else { return }
        if loop.execute({ self.performOperations(driver.value, on: loop) }) { return }
        // The loop has shut down, so the driver has ended too.
        end(URLError(.shutDown, url: nil))
    }

    /// Passes the queued operations to the driver, on its loop. Lets the loop's other connections run in between.
    private func performOperations(_ driver: StreamDriver, on loop: EventLoop) {
        loop.repeatAcrossTurns { [self] in
            guard let operation = nextOperation() else { return false }
            driver.enqueue(operation)
            return true
        }
    }

    /// Removes and returns the next queued operation. If there is none, marks the job as done and returns nil.
    private func nextOperation() -> Operation? {
        state.withLock { state in
            let operation = state.operations.popFirst()
            if operation == nil { state.isJobScheduled = false }
            return operation
        }
    }
}

extension StreamFault {
    /// The error that the program gets for the fault, without the details that only the task knows.
    var error: any Error {
        switch self {
        case .timedOut:
            URLError.loading(
                .timedOut, url: nil, reason: "the stream did nothing for as long as the call may take")
        case .closed:
            URLError.loading(.networkConnectionLost, url: nil, reason: "this half of the stream is closed")
        case .readOnly:
            URLError.loading(
                .networkConnectionLost, url: nil, reason: "the request is over: only its answer can be read")
        case .cannotSecure:
            URLError.loading(
                .secureConnectionFailed, url: nil, reason: "TLS needs both halves of the connection")
        case .connectionFailed(let error): URLError(error, url: nil)
        case .taskEnded(let ending): ending.error
        }
    }
}
