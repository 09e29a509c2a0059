// SPDX-License-Identifier: MIT

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
