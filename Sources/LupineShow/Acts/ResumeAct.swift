// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import Synchronization

/// A download is cancelled partway and resumed.
enum ResumeAct: DemoAct {
    static let title = "A download, cut and gone on with"
    static let code = """
        let download = session.download("\\(root)/range/4194304?duration=6&chunk_size=65536", to: destination)
        download.downloadProgress(queue: queue) { progress in
            if progress.fractionCompleted > 0.1 { download.cancel(producingResumeData: true) }
        }
        let interrupted = await download.serializingDownloadedFileURL().response
        let resumed = session.download(resumingWith: interrupted.resumeData ?? Data(), to: destination)
        let file = try await resumed.serializingDownloadedFileURL().value
        """

    static func run(in demo: DemoContext) async throws {
        let (session, root) = (demo.session, demo.root)
        let location = FileManager.default.temporaryDirectory.appendingPathComponent(
            "lupine-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: location) }
        let destination: DownloadRequest.Destination = { _, _ in (location, [.removePreviousFile]) }
        let queue = DispatchQueue(label: "demo.progress")
        let download = session.download("\(root)/range/4194304?duration=6&chunk_size=65536", to: destination)
        download.downloadProgress(queue: queue) { progress in
            if progress.fractionCompleted > 0.1 { download.cancel(producingResumeData: true) }
        }
        let interrupted = await download.serializingDownloadedFileURL().response
        // Without resume data, the second download fails, and so does the act.
        let receivedCount = download.downloadProgress.completedUnitCount
        let resumed = session.download(resumingWith: interrupted.resumeData ?? Data(), to: destination)
        let file = try await resumed.serializingDownloadedFileURL().value
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber
        let status = resumed.response?.statusCode ?? 0
        demo.printResult("cut behind \(receivedCount) bytes; the rest came with status \(status)")
        demo.printResult("\(size?.intValue ?? 0) bytes are in the file")
        try demo.require(
            size?.intValue == 4_194_304 && status == 206, "the rest is added")
    }
}
