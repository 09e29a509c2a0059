// SPDX-License-Identifier: MIT

/// The serializers of a request, each run once per pass, in the order in which they were added, and the calls of the
/// handlers, which wait until all have run. A value; `Request` keeps it under its lock.
struct SerializerChain {
    /// The next step of a pass.
    enum Step {
        /// This serializer is next.
        case run(Serializer)
        /// All have run: these handlers are to be called.
        case deliver(SmallArray<Request.Job>)
    }

    /// Makes the value of one handler.
    struct Serializer: Sendable {
        /// Whether it calls the program's code or takes long. It then runs on the serialization queue.
        let isForeign: Bool
        /// Runs it; the argument says whether this is the root queue.
        let run: @Sendable (_ isOnRoot: Bool) -> Void
    }

    private var serializers = SmallArray<Serializer>()
    private var deliveries = SmallArray<Request.Job>()

    /// Adds a serializer to the running pass, or to the next one if none is running.
    mutating func append(_ serializer: Serializer) { serializers.append(serializer) }

    /// Whether there is no serializer.
    var isEmpty: Bool { serializers.isEmpty }

    /// Returns the next step of the pass.
    func next() -> Step {
        serializers[deliveries.count].map { .run($0) } ?? .deliver(deliveries)
    }

    /// Stores the call of the handler whose serializer has run.
    mutating func completed(_ delivery: Request.Job) { deliveries.append(delivery) }

    /// Restarts with the first serializer. Returns the calls that are dropped: they hold objects of the program, which must not
    /// be released under the lock.
    mutating func restart() -> SmallArray<Request.Job> { deliveries.takeAll() }

    /// Removes and returns everything, for the same reason.
    mutating func takeAll() -> SerializerChain {
        var all = SerializerChain()
        swap(&all, &self)
        return all
    }
}
