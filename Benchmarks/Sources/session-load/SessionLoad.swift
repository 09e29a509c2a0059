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

/// Loads through the session's API forms. Without cache and cookies: every request goes to the server.
final class SessionLoad: Sendable {
    private let job: LoadJob
    private let session: URLSession
    private let requests: [URLRequest]
    private let first: URLRequest
    private let toStart = Atomic<Int>(0)
    private let toEnd = Atomic<Int>(0)
    private let bytes = Atomic<Int>(0)
    private let end = Mutex<(waiting: CheckedContinuation<Void, Never>?, failure: (any Error)?)>((nil, nil))

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
        toStart.store(requests, ordering: .relaxed)
        if job.form == .async { return try await awaitAll() }
        toEnd.store(requests, ordering: .relaxed)
        bytes.store(0, ordering: .relaxed)
        await withCheckedContinuation { waiting in
            end.withLock { $0.waiting = waiting }
            for _ in 0..<job.connections { next() }
        }
        if let failure = end.withLock({ $0.failure }) { throw failure }
        return bytes.load(ordering: .relaxed)
    }

    func runFirst() async throws -> Int {
        let (data, response) = try await session.data(for: first)
        try check(response)
        return data.count
    }

    /// Returns the next request, or nil if all have been taken; the hosts take turns.
    private func takeOne() -> URLRequest? {
        let number = toStart.subtract(1, ordering: .relaxed).newValue
        return number < 0 ? nil : requests[number % requests.count]
    }

    private func awaitAll() async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<job.connections {
                group.addTask { [self] in
                    var bytes = 0
                    while let request = takeOne() {
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

    private func next() {
        guard let request = takeOne() else { return }
        if job.form == .download {
            session.downloadTask(with: request) { [self] file, response, error in
                ended(response, error) {
                    guard let file else { return 0 }
                    let values = try FileManager.default.attributesOfItem(atPath: file.path)
                    return (values[.size] as? NSNumber)?.intValue ?? 0
                }
            }.resume()
        } else {
            session.dataTask(with: request) { [self] data, response, error in
                ended(response, error) { data?.count ?? 0 }
            }.resume()
        }
    }

    private func ended(_ response: URLResponse?, _ error: (any Error)?, _ count: () throws -> Int) {
        do {
            if let error { throw error }
            try check(response)
            bytes.add(try count(), ordering: .relaxed)
        } catch {
            end.withLock { $0.failure = $0.failure ?? error }
        }
        next()
        guard toEnd.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        end.withLock { end in
            defer { end.waiting = nil }
            return end.waiting
        }?.resume()
    }

    private func check(_ response: URLResponse?) throws {
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    }
}
