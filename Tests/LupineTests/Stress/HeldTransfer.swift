// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineOrigin

@testable import Lupine
@testable import LupineLoading

/// A transfer of long content with a consumer that a model holds and releases, suspends and cancels.
///
/// The consumer checks each piece of the content, that nothing comes after the end, and that it is not called on an event loop.
/// The model calls `checkBounds` at any time, and `checkEnd` after the end. One worker of the model calls the methods; the
/// consumer runs on a queue or task of its own.
final class HeldTransfer: Sendable {
    /// The kind of consumer.
    enum Kind: CaseIterable {
        /// A stream handler, which blocks its queue.
        case stream
        /// A stream handler with a serializer, which blocks its queue.
        case serializedStream
        /// An iteration over `streamingData`, which pauses.
        case sequence
        /// The reader of `URLSession.bytes(for:)`, which pauses.
        case bytes
        /// A delegate of a `URLSession`, which blocks its queue.
        case delegate
        /// An `onHTTPResponse` handler, which does not answer.
        case answer
        /// A download, which can only be suspended.
        case download
    }

    /// A wait of the consumer: it opens `arrived` when it has come to it, and waits for `released`.
    private final class Hold: Sendable {
        let arrived = Gate()
        let released = Gate()
        let hasArrived = Protected(false)
    }

    /// The request or the task of the transfer.
    private enum Load {
        case request(Request)
        case task(URLSessionTask)

        var received: Int {
            switch self {
            case .request(let request): Int(request.task?.countOfBytesReceived ?? 0)
            case .task(let task): Int(task.countOfBytesReceived)
            }
        }
    }

    private struct State {
        var load: Load?
        /// The number of octets that were handed over to the consumer.
        var taken = 0
        var hold: Hold?
        var isSuspended = false
        /// The number of received octets after the suspension took effect; nil before that.
        var receivedBySuspension: Int?
        var isCancelled = false
        var ends = 0
        var error: (any Error)?
    }

    let kind: Kind
    let content: LongContents.Content
    private let stage: BackPressureStage
    private let ended = Gate()
    private let state = Protected(State())

    private init(_ kind: Kind, _ content: LongContents.Content, _ stage: BackPressureStage) {
        self.kind = kind
        self.content = content
        self.stage = stage
    }

    // MARK: the start

    /// Starts a transfer. Returns when the origin has received its request.
    static func start(
        _ kind: Kind, _ content: LongContents.Content, isHeld: Bool, _ stage: BackPressureStage
    ) async -> HeldTransfer {
        let transfer = HeldTransfer(kind, content, stage)
        stage.faults.handlers.write { $0.added += 1 }
        if isHeld || kind == .answer { transfer.state.write { $0.hold = Hold() } }
        await transfer.begin(stage.url(content.path))
        await content.asked.wait()
        return transfer
    }

    private func begin(_ url: URL) async {
        let session = stage.session
        let queue = DispatchQueue(label: "consumer")
        switch kind {
        case .stream:
            let request = session.streamRequest(url)
            state.write { $0.load = .request(request) }
            request.responseStream(on: queue) { self.receive($0) }
        case .serializedStream:
            let request = session.streamRequest(url)
            state.write { $0.load = .request(request) }
            request.responseStream(using: PassthroughStreamSerializer(), on: queue) { self.receive($0) }
        case .sequence:
            let request = session.streamRequest(url, shouldAutomaticallyResume: false)
            state.write { $0.load = .request(request) }
            Task {
                var iterator = request.streamTask().streamingData().makeAsyncIterator()
                // Content that comes before the iteration would be buffered (C-45).
                request.resume()
                while let event = await iterator.next() { await self.receive(event) }
            }
        case .bytes: await beginBytes(url)
        case .delegate:
            let session = URLSession(
                configuration: stage.configuration, delegate: TransferDelegate(self), delegateQueue: nil)
            let task = session.dataTask(with: url)
            state.write { $0.load = .task(task) }
            task.resume()
            session.finishTasksAndInvalidate()
        case .answer:
            let request = session.request(url)
            state.write { $0.load = .request(request) }
            request.onHTTPResponse(on: queue) { _, answer in
                self.stage.faults.checkThread("onHTTPResponse")
                self.arrive { answer(.allow) }
            }
            request.response(queue: queue) { response in
                self.take(response.data ?? Data())
                self.end(response.error)
            }
        case .download:
            let file = stage.folder.appendingPathComponent(UUID().uuidString)
            let request = session.download(
                url,
                to: { _, _ in
                    self.stage.faults.checkThread("destination")
                    return (file, [])
                })
            state.write { $0.load = .request(request) }
            request.response(queue: queue) { response in
                if let file = response.fileURL {
                    self.take((try? Data(contentsOf: file)) ?? Data())
                    try? FileManager.default.removeItem(at: file)
                }
                self.end(response.error)
            }
        }
    }

