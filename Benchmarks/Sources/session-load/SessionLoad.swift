// SPDX-License-Identifier: MIT
internal import Foundation
internal import LoadProgram
internal import Synchronization

#if FOUNDATION_PEER
    internal import FoundationNetworking
#else
    internal import LupineLoading
    internal import LupineTLS
#endif

/// Loads through the session's API forms. The session has no cache and no cookies, so that every request is sent to the server.
final class SessionLoad: Sendable {
    private let job: LoadJob
    private let session: URLSession
    private let requests: [URLRequest]
    private let first: URLRequest
    /// The numbers of requests of the current run that have not been started, and that have not ended.
    private let unstarted = Atomic<Int>(0)
    private let unfinished = Atomic<Int>(0)
    private let bytes = Atomic<Int>(0)
    private let completion = Mutex<(waiting: CheckedContinuation<Void, Never>?, failure: (any Error)?)>(
        (nil, nil))

    init(_ job: LoadJob) throws {
        func request(_ text: String) throws -> URLRequest {
            guard let url = URL(string: text) else { throw URLError(.badURL) }
            return URLRequest(url: url)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = job.connections
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.connectionProxyDictionary = [:]
        #if FOUNDATION_PEER
            if job.mode == .full { configuration.httpAdditionalHeaders = ["Connection": "close"] }
        #else
            configuration.lupine.totalConnections = max(512, job.connections * job.urls.count)
            if job.mode == .full { configuration.lupine.maximumConnectionAge = .zero }
            if let tls = job.tls {
                configuration.lupine.tls.minimumVersion = tls.version == "1.2" ? .v1_2 : .v1_3
                configuration.lupine.tls.maximumVersion = configuration.lupine.tls.minimumVersion
                configuration.lupine.tls.roots = TrustRoots(includesSystem: false, files: [tls.authorities])
            }
        #endif
        session = URLSession(configuration: configuration)
        requests = try job.urls.map(request)
        first = try request(job.firstURL)
        self.job = job
    }

    /// Fetches the given number of times, and returns the number of content bytes.
    func run(_ requests: Int) async throws -> Int {
        unstarted.store(requests, ordering: .relaxed)
        if job.form == .async { return try await awaitAll() }
        unfinished.store(requests, ordering: .relaxed)
        bytes.store(0, ordering: .relaxed)
        await withCheckedContinuation { waiting in
            completion.withLock { $0.waiting = waiting }
            for _ in 0..<job.connections { startNext() }
        }
        if let failure = completion.withLock({ $0.failure }) { throw failure }
        return bytes.load(ordering: .relaxed)
    }

    func runFirst() async throws -> Int {
        let (data, response) = try await session.data(for: first)
        try check(response)
        return data.count
    }

    /// Returns the next request, or nil if all have been taken; the hosts take turns.
    private func nextRequest() -> URLRequest? {
        let number = unstarted.subtract(1, ordering: .relaxed).newValue
        return number < 0 ? nil : requests[number % requests.count]
    }

    private func awaitAll() async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<job.connections {
                group.addTask { [self] in
                    var bytes = 0
                    while let request = nextRequest() {
                        let (data, response) = try await session.data(for: request)
                        try check(response)
                        bytes += data.count
                    }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
    }

    /// Starts the next task, if there is one.
    private func startNext() {
        guard let request = nextRequest() else { return }
        if job.form == .download {
            session.downloadTask(with: request) { [self] file, response, error in
                taskEnded(response, error) {
                    guard let file else { return 0 }
                    let values = try FileManager.default.attributesOfItem(atPath: file.path)
                    return (values[.size] as? NSNumber)?.intValue ?? 0
                }
            }.resume()
        } else {
            session.dataTask(with: request) { [self] data, response, error in
                taskEnded(response, error) { data?.count ?? 0 }
            }.resume()
        }
    }

    /// Handles the end of a task, and starts the next one. Resumes `run` after the last one.
    private func taskEnded(_ response: URLResponse?, _ error: (any Error)?, _ count: () throws -> Int) {
        do {
            if let error { throw error }
            try check(response)
            bytes.add(try count(), ordering: .relaxed)
        } catch {
            completion.withLock { $0.failure = $0.failure ?? error }
        }
        startNext()
        guard unfinished.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        completion.withLock { completion in
            defer { completion.waiting = nil }
            return completion.waiting
        }?.resume()
    }

    private func check(_ response: URLResponse?) throws {
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    }
}
