// SPDX-License-Identifier: MIT

internal import Dispatch
internal import LupineLoading

// What happens to a request happens in steps, one at a time, in the order in which they came: see `RequestLane`. A step changes the
// request and tells its monitors; it calls no code of the program's but on the root queue.

extension Request.MutableState {
    /// Whether what an attempt is made of is handed to the program in the midst of a step.
    var handsOverWhatIsMade: Bool {
        urlRequestHandler != nil || urlSessionTaskHandler != nil || cURLHandler != nil
    }
}

extension Request {
    /// Takes a step: here and now where that may be and nobody else takes any, else in its turn.
    ///
    /// - Parameter isCalled: The program calls, and may hold a lock of its own: no code of the program's is called before this returns.
    func step(calledByProgram isCalled: Bool = false, _ run: @escaping @Sendable () -> Void) {
        take(
            mutableState.write { state in
                let order = state.lane.begin(Job(run: run), mayTakeHere: mayTake(&state, isCalled: isCalled))
                if case .take = order { state.isTakenInCall = isCalled }
                return order
            })
    }

    /// Brings a step in the moment in which it is decided. `takeSteps` follows, outside of the lock.
    static func bring(_ run: @escaping @Sendable () -> Void, to state: inout MutableState) {
        state.lane.append(Job(run: run))
    }

    /// Sees to the steps that wait: takes them, where that may be. `isCalled` is as for `step`.
    func takeSteps(calledByProgram isCalled: Bool = false) {
        take(
            mutableState.write { state in
                let order = state.lane.begin(mayTakeHere: mayTake(&state, isCalled: isCalled))
                if case .take = order { state.isTakenInCall = isCalled }
                return order
            })
    }

    /// Does the rest of a step, which calls the validators: here, or, where the program has added some code of its own since the step
    /// began, as the next step, on the root queue. `rest` gets the validators that were there when that was decided: those that are
    /// added later are not called.
    func goOnInStep(_ rest: @escaping @Sendable ([Validator]) -> Void) {
        let validators = mutableState.write { state -> [Validator]? in
            if mayTake(&state, isCalled: state.isTakenInCall) { return state.validators }
            state.lane.prepend(Job { self.goOnInStep(rest) })
            return nil
        }
        if let validators { rest(validators) }
    }

    /// Does something that belongs into a step: at once if the caller is in one.
    func inStep(_ isInStep: Bool, _ body: @escaping @Sendable () -> Void) {
        if isInStep { body() } else { step(body) }
    }

    /// Calls code of the program's: now, if this is the root queue, and not in the midst of a call of the program's.
    func onRootQueue(_ body: @escaping @Sendable () -> Void) {
        let isHere = rootMark.isCurrent && !mutableState.read { $0.isTakenInCall }
        if isHere { body() } else { underlyingQueue.async(execute: body) }
    }

    /// Whether a step may be taken by the caller, whom the program has called, or not.
    private func mayTake(_ state: inout MutableState, isCalled: Bool) -> Bool {
        state.isPlain || (!isCalled && rootMark.isCurrent)
    }

    private func take(_ order: RequestLane<Job>.Order) {
        var order = order
        while true {
            switch order {
            case .leave: return
            case .call:
                // What is left to the root queue holds up the task, as long as that is busy.
                mutableState.read { $0.wasPlain ? $0.tasks.last : nil }?.takeTurnsOnQueue()
                return underlyingQueue.async { self.takeSteps() }
            case .take(let job):
                job.run()
                order = nextStep()
            }
        }
    }

    /// The next step, when the notifications of the one before are on their way: those of whoever takes the next one come behind.
    private func nextStep() -> RequestLane<Job>.Order {
        // What goes away goes outside of the lock.
        var (notes, parting, kept): ([Note], KeptObjects?, KeptObjects?) = ([], nil, nil)
        while true {
            let order = mutableState.write { state -> RequestLane<Job>.Order? in
                if !state.notes.isEmpty {
                    swap(&notes, &state.notes)
                    return nil
                }
                let order = state.lane.next(mayTakeHere: mayTake(&state, isCalled: state.isTakenInCall))
                if case .take = order { return order }
                state.isTakenInCall = false
                // A loop that comes again later may be doing something else.
                (parting, kept) = (state.parting.take(), state.kept.take())
                return order
            }
            if let parting { underlyingQueue.async { parting.letGo() } }
            if let order { return order }
            Self.tell(&notes)
        }
    }

    // MARK: what is the program's goes away on the root queue

    /// What the program gave the request does not go away on the event loop that the caller is on, which may be the last to hold it.
    func keepFromLoop() {
        if rootMark.isCurrent { return }
        let isNeeded = mutableState.read { $0.holdsPrograms || $0.handsOverWhatIsMade || !$0.isPlain }
        guard isNeeded, let session = delegate as? Session else { return }
        let kept = session.session.keep(self)
        mutableState.write { $0.kept = kept }
    }

    /// The same for handlers and serializers that have been called, in a step: not on a loop, nor in a call of the program's.
    func part(with chain: SerializerChain) {
        if rootMark.isCurrent { return }
        let (isNeeded, kept) = mutableState.read { ($0.holdsPrograms, $0.kept) }
        if !isNeeded { return }
        if let session = delegate as? Session, session.session.keep(chain, with: kept) != nil { return }
        mutableState.write { state in
            if state.parting?.add(chain) != true { state.parting = KeptObjects(chain) }
        }
    }

    // MARK: notifications

    /// An event that notifications are posted for, and the way to whoever posts them.
    typealias Note = EventMailbox.Entry

    /// Keeps an event until the step has ended, or until something is handed to the program before: the notifications of a step are
    /// posted in one block. False if it is to be sent now, behind those that were kept.
    func hold(_ event: MonitorEvent, along route: EventRoute) -> Bool {
        var notes: [Note] = []
        let isHeld = mutableState.write { state in
            guard state.lane.phase == .taken, state.isPlain, !state.handsOverWhatIsMade else {
                swap(&notes, &state.notes)
                return false
            }
            // A step tells of two, as a rule.
            if state.notes.isEmpty { state.notes.reserveCapacity(2) }
            state.notes.append(Note(event: event, route: route))
            return true
        }
        Self.tell(&notes)
        return isHeld
    }

    /// Sends what was kept: before anything is put on a queue that may be that of the notifications. `mayWait` says that this happens
    /// when the turn of an event loop ends, if this is one.
    func tellNotes(mayWait: Bool = false) {
        var notes: [Note] = []
        mutableState.write { swap(&notes, &$0.notes) }
        Self.tell(&notes, mayWait: mayWait)
    }

    /// Sends them, and leaves none.
    private static func tell(_ notes: inout [Note], mayWait: Bool = false) {
        notes.first?.route.send(&notes, mayWait: mayWait)
    }
}