    /// Starts to read the bytes of a task. Returns when their response has arrived.
    private func beginBytes(_ url: URL) async {
        do {
            let (bytes, _) = try await stage.session.session.bytes(from: url)
            state.write { $0.load = .task(bytes.task) }
            Task {
                do {
                    // Reads in whole pieces, as the iterator does.
                    while let piece = try await bytes.source.next() {
                        self.take(Data(piece))
                        await self.pause()
                    }
                    self.end(nil)
                } catch { self.end(error) }
            }
        } catch { end(error) }
    }

    // MARK: the consumer

    /// Receives an event of a stream on a queue, and blocks the queue while the transfer is held.
    private func receive<Failure>(_ stream: DataStreamRequest.Stream<Data, Failure>) {
        take(stream)
        block()
    }

    /// Receives an event of an iteration, and pauses while the transfer is held.
    private func receive(_ stream: DataStreamRequest.Stream<Data, Never>) async {
        take(stream)
        await pause()
    }

    private func take<Failure>(_ stream: DataStreamRequest.Stream<Data, Failure>) {
        if let data = stream.value { take(data) }
        if let error = stream.error { note("could not be serialized: \(error)") }
        if let completion = stream.completion { end(completion.error) }
    }

    fileprivate func take(_ piece: Data) {
        stage.faults.checkThread("the consumer of \(kind)")
        let (position, hasEnded) = state.write { state in
            defer { state.taken += piece.count }
            return (state.taken, state.ends > 0)
        }
        if hasEnded { note("content after the end") }
        if !stage.contents.matches(piece, at: position) { note("wrong content at \(position)") }
    }

    fileprivate func end(_ error: (any Error)?) {
        stage.faults.checkThread("the end of \(kind)")
        let (ends, hold) = state.write { state in
            state.ends += 1
            state.error = error
            return (state.ends, state.hold)
        }
        if ends > 1 { note("end number \(ends)") }
        stage.faults.handlers.write { $0.called += 1 }
        hold?.arrived.open()
        ended.open()
    }

    /// Blocks the calling thread while the transfer is held.
    fileprivate func block() {
        let released = DispatchSemaphore(value: 0)
        arrive { released.signal() }
        released.wait()
    }

    /// Waits while the transfer is held.
    private func pause() async {
        await withCheckedContinuation { continuation in arrive { continuation.resume() } }
    }

    /// Calls `proceed` when the transfer is not held, at once or later.
    private func arrive(_ proceed: @escaping @Sendable () -> Void) {
        guard let hold = state.read({ $0.hold }) else { return proceed() }
        hold.hasArrived.write { $0 = true }
        hold.arrived.open()
        // The model may have held the transfer again by then.
        hold.released.whenOpen { self.arrive(proceed) }
    }

    // MARK: the model

    /// Whether the consumer waits for its release, and has not taken all of the content.
    var isBlocked: Bool {
        state.read { state in
            state.ends == 0 && state.taken < content.count && state.hold?.hasArrived.read { $0 } ?? false
        }
    }

    var isSuspended: Bool { state.read { $0.isSuspended } }
    var isCancelled: Bool { state.read { $0.isCancelled } }

    /// Whether the model can hold the consumer again.
    var canBeHeld: Bool { kind != .answer && kind != .download }

    /// Holds the consumer. Returns when it has come to its wait, or has ended; at once if it may get no content before.
    func hold() async {
        let (hold, isWaitFinite) = state.write { state in
            let hold = state.hold ?? Hold()
            state.hold = hold
            return (hold, !state.isSuspended && !state.isCancelled && state.ends == 0)
        }
        if isWaitFinite { await hold.arrived.wait() }
    }

