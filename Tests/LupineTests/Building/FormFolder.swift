// SPDX-License-Identifier: MIT

import Foundation

/// A temporary folder of one test, removed with this object.
final class FormFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "lupine-form-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The URL of a name in the folder, where no file exists yet.
    subscript(name: String) -> URL { url.appendingPathComponent(name) }

    /// Writes a new file in the folder, and returns its URL.
    func file(_ name: String, _ bytes: some Sequence<UInt8>) throws -> URL {
        try Data(bytes).write(to: self[name])
        return self[name]
    }

    /// The names of the files in the folder.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }
}

/// A stream that delivers given pieces, and then fails or ends.
final class ScriptedStream: InputStream {
    struct Failure: Error {}

    private var pieces: [[UInt8]]
    private let fails: Bool
    private var status = Stream.Status.notOpen
    private(set) var openings = 0
    private(set) var closings = 0

    init(_ pieces: [[UInt8]], fails: Bool = false) {
        self.pieces = pieces
        self.fails = fails
        super.init(data: Data())
    }

    override func open() {
        openings += 1
        status = .open
    }

    override func close() {
        closings += 1
        status = .closed
    }

    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? { status == .error ? Failure() : nil }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        guard !pieces.isEmpty else {
            if fails { status = .error }
            return fails ? -1 : 0
        }
        let piece = pieces.removeFirst()
        for (index, byte) in piece.prefix(length).enumerated() { unsafe buffer[index] = byte }
        if piece.count > length { pieces.insert(Array(piece.dropFirst(length)), at: 0) }
        return min(piece.count, length)
    }
}
