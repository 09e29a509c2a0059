// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// The map alone: its requests and tasks are never performed.
struct RequestTaskMapTests {
    /// Creates requests and tasks for a map.
    private struct Material {
        let session = Session(startRequestsImmediately: false, eventMonitors: [])

        func request() -> Request { session.request("http://origin.test/") }

        func task() throws -> URLSessionTask {
            session.session.dataTask(with: try #require(URL(string: "http://origin.test/")))
        }

        /// Returns a map of `count` pairs.
        func map(of count: Int) throws -> (RequestTaskMap, [(request: Request, task: URLSessionTask)]) {
            var map = RequestTaskMap()
            var pairs: [(Request, URLSessionTask)] = []
            for _ in 0..<count {
                let pair = (request(), try task())
                map[pair.0] = pair.1
                pairs.append(pair)
            }
            return (map, pairs)
        }
    }

    @Test("[M-1, M-2] a pair is found by its request and by its task, however it was added")
    func pairs() throws {
        let material = Material()
        var (map, pairs) = try material.map(of: 100)
        let (request, task) = (material.request(), try material.task())
        map[task] = request
        #expect(map.count == 101 && map.eventCount == 101 && !map.isEmpty && !map.isEventsEmpty)
        #expect(Set(map.requests) == Set(pairs.map(\.request) + [request]))
        for pair in pairs { #expect(map[pair.request] === pair.task && map[pair.task] === pair.request) }
        #expect(map[request] === task && map[task] === request)
        let unknownTask = try material.task()
        #expect(map[material.request()] == nil && map[unknownTask] == nil)
    }

    @Test("[M-1] assigning nil for its request or for its task removes a pair")
    func removal() throws {
        var (map, pairs) = try Material().map(of: 2)
        map[pairs[0].request] = nil
        #expect(map.count == 1 && map[pairs[0].task] == nil && map[pairs[1].task] === pairs[1].request)
        map[pairs[1].task] = nil
        #expect(map.isEmpty && map.isEventsEmpty && map[pairs[1].request] == nil)
    }

    @Test(
        "[M-1] a request's next task replaces the last one, and a task's next request the last one")
    func replacement() throws {
        let material = Material()
        var (map, pairs) = try material.map(of: 1)
        let next = try material.task()
        map[pairs[0].request] = next
        #expect(map.count == 1 && map[pairs[0].task] == nil && map[next] === pairs[0].request)
        let other = material.request()
        map[next] = other
        #expect(map.count == 1 && map[pairs[0].request] == nil && map[other] === next)
    }

    /// Records the metrics of a task. Returns whether its pair was removed.
    private static func gather(_ map: inout RequestTaskMap, metricsOf task: URLSessionTask) -> Bool {
        map.disassociateIfNecessaryAfterGatheringMetrics(for: task)
    }

    /// Records the completion of a task. Returns whether its pair was removed.
    private static func complete(_ map: inout RequestTaskMap, _ task: URLSessionTask) -> Bool {
        map.disassociateIfNecessaryAfterCompleting(task)
    }

    @Test("[M-3, M-4, M-5] a pair is removed when both events have arrived, in either order")
    func bothEvents() throws {
        var (map, pairs) = try Material().map(of: 2)
        let first = [Self.gather(&map, metricsOf: pairs[0].task), Self.complete(&map, pairs[1].task)]
        #expect(first == [false, false] && map.count == 2)
        let second = [Self.complete(&map, pairs[0].task), Self.gather(&map, metricsOf: pairs[1].task)]
        #expect(second == [true, true] && map.isEmpty && map.isEventsEmpty)
    }

    @Test("[M-4] metrics that arrive twice count once; events of unknown tasks have no effect")
    func twice() throws {
        let material = Material()
        var (map, pairs) = try material.map(of: 1)
        let unknownTask = try material.task()
        let removals = [
            Self.gather(&map, metricsOf: pairs[0].task), Self.gather(&map, metricsOf: pairs[0].task),
            Self.gather(&map, metricsOf: unknownTask), Self.complete(&map, unknownTask),
        ]
        #expect(!removals.contains(true) && map.count == 1)
    }

    @Test("[M-5] a second completion of a task traps")
    func completionTwice() async {
        await #expect(processExitsWith: .failure) {
            var (map, pairs) = try Material().map(of: 1)
            _ = map.disassociateIfNecessaryAfterCompleting(pairs[0].task)
            _ = map.disassociateIfNecessaryAfterCompleting(pairs[0].task)
        }
    }

    @Test("[M-1] removing an unknown request or task traps")
    func removingUnknown() async {
        await #expect(processExitsWith: .failure) {
            var map = RequestTaskMap()
            map[Material().request()] = nil
        }
        await #expect(processExitsWith: .failure) {
            var map = RequestTaskMap()
            map[try Material().task()] = nil
        }
    }
}
