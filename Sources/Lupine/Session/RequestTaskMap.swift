// SPDX-License-Identifier: MIT

internal import LupineLoading

/// Maps tasks to requests and back, and records which of a task's two last events have arrived: its metrics and its completion.
/// Removes a pair of task and request when both events have arrived. It is a value type, which the session keeps under its lock.
///
/// Incorrect use is a bug of the library and traps.
struct RequestTaskMap {
    /// A pair of task and request.
    private struct Entry {
        let request: Request
        let task: URLSessionTask
        var isCompleted = false
        var hasMetrics = false
    }

    /// The pairs by the object identifier of the task.
    private var entries: [ObjectIdentifier: Entry] = [:]
    /// The task of each pair by the object identifier of the request.
    private var tasks: [ObjectIdentifier: URLSessionTask] = [:]

    /// The requests of all pairs.
    var requests: [Request] { entries.values.map(\.request) }

    /// The task of a request. Setting nil removes the pair.
    subscript(request: Request) -> URLSessionTask? {
        get { tasks[ObjectIdentifier(request)] }
        set {
            guard let newValue else {
                guard let task = tasks[ObjectIdentifier(request)] else {
                    preconditionFailure("this request has no task to let go of")
                }
                return remove(task)
            }
            insert(request, newValue)
        }
    }

    /// The request of a task. Setting nil removes the pair.
    subscript(task: URLSessionTask) -> Request? {
        get { entries[ObjectIdentifier(task)]?.request }
        set {
            guard let newValue else {
                guard entries[ObjectIdentifier(task)] != nil else {
                    preconditionFailure("this task has no request to let go of")
                }
                return remove(task)
            }
            insert(newValue, task)
        }
    }

    /// Adds a pair. Removes existing pairs with the same request or the same task.
    private mutating func insert(_ request: Request, _ task: URLSessionTask) {
        if let oldTask = tasks.updateValue(task, forKey: ObjectIdentifier(request)), oldTask !== task {
            entries[ObjectIdentifier(oldTask)] = nil
        }
        let entry = Entry(request: request, task: task)
        let oldEntry = entries.updateValue(entry, forKey: ObjectIdentifier(task))
        if let oldEntry, oldEntry.request !== request { tasks[ObjectIdentifier(oldEntry.request)] = nil }
    }

    private mutating func remove(_ task: URLSessionTask) {
        if let index = entries.index(forKey: ObjectIdentifier(task)) { remove(at: index) }
    }

    private mutating func remove(at index: [ObjectIdentifier: Entry].Index) {
        let entry = entries.remove(at: index).value
        // The request may belong to another pair by now, with its next task.
        if let index = tasks.index(forKey: ObjectIdentifier(entry.request)), tasks[index].value === entry.task
        {
            tasks.remove(at: index)
        }
    }

    /// The number of pairs.
    var count: Int {
        precondition(entries.count == tasks.count, "the two halves of the map differ")
        return entries.count
    }

    /// The number of pairs that wait for events. All pairs do: a pair is removed when both events have arrived.
    var eventCount: Int { count }
    /// Whether there is no pair.
    var isEmpty: Bool { count == 0 }
    /// Whether no pair waits for events.
    var isEventsEmpty: Bool { isEmpty }

    /// Records that the metrics of a task have arrived. If its completion had arrived before, removes the pair and returns true.
    /// Otherwise, or if the task is unknown, returns false.
    mutating func disassociateIfNecessaryAfterGatheringMetrics(for task: URLSessionTask) -> Bool {
        guard let index = entries.index(forKey: ObjectIdentifier(task)) else { return false }
        guard entries[index].value.isCompleted else {
            entries.values[index].hasMetrics = true
            return false
        }
        remove(at: index)
        return true
    }

    /// Records that a task has completed. If its metrics had arrived before, removes the pair and returns true. Otherwise, or if
    /// the task is unknown, returns false.
    mutating func disassociateIfNecessaryAfterCompleting(_ task: URLSessionTask) -> Bool {
        guard let index = entries.index(forKey: ObjectIdentifier(task)) else { return false }
        precondition(!entries[index].value.isCompleted, "a task completes once")
        guard entries[index].value.hasMetrics else {
            entries.values[index].isCompleted = true
            return false
        }
        remove(at: index)
        return true
    }
}