    func release() {
        let hold = state.write { state in
            defer { state.hold = nil }
            return state.hold
        }
        hold?.released.open()
    }

    func suspend() {
        let load = state.write { state in
            state.isSuspended = true
            return state.load
        }
        switch load {
        case .request(let request): request.suspend()
        case .task(let task): task.suspend()
        case nil: break
        }
    }

    func resume() {
        checkSuspension()
        let load = state.write { state in
            state.isSuspended = false
            state.receivedBySuspension = nil
            return state.load
        }
        switch load {
        case .request(let request): request.resume()
        case .task(let task): task.resume()
        case nil: break
        }
    }

    func cancel() {
        let load = state.write { state in
            state.isCancelled = true
            return state.load
        }
        switch load {
        case .request(let request): request.cancel()
        case .task(let task): task.cancel()
        case nil: break
        }
    }

    /// Releases and resumes the transfer, and waits for its end.
    func finish() async {
        release()
        if isSuspended { resume() }
        await ended.wait()
        // The request retains the handler of its response, which retains this transfer.
        state.write { $0.load = nil }
    }

    // MARK: checks

    private func note(_ fault: String) { stage.faults.note("\(kind) \(content.path): \(fault)") }

    /// Called after a request has been answered on the same event loop: from the first such call on, a suspended transfer
    /// receives nothing.
    func checkSuspension() {
        // The `URLSession` with a delegate has other event loops.
        guard kind != .delegate else { return }
        let (before, received) = state.write { state in
            guard state.isSuspended, !state.isCancelled else { return (0, 0) }
            let received = state.load?.received ?? 0
            defer { if state.receivedBySuspension == nil { state.receivedBySuspension = received } }
            return (state.receivedBySuspension ?? received, received)
        }
        if received != before { note("received \(before), then \(received) while it is suspended") }
    }

    /// Checks how much of the content waits for the consumer, in the client and before it.
    func checkBounds() {
        // In this order, because all three grow.
        let sent = content.sent
        let received = state.read { $0.load }?.received ?? 0
        let (taken, isHeld, isCancelled) = state.read { ($0.taken, $0.hold != nil, $0.isCancelled) }
        // A download, and a data request whose response was allowed, take their content at once.
        if isCancelled || kind == .download || kind == .answer && !isHeld { return }
        if received - taken > waitingLimit { note("\(received - taken) wait in the client after \(taken)") }
        let sentLimit = taken + waitingLimit + stage.limitBeforeClient(received: taken + waitingLimit)
        if sent > sentLimit { note("the origin has sent \(sent) when \(taken) were taken") }
    }

    /// The maximum number of octets that wait for the consumer in the client: a buffer takes pieces until it has more than
    /// `highWater`, and one piece may be on its way from the last buffer to the consumer.
    private var waitingLimit: Int {
        let piece = TaskDelivery.maxJoinedBytes
        return switch kind {
        // The buffer of the request's task, and the backlog of the request.
        case .stream, .serializedStream, .sequence:
            TaskDelivery.highWater + piece + StreamBacklog.highWater + piece + piece
        case .bytes, .delegate, .answer, .download: TaskDelivery.highWater + piece + piece
        }
    }

    /// Checks the end of the transfer.
    func checkEnd() {
        let (taken, isCancelled, error) = state.read { ($0.taken, $0.isCancelled, $0.error) }
        if content.requests != 1 { note("\(content.requests) requests") }
        if let error {
            let isCancellation =
                (error as? URLError)?.code == .cancelled
                || error.asAFError?.isExplicitlyCancelledError ?? false
            if !isCancelled || !isCancellation { note("\(error)") }
        } else if taken != content.count {
            note("took \(taken) of \(content.count)")
        }
    }
}

/// The delegate of a session of one transfer.
private final class TransferDelegate: NSObject, URLSessionDataDelegate {
    private let transfer: HeldTransfer

    init(_ transfer: HeldTransfer) { self.transfer = transfer }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer.take(data)
        transfer.block()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transfer.end(error)
    }
}
