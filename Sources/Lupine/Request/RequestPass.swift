// SPDX-License-Identifier: MIT

internal import Dispatch
internal import LupineLoading

/// The end of a request, the *pass*: all serializers run, then all handlers are called.
///
/// The methods are called in a step, except for `append`, which any thread may call.
struct RequestPass: Sendable {
    private let request: Request

    init(of request: Request) { self.request = request }

    /// Adds a serializer. This may resume the request: automatic resumption follows the first handler.
    ///
    /// - Parameters:
    ///   - needsSerializationQueue: Whether the serializer runs on the serialization queue, because it may call the program's
    ///     code or take long.
    ///   - isAwaited: Whether only Swift tasks await the response, and no handler of the program receives it.
    ///   - run: Runs the serializer, then calls `complete` in a step. `isInStep` is false on the serialization queue.
    func append(
        needsSerializationQueue: Bool, isAwaited: Bool = false,
        _ run: @escaping @Sendable (_ isInStep: Bool) -> Void
    ) {
        let action = request.mutableState.write { state in
            state.serializerChain.append(
                .init(needsSerializationQueue: needsSerializationQueue, isAwaited: isAwaited, run: run))
            return state.machine.receive(.handlerAdded)
        }
        switch action {
        case .beginLatePass: request.enqueueStepOnRoot { self.proceed() }
        case .resumeIfAutomatic:
            // The thread of an awaiting Swift task starts the request itself, if that calls no code of the program.
            if isAwaited, let session = request.delegate as? Session, request.mayStartOnAnyThread(in: session)
            {
                request.performStep(needsRoot: false) { request.control.resumeIfAutomatic(in: session) }
            } else {
                request.enqueueStepOnRoot { request.control.resumeIfAutomatic(in: request.delegate) }
            }
        default: break
        }
    }

    /// Begins the pass if the machine begins one on the event. Called in a step.
    ///
    /// - Parameters:
    ///   - event: The end of an attempt, or of the wait for one.
    ///   - error: The error of the request; nil keeps the present one.
    func begin(on event: RequestMachine.Event, error: AFError? = nil) {
        // The errors are swapped, and the discarded calls are returned. The old error and the calls are thus released outside of
        // the lock.
        var error = error
        let (beginsPass, _) = request.mutableState.write { state -> (Bool, SmallArray<Request.Job>) in
            guard state.machine.receive(event) == .beginPass else { return (false, []) }
            if error != nil { swap(&state.error, &error) }
            return (true, state.serializerChain.restart())
        }
        if beginsPass { run() }
    }

    /// Reports `requestDidFinish` and runs the pass. A request without handlers is in state `finished` before the report (E-7).
    /// With handlers, the report precedes the serializers.
    private func run() {
        request.contentDidEnd()
        // Includes handlers for which Swift tasks wait.
        let hasHandlers = request.mutableState.read { !$0.serializerChain.isEmpty }
        if !hasHandlers { proceed() }
        request.report(.didFinish, .finished(request))
        if hasHandlers { proceed() }
    }

    /// Runs the next serializer of the pass or, after the last one, calls the handlers. Called in a step.
    private func proceed() {
        let (next, mustWaitForRoot, finishedChain) = request.mutableState.write {
            state -> (next: SerializerChain.Action?, mustWaitForRoot: Bool, finishedChain: SerializerChain?)
            in
            // Handlers, and the objects that they hold, are the program's: they are called and released on the root queue.
            if state.lane.isRunningOffRoot, state.serializerChain.hasHandlers { return (nil, true, nil) }
            let next = state.serializerChain.next()
            guard case .deliver = next else {
                // In other phases, such as while a retrier decides, there is no pass to continue.
                return (state.machine.phase == .finishing ? next : nil, false, nil)
            }
            // A progress handler's call that waits on the root queue precedes the response handlers. The pass continues after it.
            if state.mayHaveProgressCallOnRoot {
                state.mayHaveProgressCallOnRoot = false
                return (nil, true, nil)
            }
            guard state.machine.receive(.serializersFinished) == .proceed else { return (nil, false, nil) }
            return (next, false, state.serializerChain.takeAll())
        }
        if mustWaitForRoot { return request.enqueueStepOnRoot { self.proceed() } }
        switch next {
        case .run(let serializer):
            // The argument says whether the serializer runs in this step.
            if serializer.needsSerializationQueue {
                request.serializationQueue.async { serializer.run(false) }
            } else {
                serializer.run(true)
            }
        case .deliver:
            if let finishedChain, finishedChain.hasHandlers {
                // The monitors receive the events of earlier steps before a handler that was added late is called.
                request.monitors?.scheduleDelivery()
                finishedChain.deliver(toHandlers: true)
            }
            // The next two calls precede the resumption of awaiting Swift tasks: by then the session has released the request
            // (O-5), the request has removed its files, and its last event is on the way to the monitors.
            request.cleanup()
            request.forwardDeferredNotifications()
            finishedChain?.deliver(toHandlers: false)
        case nil: break
        }
    }

