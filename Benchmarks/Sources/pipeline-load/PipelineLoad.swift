// SPDX-License-Identifier: MIT
internal import Foundation
internal import LoadProgram
internal import Lupine
internal import LupineTLS
internal import LupineTransport
internal import Synchronization

/// Loads through the pipeline's API forms. Sessions have no cookies, and no cache except in the forms that measure it, so that
/// every other request is sent to the server. Their other settings are the defaults, including notifications.
final class PipelineLoad: Sendable {
    private let job: LoadJob
    private let session: Session
    /// The executor of all tasks; nil for the global one. A program that runs its tasks on a loop chooses the loop once.
    private let executor: (any TaskExecutor)?
    private let unstarted = Atomic<Int>(0)
    /// The number of URLs that were made, for forms that request each URL only once.
    private let createdAddresses = Atomic<Int>(0)
    /// The number of URLs whose responses are in the cache.
    private static let cachedAddresses = 500
    private let cacheFolder = FileManager.default.temporaryDirectory
        .appendingPathComponent("pipeline-load-\(UUID().uuidString)")
    /// The status codes of responses whose bodies may be empty.
    private static let emptyCodes: Set<Int> = [200, 204, 205]

    init(_ job: LoadJob) {
        self.job = job
        switch job.form {
        case .program, .written, .writtenDecodable: session = Self.programsSession(job, cacheFolder)
        default: session = Self.bareSession(job, cacheFolder)
        }
        executor = job.form == .executor ? session.executor : nil
    }

    /// Returns the session of a program that configures only the number of connections per host, if six are not enough. The cache
    /// has the size of the shared one, and is new.
    private static func programsSession(_ job: LoadJob, _ cacheFolder: URL) -> Session {
        let configuration = URLSessionConfiguration.af.default
        configuration.urlCache = URLCache(
            memoryCapacity: 4 << 20, diskCapacity: 20 << 20, directory: cacheFolder)
        if job.sharesConnection {
            configuration.lupine.httpVersions = .http2
        } else if job.connections > 6 {
            configuration.httpMaximumConnectionsPerHost = job.connections
        }
        if job.form == .program { return Session(configuration: configuration) }
        let adapter = Adapter { request, _, completion in
            var request = request
            request.headers.add(.authorization(bearerToken: "of the program"))
            completion(.success(request))
        }
        return Session(
            configuration: configuration,
            interceptor: Interceptor(adapters: [adapter], retriers: [RetryPolicy()]),
            eventMonitors: [AlamofireNotifications(), RequestCounter()])
    }

    /// Counts the requests that have ended.
    private final class RequestCounter: EventMonitor {
        let queue = DispatchQueue(label: "counter")
        private let ended = Atomic<Int>(0)

        func requestDidFinish(_ request: Request) { ended.add(1, ordering: .relaxed) }
    }

    /// Returns a session without cookies, and without a cache except in the forms that measure it.
    private static func bareSession(_ job: LoadJob, _ cacheFolder: URL) -> Session {
        let configuration = URLSessionConfiguration.af.ephemeral
        configuration.httpMaximumConnectionsPerHost = job.sharesConnection ? 1 : job.connections
        if job.sharesConnection { configuration.lupine.httpVersions = .http2 }
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.connectionProxyDictionary = [:]
        configuration.lupine.totalConnections = max(512, job.connections * job.urls.count)
        if job.mode == .full { configuration.lupine.maximumConnectionAge = .zero }
        if let tls = job.tls {
            configuration.lupine.tls.minimumVersion = tls.version == "1.2" ? .v1_2 : .v1_3
            configuration.lupine.tls.maximumVersion = configuration.lupine.tls.minimumVersion
            configuration.lupine.tls.roots = TrustRoots(includesSystem: false, files: [tls.authorities])
        }
        switch job.form {
        case .storing, .memoryHit, .diskHit, .revalidated:
            configuration.urlCache = URLCache(
                memoryCapacity: job.form == .diskHit ? 0 : 4 << 20, diskCapacity: 20 << 20,
                directory: cacheFolder)
            configuration.requestCachePolicy =
                switch job.form {
                case .storing: .useProtocolCachePolicy
                case .revalidated: .reloadRevalidatingCacheData
                default: .returnCacheDataElseLoad
                }
        default: break
        }
        return Session(configuration: configuration)
    }

    deinit { try? FileManager.default.removeItem(at: cacheFolder) }

    /// Fetches the first URL once, and returns the number of content bytes.
    func runFirst() async throws -> Int {
        if isAnsweredFromCache {
            for number in 0..<Self.cachedAddresses {
                _ = try await fetch("\(job.firstURL)?\(number)", .async)
            }
            try await waitUntilStored()
        }
        return try await withTaskExecutorPreference(executor) { try await fetch(job.firstURL, .async) }
    }

