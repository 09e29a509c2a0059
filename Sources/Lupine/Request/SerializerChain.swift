// SPDX-License-Identifier: MIT

/// The serializers of a request, each run once per pass, in the order in which they were added, and the calls of the
/// handlers, which wait until all have run. A value; `Request` keeps it under its lock.
struct SerializerChain {
    /// How far a pass is.
    enum Step {
        /// This serializer is next.
        case run(Serializer)
        /// All have run: these handlers are to be called.
        case deliver(Few<Request.Job>)
    }

    /// Makes the value of one handler.
    struct Serializer: Sendable {
        /// Whether code of the program's runs in it, or work that takes its time: then it runs on the serialization queue.
        let isForeign: Bool
        /// Runs it; the argument says whether this is in a step.
        let run: @Sendable (_ isInStep: Bool) -> Void
    }

    private var serializers = Few<Serializer>()
    private var deliveries = Few<Request.Job>()

    /// Adds a serializer: to the pass that runs, or else to the next one.
    mutating func append(_ serializer: Serializer) { serializers.append(serializer) }

    /// Whether there is no serializer.
    var isEmpty: Bool { serializers.isEmpty }

    /// The next step of the pass.
    func next() -> Step {
        serializers[deliveries.count].map { .run($0) } ?? .deliver(deliveries)
    }

    /// Stores the call of the handler whose serializer has run.
    mutating func completed(_ delivery: Request.Job) { deliveries.append(delivery) }

    /// Begins from the first serializer. Returns the calls that are not made: they hold what is the program's, which does not
    /// go away under a lock.
    mutating func restart() -> Few<Request.Job> { deliveries.takeAll() }

    /// Takes everything out, for the same reason.
    mutating func takeAll() -> SerializerChain {
        var all = SerializerChain()
        swap(&all, &self)
        return all
    }
}