    /// Asks the retriers, on the root queue, after a serializer has failed. Completes the serializer if they refuse. Called in a
    /// step.
    ///
    /// - Parameters:
    ///   - failure: The error of the serializer.
    ///   - deliver: Calls the handler. Its argument is the error that a retrier has substituted, or nil.
    func retryOrComplete(dueTo failure: AFError, deliver: @escaping @Sendable (AFError?) -> Void) {
        // Without a delegate the session is gone, and nobody can retry.
        guard let delegate = request.delegate else { return complete { deliver(nil) } }
        switch request.mutableState.write({ $0.machine.receive(.serializerFailed) }) {
        case .askRetrier(let number):
            RetryQuestion(of: request, number: number, refusal: .serializerRetryRefused(number)) { error in
                self.complete { deliver(error) }
            }
            .ask(delegate, about: failure)
        case .proceed: complete { deliver(nil) }
        // The pass in which the serializer has run is over or was abandoned.
        default: break
        }
    }

    /// Stores `delivery`, which calls the handler at the end of the pass, and continues the pass. Called in a step when a
    /// serializer has succeeded, or has failed and is not retried.
    func complete(delivery: @escaping @Sendable () -> Void) {
        request.mutableState.write { $0.serializerChain.addDelivery(Request.Job(run: delivery)) }
        proceed()
    }

    /// Calls `body` after a serializer has returned: at once if the serializer ran in a step (`isInStep`). Otherwise calls it in
    /// a step on the root queue, because the serializer or its value may be the program's.
    func continueAfterSerializer(isInStep: Bool, _ body: @escaping @Sendable () -> Void) {
        if isInStep { body() } else { request.enqueueStepOnRoot(body) }
    }
}

/// The serializers of a request, and the calls that deliver their values to the response handlers.
///
/// A request ends with a pass: every serializer runs once, in the order in which they were added, then all values are delivered.
/// It is a value type, which `Request` keeps under its lock.
struct SerializerChain {
    /// The next action of a pass.
    enum Action {
        /// Run this serializer.
        case run(Serializer)
        /// All serializers have run. Deliver their values.
        case deliver
    }

    /// Produces the value for one handler, or for the Swift tasks that await one response.
    struct Serializer: Sendable {
        /// Whether the serializer runs on the serialization queue, because it may call the program's code or take long.
        let needsSerializationQueue: Bool
        /// Whether only Swift tasks await the value, and no handler of the program receives it.
        let isAwaited: Bool
        /// Runs the serializer. The argument says whether it runs in a step of the request, or else on the serialization queue.
        let run: @Sendable (_ isInStep: Bool) -> Void
    }

    private var serializers = SmallArray<Serializer>()
    /// Calls that deliver the values of the serializers that have run, in the same order.
    private var deliveries = SmallArray<Request.Job>()

    /// Adds a serializer. If a pass is running, the serializer runs in that pass.
    mutating func append(_ serializer: Serializer) { serializers.append(serializer) }

    /// Whether there is no serializer.
    var isEmpty: Bool { serializers.isEmpty }

    /// Whether any value is delivered to a handler; otherwise only Swift tasks await values.
    var hasHandlers: Bool { serializers.contains { !$0.isAwaited } }

    /// Delivers values: to the handlers if `toHandlers` is true, otherwise to the Swift tasks that await them.
    func deliver(toHandlers: Bool) {
        // The delivery and the serializer with the same index belong together. With `toHandlers`, the values that a handler
        // receives are delivered; without it, those that only Swift tasks await.
        for index in 0..<deliveries.count where serializers[index]?.isAwaited != toHandlers {
            deliveries[index]?.run()
        }
    }

    /// Returns the next action of the pass. Each serializer that has run has added one delivery, so the number of deliveries is
    /// the index of the next serializer.
    func next() -> Action {
        guard let serializer = serializers[deliveries.count] else { return .deliver }
        return .run(serializer)
    }

    /// Stores the call that delivers the value of the serializer that has just run.
    mutating func addDelivery(_ delivery: Request.Job) { deliveries.append(delivery) }

    /// Lets the next pass begin with the first serializer. Returns the discarded calls: they may hold objects of the program,
    /// which must not be released under the lock.
    mutating func restart() -> SmallArray<Request.Job> { deliveries.takeAll() }

    /// Removes and returns all serializers and calls, so that the caller can release them outside of the lock.
    mutating func takeAll() -> SerializerChain {
        var all = SerializerChain()
        swap(&all, &self)
        return all
    }
}
