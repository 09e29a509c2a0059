// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// The map without its session: its requests and tasks are never performed.
struct RequestTaskMapTests {
    /// The content of a map.
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

    @Test("[M-1, M-2] pairs are found from both sides, whichever they were set by")
    func pairs() throws {
        let material = Material()
        var (map, pairs) = try material.map(of: 100)
        let (request, task) = (material.request(), try material.task())
        map[task] = request
        #expect(map.count == 101 && map.eventCount == 101 && !map.isEmpty && !map.isEventsEmpty)
        #expect(Set(map.requests) == Set(pairs.map(\.request) + [request]))
        for pair in pairs { #expect(map[pair.request] === pair.task && map[pair.task] === pair.request) }
        #expect(map[request] === task && map[task] === request)
        let stranger = try material.task()
        #expect(map[material.request()] == nil && map[stranger] == nil)
    }

    @Test("[M-1] set to nil, from either side, a pair is gone")
    func removal() throws {
        var (map, pairs) = try Material().map(of: 2)
        map[pairs[0].request] = nil
        #expect(map.count == 1 && map[pairs[0].task] == nil && map[pairs[1].task] === pairs[1].request)
        map[pairs[1].task] = nil
        #expect(map.isEmpty && map.isEventsEmpty && map[pairs[1].request] == nil)
    }

    @Test("[M-1] a request's next task replaces the last one, and a task's next request too")
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

    /// Reports the metrics of a task to the map.
    private static func take(_ map: inout RequestTaskMap, metricsOf task: URLSessionTask) -> Bool {
        map.disassociateIfNecessaryAfterGatheringMetrics(for: task)
    }

    private static func take(_ map: inout RequestTaskMap, endOf task: URLSessionTask) -> Bool {
        map.disassociateIfNecessaryAfterCompleting(task)
    }

    @Test("[M-3, M-4, M-5] a pair is gone when both events have come, in either order")
    func bothEvents() throws {
        var (map, pairs) = try Material().map(of: 2)
        let first = [Self.take(&map, metricsOf: pairs[0].task), Self.take(&map, endOf: pairs[1].task)]
        #expect(first == [false, false] && map.count == 2)
        let second = [Self.take(&map, endOf: pairs[0].task), Self.take(&map, metricsOf: pairs[1].task)]
        #expect(second == [true, true] && map.isEmpty && map.isEventsEmpty)
    }

    @Test("[M-4] metrics that come twice are taken once; events of strangers mean nothing")
    func twice() throws {
        let material = Material()
        var (map, pairs) = try material.map(of: 1)
        let stranger = try material.task()
        let gone = [
            Self.take(&map, metricsOf: pairs[0].task), Self.take(&map, metricsOf: pairs[0].task),
            Self.take(&map, metricsOf: stranger), Self.take(&map, endOf: stranger),
        ]
        #expect(!gone.contains(true) && map.count == 1)
    }

    @Test("[M-5] a completion that comes twice stops the program")
    func completionTwice() async {
        await #expect(processExitsWith: .failure) {
            var (map, pairs) = try Material().map(of: 1)
            _ = map.disassociateIfNecessaryAfterCompleting(pairs[0].task)
            _ = map.disassociateIfNecessaryAfterCompleting(pairs[0].task)
        }
    }

    @Test("[M-1] letting go of what is not there stops the program, from either side")
    func strangers() async {
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
