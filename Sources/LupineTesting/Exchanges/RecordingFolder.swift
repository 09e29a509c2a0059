// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// A folder of recordings, with one file for each exchange, ordered by name. Reading and writing block.
struct RecordingFolder: Sendable {
    let url: URL
    let limits: RecordingLimits

    /// Returns the names of the recordings' files, sorted.
    private func fileNames() throws(RecordingError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: url.path)
                .filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        } catch {
            throw .notReadable(path: url.path, reason: error.localizedDescription)
        }
    }

    /// Throws when the folder contains recordings. The folder need not exist.
    func requireEmpty() throws(RecordingError) {
        guard FileManager.default.fileExists(atPath: url.path) else { return }
        guard try fileNames().isEmpty else { throw .inUse(path: url.path) }
    }

    /// Writes an exchange to a file that only its owner can read. `number` is that of the exchange in the recording, from 1 on.
    func write(_ exchange: RecordedExchange, number: Int) throws(RecordingError) {
        let file = url.appending(path: Self.fileName(exchange.request, number: number))
        guard number <= limits.files else { throw .tooMany(path: url.path, limit: limits.files) }
        let data: Data
        do { data = try exchange.data() } catch {
            throw .notWritable(path: file.path, reason: "\(error)")
        }
        guard data.count <= limits.fileBytes else {
            throw .tooLarge(path: file.path, limit: limits.fileBytes)
        }
        // The write does not wait for the disk: an exchange that a power loss destroys can be recorded again.
        do { try AtomicFile(file).replace(with: data, outlivesPowerLoss: false) } catch {
            throw .notWritable(path: file.path, reason: error.localizedDescription)
        }
    }

    /// Returns all exchanges, in order.
    func read() throws(RecordingError) -> [RecordedExchange] {
        let fileNames = try fileNames()
        guard !fileNames.isEmpty else { throw .empty(path: url.path) }
        guard fileNames.count <= limits.files else { throw .tooMany(path: url.path, limit: limits.files) }
        var exchanges: [RecordedExchange] = []
        var totalBytes = 0
        for name in fileNames {
            let file = url.appending(path: name)
            let data = try contents(of: file)
            totalBytes += data.count
            guard totalBytes <= limits.totalBytes else {
                throw .tooLarge(path: url.path, limit: limits.totalBytes)
            }
            exchanges.append(try RecordedExchange(data, path: file.path))
        }
        return exchanges
    }

    /// Returns the content of a file; throws if it exceeds the limit.
    private func contents(of file: URL) throws(RecordingError) -> Data {
        let data: Data
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            // Only regular files are opened: opening a named pipe would block until the pipe has a writer.
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                throw CocoaError(.fileReadUnknown)
            }
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            // One byte more than the limit shows that the file exceeds it.
            data = try handle.read(upToCount: limits.fileBytes + 1) ?? Data()
        } catch {
            throw .notReadable(path: file.path, reason: error.localizedDescription)
        }
        guard data.count <= limits.fileBytes else {
            throw .tooLarge(path: file.path, limit: limits.fileBytes)
        }
        return data
    }

    /// Returns a file name such as `0001-GET-api-test-users.json`.
    private static func fileName(_ request: RecordedExchange.Request, number: Int) -> String {
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let address = request.url.prefix { $0 != "?" && $0 != "#" }
        // The name leaves out the query and every character that is not an ASCII letter or digit.
        let words = "\(request.method) \(address.split(separator: "://").last ?? "")"
            .split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return "\(padded)-\(words.joined(separator: "-").prefix(80)).json"
    }
}
