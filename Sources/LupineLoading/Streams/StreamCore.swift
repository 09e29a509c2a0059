// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// What a stream task does behind its face: takes orders from any thread, in order, to the loop on which its conversation
/// lives, and keeps them until there is one.
///
/// Every handler is called exactly once, on the delegate queue.
final class StreamCore: Sendable {
    typealias Order = StreamConversation.Order
    typealias Poster = @Sendable (@escaping @Sendable () -> Void) -> Void

    private enum Place: Sendable {
        /// The task has not been started.
        case nowhere
        case on(EventLoop, LoopBound<StreamConversation>)
        /// The stream has ended.
        case over(Ending)
    }

    /// What is answered to what is asked for behind the end.
    private struct Ending: Sendable {
        let error: any Error
        /// Everything was read: reading tells that, and nothing else.
        let isReadToEnd: Bool
    }

    private struct State: Sendable {
        var post: Poster?
        var place = Place.nowhere
        var orders = Queue<Order>()
        var hasTurn = false
    }

    private let state = Lock(State())

    /// Before anything else: how something is run on the delegate queue, behind what was posted before.
    func attach(_ post: @escaping Poster) { state.withLock { $0.post = post } }

    /// Runs it on the delegate queue.
    func post(_ job: @escaping @Sendable () -> Void) { state.withLock { $0.post }?(job) }

    /// Asks for something.
    func submit(_ order: Order) {
        let ending = state.withLock { state -> Ending? in
            if case .over(let ending) = state.place { return ending }
            state.orders.append(order)
            return nil
        }
        if let ending { refuse(order, ending) } else { turn() }
    }

    /// What was asked for, and what will be, is that conversation's to carry out.
    func begin(_ conversation: LoopBound<StreamConversation>, on loop: EventLoop) {
        state.withLock { state in
            if case .nowhere = state.place { state.place = .on(loop, conversation) }
        }
        turn()
    }

    /// It is over: what waits, and what comes later, has this answer. Only the first end counts.
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
        let place = state.withLock { state -> (EventLoop, LoopBound<StreamConversation>)? in
            guard case .on(let loop, let conversation) = state.place, !state.hasTurn, !state.orders.isEmpty
            else { return nil }
            state.hasTurn = true
            return (loop, conversation)
        }
        guard let (loop, conversation) = place else { return }
        if loop.execute({ self.work(conversation.value, on: loop) }) { return }
        // The loop is gone, and the conversation with it.
        end(URLError(.shutDown, url: nil))
    }

    private func work(_ conversation: StreamConversation, on loop: EventLoop) {
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
    /// What the program is told, where nothing more is known.
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
