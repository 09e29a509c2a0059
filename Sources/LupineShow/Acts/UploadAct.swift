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
            .uploadProgress(queue: queue) { progress in quarters.add(progress.fractionCompleted) }
        let answer = try await upload.serializingDecodable(Hash.self).value
        """

    /// The answer of the origin: the number of bytes that it has received, and their hash.
    struct Hash: Decodable, Sendable { let bytes: Int, sha256: String }

    /// Records the quarters that the progress has reached, in percent.
    final class Quarters: Sendable {
        private let reachedQuarters = Lock<Set<Int>>([])
        var percentages: [Int] { reachedQuarters.withLock { $0.sorted() } }
        func add(_ fraction: Double) {
            // Rounds down to a multiple of 25 percent.
            reachedQuarters.withLock { _ = $0.insert(Int(fraction * 4) * 25) }
        }
    }

    static func run(in demo: DemoContext) async throws {
        let (session, root) = (demo.session, demo.root)
        let data = Data(repeating: UInt8(ascii: "l"), count: 32 << 20)
        let quarters = Quarters()
        let queue = DispatchQueue(label: "demo.progress")
        let upload = session.upload(data, to: "\(root)/hash")
            .uploadProgress(queue: queue) { progress in quarters.add(progress.fractionCompleted) }
        let answer = try await upload.serializingDecodable(Hash.self).value
        // Waits for the progress closures that are already on the queue.
        queue.sync {}
        demo.printResult("passed \(quarters.percentages.map { "\($0)%" }.joined(separator: ", "))")
        demo.printResult("\(answer.bytes >> 20) MiB arrived, SHA-256 \(answer.sha256.prefix(16))...")
        try demo.require(answer.bytes == data.count, "every byte arrives")
    }
}
