// SPDX-License-Identifier: MIT

internal import LupineLoading

/// Which request a task belongs to, and the other way round; and which of a task's two last events have come: its metrics
/// and its completion. A pair stays until both have. A value; the session keeps it under its lock.
///
/// Wrong use is an error of the library and stops the program.
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
                return remove(request, task)
            }
            insert(request, newValue)
        }
    }

    /// The request of a task.
    subscript(task: URLSessionTask) -> Request? {
        get { entries[ObjectIdentifier(task)]?.request }
        set {
            guard let newValue else {
                guard let request = entries[ObjectIdentifier(task)]?.request else {
                    preconditionFailure("this task has no request to let go of")
                }
                return remove(request, task)
            }
            insert(newValue, task)
        }
    }

    private mutating func insert(_ request: Request, _ task: URLSessionTask) {
        if let old = tasks.updateValue(task, forKey: ObjectIdentifier(request)), old !== task {
            entries[ObjectIdentifier(old)] = nil
        }
        if let old = entries[ObjectIdentifier(task)]?.request, old !== request {
            tasks[ObjectIdentifier(old)] = nil
        }
        entries[ObjectIdentifier(task)] = Entry(request: request, task: task)
    }

    private mutating func remove(_ request: Request, _ task: URLSessionTask) {
        entries[ObjectIdentifier(task)] = nil
        if tasks[ObjectIdentifier(request)] === task { tasks[ObjectIdentifier(request)] = nil }
    }

    /// The number of pairs.
    var count: Int {
        precondition(entries.count == tasks.count, "the two halves of the map differ")
        return entries.count
    }

    /// The number of pairs whose events are waited for.
    var eventCount: Int { count }
    /// Whether there is no pair.
    var isEmpty: Bool { count == 0 }
    /// Whether no event is waited for.
    var isEventsEmpty: Bool { isEmpty }

    /// The metrics of a task have come. Returns whether its completion had come before: the pair is gone then.
    mutating func disassociateIfNecessaryAfterGatheringMetrics(for task: URLSessionTask) -> Bool {
        guard let entry = entries[ObjectIdentifier(task)] else { return false }
        guard entry.completed else {
            entries[ObjectIdentifier(task)]?.metricsGathered = true
            return false
        }
        remove(entry.request, task)
        return true
    }

    /// The completion of a task has come. Returns whether its metrics had come before: the pair is gone then.
    mutating func disassociateIfNecessaryAfterCompleting(_ task: URLSessionTask) -> Bool {
        guard let entry = entries[ObjectIdentifier(task)] else { return false }
        precondition(!entry.completed, "a task completes once")
        guard entry.metricsGathered else {
            entries[ObjectIdentifier(task)]?.completed = true
            return false
        }
        remove(entry.request, task)
        return true
    }
}
