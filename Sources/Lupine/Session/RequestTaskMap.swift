// SPDX-License-Identifier: MIT

internal import LupineLoading

/// Maps tasks to requests and back, and records which of a task's two last events have arrived: its metrics and its completion. A
/// pair is removed when both have. A value; the session keeps it under its lock.
///
/// Incorrect use is a bug of the library and traps.
struct RequestTaskMap {
    private struct Entry {
        let request: Request
        let task: URLSessionTask
        var completed = false
        var metricsGathered = false
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    private var tasks: [ObjectIdentifier: URLSessionTask] = [:]

    /// The requests that have a task here.
    var requests: [Request] { entries.values.map(\.request) }

    /// The task of a request.
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

    /// The request of a task.
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

    private mutating func insert(_ request: Request, _ task: URLSessionTask) {
        if let old = tasks.updateValue(task, forKey: ObjectIdentifier(request)), old !== task {
            entries[ObjectIdentifier(old)] = nil
        }
        let old = entries.updateValue(Entry(request: request, task: task), forKey: ObjectIdentifier(task))
        if let old, old.request !== request { tasks[ObjectIdentifier(old.request)] = nil }
    }

    private mutating func remove(_ task: URLSessionTask) {
        if let place = entries.index(forKey: ObjectIdentifier(task)) { remove(at: place) }
    }

    private mutating func remove(at place: [ObjectIdentifier: Entry].Index) {
        let entry = entries.remove(at: place).value
        if let place = tasks.index(forKey: ObjectIdentifier(entry.request)), tasks[place].value === entry.task
        {
            tasks.remove(at: place)
        }
    }

    /// The number of pairs.
    var count: Int {
        precondition(entries.count == tasks.count, "the two halves of the map differ")
        return entries.count
    }

    /// The number of pairs that wait for events.
    var eventCount: Int { count }
    /// Whether there is no pair.
    var isEmpty: Bool { count == 0 }
    /// Whether no event is waited for.
    var isEventsEmpty: Bool { isEmpty }

    /// Records that the metrics of a task have arrived. Returns whether its completion had arrived before; the pair is then
    /// removed.
    mutating func disassociateIfNecessaryAfterGatheringMetrics(for task: URLSessionTask) -> Bool {
        guard let place = entries.index(forKey: ObjectIdentifier(task)) else { return false }
        guard entries[place].value.completed else {
            entries.values[place].metricsGathered = true
            return false
        }
        remove(at: place)
        return true
    }

    /// Records that a task has completed. Returns whether its metrics had arrived before; the pair is then removed.
    mutating func disassociateIfNecessaryAfterCompleting(_ task: URLSessionTask) -> Bool {
        guard let place = entries.index(forKey: ObjectIdentifier(task)) else { return false }
        precondition(!entries[place].value.completed, "a task completes once")
        guard entries[place].value.metricsGathered else {
            entries.values[place].completed = true
            return false
        }
        remove(at: place)
        return true
    }
}
