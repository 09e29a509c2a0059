// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Data tasks whose response was answered `.becomeStream`.
struct BecomeStreamTests {
    private func start(speaking testedHTTP: TestedHTTP) throws -> LupineOrigin.Origin {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        return try LupineOrigin.Origin.start(configuration: serving)
    }

    private func become(
        _ path: String, over testedHTTP: TestedHTTP,
        _ body: (URLSessionStreamTask, StreamDelegate, LupineOrigin.Origin) async throws -> Void
    ) async throws {
        let origin = try start(speaking: testedHTTP)
        let configuration = DriverLoad.configuration { $0.lupine.httpVersions = testedHTTP.versions }
        let delegate = StreamDelegate()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let result: Result<Void, any Error>
        do {
            session.dataTask(with: try #require(URL(string: origin.url + path))).resume()
            await delegate.log.wait(for: "become")
            result = .success(
                try await body(try #require(delegate.becameStream.value), delegate, origin))
        } catch { result = .failure(error) }
        delegate.becameStream.set(nil)
        session.invalidateAndCancel()
        await delegate.log.wait(for: "invalid")
        await origin.shutdown()
        try result.get()
    }

    private func content(
        _ origin: LupineOrigin.Origin, _ path: String, over testedHTTP: TestedHTTP
    ) async throws -> Data {
        let session = URLSession(
            configuration: DriverLoad.configuration { $0.lupine.httpVersions = testedHTTP.versions })
        defer { session.invalidateAndCancel() }
        return try await session.data(from: try #require(URL(string: origin.url + path))).0
    }

    @Test(
        "[U-5.5, U-7.16] a data task that becomes a stream is read, and cannot be written",
        arguments: TestedHTTP.allCases)
    func content(over testedHTTP: TestedHTTP) async throws {
        try await become("/bytes/300000?seed=3", over: testedHTTP) { task, delegate, origin in
            #expect(await task.failureOfWriting() == .networkConnectionLost)
            let (data, isAtEnd) = try await task.readData(
                ofMinLength: 300_001, maxLength: 400_000, timeout: 0)
            let whole = try await content(origin, "/bytes/300000?seed=3", over: testedHTTP)
            #expect(data == whole && isAtEnd)
            await delegate.log.wait(for: "complete")
            #expect(
                delegate.log.entries.filter { $0 != "read closed" } == [
                    "response", "become 1 1", "metrics 1", "complete nil",
                ], "the data task hears nothing more")
            let text1 = try await task.text()
            #expect(text1 == ".")
        }
    }

    /// If a download had created a file, the check for files that the tests leave behind would find it.
    @Test(
        "[U-7.15, U-7.16] a task that ended before the answer does not become a stream",
        arguments: TestedHTTP.allCases)
    func tooLate(over testedHTTP: TestedHTTP) async throws {
        let origin = try start(speaking: testedHTTP)
        let configuration = DriverLoad.configuration { $0.lupine.httpVersions = testedHTTP.versions }
        let session = URLSession(configuration: configuration)
        let url = try #require(URL(string: origin.url + "/get"))
        let made = LockedValue<URLSessionTask?>(nil)
        await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
            let task = session.dataTask(with: url) { _, _, _ in ended.resume() }
            made.set(task)
            task.resume()
        }
        let core = try #require(made.value).core
        let response = try #require(made.value?.response)
        let conversion = TaskConversion(task: core, response: response)
        conversion.becomeDownload()
        conversion.becomeStream()
        let hasBecome = core.state.withLock {
            $0.publicTask is URLSessionDownloadTask || $0.publicTask is URLSessionStreamTask
        }
        #expect(!hasBecome)
        made.set(nil)
        session.invalidateAndCancel()
        await origin.shutdown()
    }

    @Test(
        "reads are answered although the program does not retain the stream", arguments: TestedHTTP.allCases)
    func unkept(over testedHTTP: TestedHTTP) async throws {
        let origin = try start(speaking: testedHTTP)
        let configuration = DriverLoad.configuration { $0.lupine.httpVersions = testedHTTP.versions }
        let reads = UnkeptReads()
        let session = URLSession(configuration: configuration, delegate: reads, delegateQueue: nil)
        let url = try #require(URL(string: origin.url + "/bytes/2"))
        for count in 1...50 {
            session.dataTask(with: url).resume()
            await reads.log.wait(for: "end", count: count)
        }
        #expect(reads.log.entries == (0..<50).flatMap { _ in ["2", "end"] })
        session.invalidateAndCancel()
        await origin.shutdown()
    }

    @Test(
        "[U-5.5, U-7.16] a slow reader pauses the load, and gets every byte",
        arguments: TestedHTTP.allCases)
    func slowly(over testedHTTP: TestedHTTP) async throws {
        try await become("/stream-bytes/3000000?seed=4", over: testedHTTP) { task, _, origin in
            var all = Data()
            while true {
                let (data, isAtEnd) = try await task.readData(
                    ofMinLength: 1, maxLength: 10_000, timeout: 0)
                #expect((data?.count ?? 0) <= 10_000)
                all += data ?? Data()
                if isAtEnd { break }
            }
            let whole = try await content(origin, "/stream-bytes/3000000?seed=4", over: testedHTTP)
            #expect(all == whole)
        }
    }

    @Test("[U-7.16] the content is decoded", arguments: TestedHTTP.allCases)
    func decoded(over testedHTTP: TestedHTTP) async throws {
        try await become("/gzip", over: testedHTTP) { task, _, _ in
            let text = try await task.text(1 << 20)
            #expect(text.contains("gzipped"))
        }
    }

    @Test("[U-7.16] waiting reads fail when the load is cancelled", arguments: TestedHTTP.allCases)
    func cancelled(over testedHTTP: TestedHTTP) async throws {
        try await become("/infinite", over: testedHTTP) { task, delegate, _ in
            _ = try await task.readData(ofMinLength: 1_000_000, maxLength: 1_000_000, timeout: 0)
            task.readData(ofMinLength: .max, maxLength: .max, timeout: 0) { _, _, error in
                delegate.log.add("read \((error as? URLError)?.code.rawValue ?? 0)")
            }
            task.cancel()
            await delegate.log.wait(for: "complete -999")
            await delegate.log.wait(for: "read -999")
        }
    }

    @Test("[U-7.16] a stream whose reading is closed lets the load end", arguments: TestedHTTP.allCases)
    func closed(over testedHTTP: TestedHTTP) async throws {
        try await become("/infinite", over: testedHTTP) { task, delegate, _ in
            task.closeRead()
            await delegate.log.wait(for: "complete nil")
            #expect(await task.failureOfReading() == .networkConnectionLost)
        }
    }

    @Test("[U-7.16] TLS cannot be started inside of content", arguments: TestedHTTP.allCases)
    func fails(over testedHTTP: TestedHTTP) async throws {
        try await become("/infinite", over: testedHTTP) { task, delegate, _ in
            task.startSecureConnection()
            await delegate.log.wait(for: "complete -1200")
            #expect(await task.failureOfReading() == .secureConnectionFailed)
        }
    }

    @Test("[H-6.13] over HTTP/2 a stream that is not read pauses itself, and no other on its connection")
    func sharesItsConnection() async throws {
        let origin = try start(speaking: .http2)
        let becoming = StreamDelegate()
        let session = URLSession(
            configuration: DriverLoad.configuration { $0.lupine.httpVersions = .http2 }, delegate: becoming,
            delegateQueue: nil)
        session.dataTask(with: try #require(URL(string: origin.url + "/infinite"))).resume()
        await becoming.log.wait(for: "become")
        let stream = try #require(becoming.becameStream.value)
        _ = try await stream.readData(ofMinLength: 100_000, maxLength: 100_000, timeout: 0)
        let url = try #require(URL(string: origin.url + "/bytes/3000000"))
        let count = await withCheckedContinuation { continuation in
            session.dataTask(with: url) { data, _, _ in continuation.resume(returning: data?.count) }.resume()
        }
        #expect(count == 3_000_000)
        #expect(try await stream.readData(ofMinLength: 1, maxLength: 1, timeout: 0).0?.count == 1)
        #expect(origin.counts.connectionsAccepted == 1)
        stream.cancel()
        await becoming.log.wait(for: "complete -999")
        becoming.becameStream.set(nil)
        session.invalidateAndCancel()
        await becoming.log.wait(for: "invalid")
        await origin.shutdown()
    }
}

/// A delegate that reads from a stream task twice, and keeps no reference to it.
private final class UnkeptReads: NSObject, URLSessionDataDelegate {
    let log = CallLog()

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) { completionHandler(.becomeStream) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        streamTask.readData(ofMinLength: 2, maxLength: 2, timeout: 0) { [log] data, _, _ in
            log.add("\(data?.count ?? 0)")
        }
        streamTask.readData(ofMinLength: 1, maxLength: 1, timeout: 0) { [log] data, isAtEnd, _ in
            log.add(isAtEnd && data?.isEmpty ?? true ? "end" : "more")
        }
    }
}
