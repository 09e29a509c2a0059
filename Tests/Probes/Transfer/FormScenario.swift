// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// The growth of a process that sends a form with a large file and a large stream to `/digest`, and does nothing else. The server
/// answers with the digest of the content.
struct FormScenario {
    let url: String
    /// Half of the form's content.
    let file: URL
    /// The number of bytes of the stream: the other half.
    let streamed: Int
    /// The expected response in hexadecimal.
    let expected: String
    /// The permitted growth in KiB.
    let limit: Int

    func staysSmall() async throws -> Bool {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = Session(configuration: configuration)
        guard await sent(session, { $0.append(Data("small".utf8), withName: "first") }) != nil else {
            return false
        }
        let before = try ProcessMemory.resident()
        let (file, streamed) = (file, streamed)
        let answer = await sent(session) { form in
            form.append(file, withName: "file")
            form.append(
                ZeroStream(streamed), withLength: UInt64(streamed), name: "stream", fileName: "zeros",
                mimeType: "application/octet-stream")
        }
        let grown = try ProcessMemory.peak() - before
        print("form: \(before) KiB before, grown by \(grown) KiB at most")
        return answer == expected && (grown < limit || !ProcessMemory.isMeasured)
    }

    private func sent(_ session: Session, _ fill: @escaping (MultipartFormData) -> Void) async -> String? {
        let form = MultipartFormData(boundary: "border")
        fill(form)
        let request = session.upload(multipartFormData: form, to: url + "/digest")
        return await withCheckedContinuation { continuation in
            request.responseData(queue: .global()) { response in
                if let error = response.error { print("form: \(error)") }
                let octets = response.value.map { $0.map { String(format: "%02x", $0) }.joined() }
                continuation.resume(returning: octets)
            }
        }
    }

    /// A stream of a given number of zeros.
    private final class ZeroStream: InputStream {
        private var left: Int

        init(_ count: Int) {
            left = count
            super.init(data: Data())
        }

        override func open() {}
        override func close() {}
        override var hasBytesAvailable: Bool { left > 0 }
        override var streamStatus: Stream.Status { left > 0 ? .open : .atEnd }
        override var streamError: (any Error)? { nil }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            let count = min(len, left)
            unsafe buffer.update(repeating: 0, count: count)
            left -= count
            return count
        }
    }
}
