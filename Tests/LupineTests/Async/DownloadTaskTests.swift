// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// Swift tasks that await downloads.
struct DownloadTaskTests {
    private struct Answer: Decodable, Sendable {
        let url: String
    }

    /// Runs `body` with a new folder, then removes the folder.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test(
        "[C-2] a download can be awaited repeatedly, as data, text, a decoded value or a file",
        arguments: TestedHTTP.allCases)
    func forms(over testedHTTP: TestedHTTP) async throws {
        try await withFolder { folder async throws in
            try await withObserved(over: testedHTTP) { stage async throws in
                let download = stage.download("/get", to: folder)
                let data = try await download.serializingData().value
                #expect(try await download.serializingString().value == String(decoding: data, as: UTF8.self))
                let task = download.serializingDecodable(Answer.self)
                #expect(try await task.value.url.hasSuffix("/get"))
                #expect(try await task.result.get().url.hasSuffix("/get"))
                let url = try await download.serializingDownloadedFileURL().value
                #expect(try Data(contentsOf: url) == data)
                let response = await download.serializingDownload(using: URLResponseSerializer()).response
                #expect(response.fileURL == url)
            }
        }
    }

    @Test(
        "[C-4, C-5] cancelling the download task or the awaiting task cancels the request",
        arguments: [true, false],
        TestedHTTP.allCases)
    func cancelled(byWaiter: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withFolder { folder async throws in
            try await withObserved(over: testedHTTP) { stage async throws in
                _ = stage.held()
                let download = stage.download("/held", to: folder)
                let task = download.serializingData()
                let waiter = Task { await task.response }
                await stage.waitForRequest()
                if byWaiter { waiter.cancel() } else { task.cancel() }
                #expect(await waiter.value.error?.isExplicitlyCancelledError == true)
                #expect(download.isCancelled)
            }
        }
    }

    @Test(
        "[C-6, C-8] without automatic cancellation the download continues; the task suspends and resumes it",
        arguments: TestedHTTP.allCases)
    func continues(over testedHTTP: TestedHTTP) async throws {
        try await withFolder { folder async throws in
            try await withObserved(over: testedHTTP) { stage async throws in
                _ = stage.held()
                let download = stage.download("/held", to: folder)
                let task = download.serializingString(automaticallyCancelling: false)
                let waiter = Task { try await task.value }
                await stage.waitForRequest()
                waiter.cancel()
                task.suspend()
                #expect(download.isSuspended)
                task.resume()
                stage.sendResponse()
                #expect(try await waiter.value == "ok")
            }
        }
    }
}
