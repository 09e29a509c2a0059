// SPDX-License-Identifier: MIT

/// The serializers of a request, each run once per pass, in the order in which they were added, and the calls of the
/// handlers, which wait until all have run. A value; `Request` keeps it under its lock.
struct SerializerChain {
    /// The next step of a pass.
    enum Step {
        /// This serializer is next.
        case run(Serializer)
        /// All have run: the values are to be delivered.
        case deliver
    }

    /// Makes the value of one handler.
    struct Serializer: Sendable {
        /// Whether it calls the program's code or takes long. It then runs on the serialization queue.
        let isForeign: Bool
        /// Whether only Swift tasks wait for its value.
        let isAwaited: Bool
        /// Runs it; the argument is false on the serialization queue.
        let run: @Sendable (_ isInStep: Bool) -> Void
    }

    private var serializers = SmallArray<Serializer>()
    private var deliveries = SmallArray<Request.Job>()

    /// Adds a serializer to the running pass, or to the next one if none is running.
    mutating func append(_ serializer: Serializer) { serializers.append(serializer) }

    /// Whether there is no serializer.
    var isEmpty: Bool { serializers.isEmpty }

    /// Whether there are handlers, and not only Swift tasks that wait.
    var hasHandlers: Bool { serializers.contains { !$0.isAwaited } }

    /// Delivers the values of all serializers: to the handlers, or to the Swift tasks that wait.
    func deliver(toHandlers: Bool) {
        for place in 0..<deliveries.count where serializers[place]?.isAwaited != toHandlers {
            deliveries[place]?.run()
        }
    }

    /// Returns the next step of the pass.
    func next() -> Step {
        serializers[deliveries.count].map { .run($0) } ?? .deliver
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
