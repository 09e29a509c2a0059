// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The implementation of a stream task: forwards orders from any thread, in order, to the loop of its conversation, and queues
/// them until there is one.
///
/// Every handler is called exactly once, on the delegate queue.
final class StreamCore: Sendable {
    typealias Order = StreamDriver.Order
    typealias Poster = @Sendable (@escaping @Sendable () -> Void) -> Void

    private enum Place: Sendable {
        /// The task is not started.
        case nowhere
        case on(EventLoop, LoopBound<StreamDriver>)
        /// The stream has ended.
        case over(Ending)
    }

    /// The answer to orders after the end.
    private struct Ending: Sendable {
        let error: any Error
        /// Whether everything was read: reads then report the end instead of the error.
        let isReadToEnd: Bool
    }

    private struct State: Sendable {
        var post: Poster?
        var place = Place.nowhere
        var orders = Queue<Order>()
        var hasTurn = false
    }

    private let state = Lock(State())

    /// Sets how jobs are run on the delegate queue, after those posted before. Call it before anything else.
    func attach(_ post: @escaping Poster) { state.withLock { $0.post = post } }

    /// Runs a job on the delegate queue.
    func post(_ job: @escaping @Sendable () -> Void) { state.withLock { $0.post }?(job) }

    /// Submits an order.
    func submit(_ order: Order) {
        let ending = state.withLock { state -> Ending? in
            if case .over(let ending) = state.place { return ending }
            state.orders.append(order)
            return nil
        }
        if let ending { refuse(order, ending) } else { turn() }
    }

    /// Starts processing orders, those queued and later ones, in this conversation.
    func begin(_ conversation: LoopBound<StreamDriver>, on loop: EventLoop) {
        state.withLock { state in
            if case .nowhere = state.place { state.place = .on(loop, conversation) }
        }
        turn()
    }

    /// Ends the stream: queued and later orders get this answer. Only the first ending counts.
    func end(_ error: any Error, isReadToEnd: Bool = false) {
        let ending = Ending(error: error, isReadToEnd: isReadToEnd)
        let orders = state.withLock { state -> [Order] in
            if case .over = state.place { return [] }
            state.place = .over(ending)
            return state.orders.takeAll()
        }
        for order in orders { refuse(order, ending) }
    }

    private func refuse(_ order: Order, _ ending: Ending) {
        switch order {
        case .read(_, _, _, let handler):
            if ending.isReadToEnd { return post { handler(nil, true, nil) } }
            post { handler(nil, false, ending.error) }
        case .write(_, _, let handler): post { handler(ending.error) }
        case .barrier: break
        }
    }

    private func turn() {
        let place = state.withLock { state -> (EventLoop, LoopBound<StreamDriver>)? in
            guard case .on(let loop, let conversation) = state.place, !state.hasTurn, !state.orders.isEmpty
            else { return nil }
            state.hasTurn = true
            return (loop, conversation)
        }
        guard let (loop, conversation) = place else { return }
        if loop.execute({ self.work(conversation.value, on: loop) }) { return }
        // The loop has shut down, and the conversation with it.
        end(URLError(.shutDown, url: nil))
    }

    private func work(_ conversation: StreamDriver, on loop: EventLoop) {
        loop.repeatGivingWay { [self] in
            guard let order = nextOrder() else { return false }
            conversation.take(order)
            return true
        }
    }

    private func nextOrder() -> Order? {
        state.withLock { state in
            let order = state.orders.popFirst()
            if order == nil { state.hasTurn = false }
            return order
        }
    }
}

extension StreamFault {
    /// The program's error for a fault without more context.
    var error: any Error {
        switch self {
        case .timedOut:
            URLError.loading(
                .timedOut, url: nil, reason: "the stream did nothing for as long as the call may take")
        case .closed:
            URLError.loading(.networkConnectionLost, url: nil, reason: "this half of the stream is closed")
        case .onlyContent:
            URLError.loading(
                .networkConnectionLost, url: nil, reason: "the request is over: only its answer can be read")
        case .cannotSecure:
            URLError.loading(
                .secureConnectionFailed, url: nil, reason: "TLS needs both halves of the connection")
        case .lost(let error): URLError(error, url: nil)
        case .ended(let ending): ending.error
        }
    }
}