    /// Whether a response is stored for each of the URLs.
    private var isAnsweredFromCache: Bool {
        switch job.form {
        case .memoryHit, .diskHit, .revalidated: true
        default: false
        }
    }

    /// Waits until stored responses are on the disk: until its usage is unchanged for a while.
    private func waitUntilStored() async throws {
        guard let cache = session.sessionConfiguration.urlCache else { return }
        var usage = -1
        while usage != cache.currentDiskUsage {
            usage = cache.currentDiskUsage
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Fetches the given number of times, and returns the number of content bytes.
    func run(_ requests: Int) async throws -> Int {
        if job.form == .decoder { return try await decode(requests) }
        return try await run(requests, job.form)
    }

    private func run(_ requests: Int, _ form: LoadJob.Form) async throws -> Int {
        unstarted.store(requests, ordering: .relaxed)
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<job.connections {
                group.addTask(executorPreference: executor) { [self] in
                    var bytes = 0
                    while let url = nextURL() { bytes += try await fetch(url, form) }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
    }

    /// Returns the next request's URL, or nil if all have been taken; the hosts take turns.
    private func nextURL() -> String? {
        let number = unstarted.subtract(1, ordering: .relaxed).newValue
        if number < 0 { return nil }
        let url = job.urls[number % job.urls.count]
        switch job.form {
        case .addresses, .storing, .program, .written, .writtenDecodable:
            let number = createdAddresses.add(1, ordering: .relaxed).newValue
            return url.hasSuffix("?") ? "\(url)\(number)" : "\(url)?\(number)"
        case .memoryHit, .diskHit, .revalidated: return "\(url)?\(number % Self.cachedAddresses)"
        default: return url
        }
    }

    /// Returns the cost that decoding adds to a request, and that of the decoder alone: medians of many short runs in
    /// alternation.
    func figures() async throws -> [String: Double] {
        guard job.form == .decoding else { return [:] }
        let requests = max(job.connections, job.requests / 20)
        func cost(_ work: () async throws -> Int) async throws -> Double {
            let start = LoadMeter.processorTime
            _ = try await work()
            return (LoadMeter.processorTime - start) / Double(requests)
        }
        var own: [Double] = []
        var added: [Double] = []
        for _ in 0..<21 {
            let plain = try await cost { try await run(requests, .async) }
            added.append(try await cost { try await run(requests, .decodable) } - plain)
            own.append(try await cost { try await decode(requests) })
        }
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        return ["decoderOwn": median(own), "decodingAdded": median(added)]
    }

    /// Decodes the content the given number of times, and returns the total number of bytes.
    private func decode(_ times: Int) async throws -> Int {
        let data = try await session.request(job.firstURL).serializingData().value
        for _ in 0..<times { try check(JSONDecoder().decode([Flower].self, from: data)) }
        return data.count * times
    }

    /// Throws unless the flowers are those of the document.
    private func check(_ flowers: [Flower]) throws {
        guard let last = flowers.last, last.petals == flowers.count else {
            throw URLError(.cannotParseResponse)
        }
    }

    /// An element of the benchmarks' document; the last has as many petals as there are flowers.
    private struct Flower: Decodable, Sendable {
        let name: String
        let petals: Int
        let colour: String
        let heights: [Double]
    }

    private func fetch(_ url: String, _ form: LoadJob.Form) async throws -> Int {
        switch form {
        case .written:
            return try await session.request(url).validate().serializingData().value.count
        case .writtenDecodable:
            let flowers = try await session.request(url).validate().serializingDecodable([Flower].self).value
            try check(flowers)
            return flowers.count
        case .async, .executor, .addresses, .storing, .memoryHit, .diskHit, .revalidated, .program:
            return try await session.request(url).serializingData(emptyResponseCodes: Self.emptyCodes).value
                .count
        case .decodable, .decoding:
            let flowers = try await session.request(url).serializingDecodable([Flower].self).value
            try check(flowers)
            return flowers.count
        case .decoder: return 0
        case .handler:
            return try await withCheckedThrowingContinuation { waiting in
                session.request(url).responseData(
                    queue: session.rootQueue, emptyResponseCodes: Self.emptyCodes
                ) { response in
                    waiting.resume(with: response.result.map(\.count))
                }
            }
        case .download:
            let file = try await session.download(url).validate().serializingDownloadedFileURL().value
            defer { try? FileManager.default.removeItem(at: file) }
            return try size(of: file)
        case .upload:
            let file = URL(
                fileURLWithPath: ProcessInfo.processInfo.environment["LUPINE_BENCH_FILE"] ?? "missing")
            _ = try await session.upload(file, to: url, method: .put).validate()
                .serializingData(emptyResponseCodes: [201, 204]).value
            return try size(of: file)
        }
    }

    private func size(of file: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }
}
