// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import LupineTransport

/// The upload of a large body reports its progress.
enum UploadAct: DemoAct {
    static let title = "An upload with progress"
    static let code = """
        let upload = session.upload(data, to: "\\(root)/hash")
            .uploadProgress(queue: queue) { progress in marks.note(progress.fractionCompleted) }
        let answer = try await upload.serializingDecodable(Hash.self).value
        """

    struct Hash: Decodable, Sendable { let bytes: Int, sha256: String }

    /// Records the quarters that the progress has reached.
    final class Marks: Sendable {
        private let seen = Lock<Set<Int>>([])
        var quarters: [Int] { seen.withLock { $0.sorted() } }
        func note(_ fraction: Double) { seen.withLock { _ = $0.insert(Int(fraction * 4) * 25) } }
    }

    static func run(in demo: DemoContext) async throws {
        let (session, root) = (demo.session, demo.root)
        let data = Data(repeating: 0x6C, count: 32 << 20)
        let marks = Marks()
        let queue = DispatchQueue(label: "demo.progress")
        let upload = session.upload(data, to: "\(root)/hash")
            .uploadProgress(queue: queue) { progress in marks.note(progress.fractionCompleted) }
        let answer = try await upload.serializingDecodable(Hash.self).value
        queue.sync {}
        demo.printResult("passed \(marks.quarters.map { "\($0)%" }.joined(separator: ", "))")
        demo.printResult("\(answer.bytes >> 20) MiB arrived, SHA-256 \(answer.sha256.prefix(16))...")
        try demo.require(answer.bytes == data.count, "every byte arrives")
    }
}
