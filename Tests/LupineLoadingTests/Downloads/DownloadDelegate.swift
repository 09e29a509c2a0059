// SPDX-License-Identifier: MIT

import Foundation

@testable import LupineLoading

/// A delegate that records the calls of a download, and keeps the downloaded content.
final class DownloadDelegate: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
    let log = CallLog()
    private let becomesDownload: Bool
    private let refusesRedirects: Bool
    private let written = LockedValue(Int64(0))
    private let found = LockedValue<[(URL, Data)]>([])

    init(becomesDownload: Bool = false, refusesRedirects: Bool = false) {
        self.becomesDownload = becomesDownload
        self.refusesRedirects = refusesRedirects
    }

    /// The sum of the bytes that were reported as written.
    var sum: Int64 { written.value }
    var places: [URL] { found.value.map(\.0) }
    var contents: [Data] { found.value.map(\.1) }

    /// Returns the content of a file. Not with `Data(contentsOf:)`, which leaks its buffer if the file is empty.
    static func content(of file: URL) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        return try handle.readToEnd() ?? Data()
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        let data = (try? Self.content(of: location)) ?? Data()
        let attributes = try? FileManager.default.attributesOfItem(atPath: location.path)
        let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue ?? 0
        found.update { $0.append((location, data)) }
        log.add("finished \(data.count) 0\(String(mode, radix: 8))")
    }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        written.update { $0 += bytesWritten }
        log.add("wrote \(totalBytesWritten)/\(totalBytesExpectedToWrite)")
    }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { log.add("resumed \(fileOffset)/\(expectedTotalBytes)") }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) { completionHandler(becomesDownload ? .becomeDownload : .allow) }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) { log.add("became \(downloadTask.taskIdentifier)") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(refusesRedirects ? nil : request) }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) { log.add("metrics") }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.add("complete \((error as? URLError).map { "\($0.code.rawValue)" } ?? "nil")")
    }
}
