// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Lupine

/// A download that must fail, and the files that it leaves in the temporary folder and at its destination.
struct DownloadScenario {
    let url: String
    let folder: URL
    /// The expected failure: `move` after the transfer, or the code of a `URLError`; `vanish-move` removes the folder first.
    let expected: String
    /// The largest file size in bytes that the process can write.
    let fileSize: UInt?

    func leavesNothing() async throws -> Bool {
        if let fileSize {
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: fileSize, rlim_max: fileSize)
            guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
                return false
            }
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = Session(configuration: configuration)
        let (folder, vanishes) = (folder, expected == "vanish-move")
        let destination: DownloadRequest.Destination = { _, _ in
            if vanishes { try? FileManager.default.removeItem(at: folder) }
            return (folder.appendingPathComponent("file"), [])
        }
        let request = session.download(url, to: destination)
        let response: AFDownloadResponse<URL?> = await withCheckedContinuation { continuation in
            request.response(queue: .global()) { continuation.resume(returning: $0) }
        }
        let temporary = names(FileManager.default.temporaryDirectory)
        let moved = names(folder)
        let outcome = outcome(response.error)
        print(
            "\(outcome); temporary: \(temporary); destination: \(moved); \(String(describing: response.error))"
        )
        return expected.hasSuffix(outcome) && temporary.isEmpty && moved.isEmpty && response.fileURL == nil
    }

    private func outcome(_ error: AFError?) -> String {
        switch error {
        case nil: "success"
        case .downloadedFileMoveFailed: "move"
        case .sessionTaskFailed(let error as URLError): "\(error.code.rawValue)"
        case let error?: "\(error)"
        }
    }

    private func names(_ folder: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }
}
