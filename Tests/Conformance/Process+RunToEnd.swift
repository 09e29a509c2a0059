// SPDX-License-Identifier: MIT

import Foundation

extension Process {
    /// Runs the program without keeping a thread waiting for its end.
    func runToEnd() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            terminationHandler = { process in
                // The handler holds the process that holds the handler.
                process.terminationHandler = nil
                continuation.resume()
            }
            do { try run() } catch { continuation.resume(throwing: error) }
        }
    }
}
