// SPDX-License-Identifier: MIT

internal import Foundation

/// Reads and writes the files of `--session NAME`: one file for each origin, or, if NAME is a path, one file with all origins.
/// Only their owner can read them.
struct SessionStore: Sendable {
    /// The content of a file in the new format.
    private struct Content: Codable {
        /// The session of one origin.
        struct Entry: Codable {
            var origin: String
            var cookies: [UserSession.Cookie]
            var headers: [UserSession.Field]
        }

        var origins: [Entry]
    }

    /// What is at the path of a file.
    private enum FileState {
        case missing
        /// A file of the new format, with the session of each origin.
        case sessions([SessionOrigin: UserSession])
        /// A file of the old format, which has no origins.
        case oldFormat(UserSession)
    }

    /// The argument of `--session`: a name, or a path if it has a slash.
    private let name: String
    private let context: ProcessContext

    init(_ name: String, _ context: ProcessContext) {
        self.name = name
        self.context = context
    }

    /// Returns the session of an origin, which is empty if there is none. Splits a file of the old format on the first access.
    ///
    /// - Parameters:
    ///   - origin: The origin.
    ///   - report: Prints a message. It is called if a file of the old format was split, and if header fields were dropped.
    func session(for origin: SessionOrigin, report: (TerminalText) -> Void) throws -> UserSession {
        let path = path(for: origin)
        switch try Self.read(path) {
        case .sessions(let sessions): if let session = sessions[origin] { return session }
        case .oldFormat(let session): return try split(session, at: path, for: origin, report)
        case .missing: break
        }
        // A name may still have a file of the old format, at the old path.
        guard let oldPath = oldPath(for: origin), case .oldFormat(let session) = try Self.read(oldPath) else {
            return UserSession()
        }
        return try split(session, at: oldPath, for: origin, report)
    }

    /// Saves the sessions. Sessions of other origins in the same files stay as they are.
    func save(_ sessions: [SessionOrigin: UserSession]) throws {
        let originsByPath = Dictionary(grouping: sessions.keys, by: path)
        for (path, origins) in originsByPath {
            var merged: [SessionOrigin: UserSession] = [:]
            if case .sessions(let existing) = try Self.read(path) { merged = existing }
            for origin in origins { merged[origin] = sessions[origin] }
            try Self.write(merged, to: path)
        }
    }

    /// Replaces a file of the old format by files with origins, and returns the session of `origin`.
    private func split(
        _ oldSession: UserSession, at path: String, for origin: SessionOrigin,
        _ report: (TerminalText) -> Void
    ) throws -> UserSession {
        let result = oldSession.split(for: origin)
        var newSessions: [SessionOrigin: UserSession] = [:]
        for (newOrigin, session) in result.sessions {
            // A session that the origin already has takes precedence.
            let newPath = self.path(for: newOrigin)
            if case .sessions(let existing) = try Self.read(newPath), existing[newOrigin] != nil {
                continue
            }
            newSessions[newOrigin] = session
        }
        // A file at the old path of a name is replaced by files at other paths. Any other file is replaced in place.
        if path != self.path(for: origin) {
            // The sessions are saved before the old file is removed, so that an error loses nothing.
            try save(newSessions)
            do { try FileManager.default.removeItem(atPath: path) } catch {
                throw CommandFailure.unwritable(path, error)
            }
        } else {
            try Self.write(newSessions, to: path)
        }
        report(
            "lupine: sessions belong to a scheme, a host and a port now: \(name) is that of \(origin.text)\n")
        if !result.droppedFields.isEmpty {
            report(
                "lupine: nobody knows for whom these fields of \(name) were meant, and they are given up; give them once more: \(result.droppedFields.joined(separator: ", "))\n"
            )
        }
        return result.sessions[origin] ?? UserSession()
    }

    // MARK: paths

    /// Returns the path of the file with the session of an origin.
    private func path(for origin: SessionOrigin) -> String {
        if name.contains("/") { return context.path(name) }
        return "\(root)/\(origin.folder)/\(PercentEncoding.encoded(name)).json"
    }

    /// The folder of all sessions, which is in the data folder of the XDG Base Directory Specification.
    private var root: String {
        let dataFolder = context.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (dataFolder ?? context.home + "/.local/share") + "/lupine/sessions"
    }

    /// Returns the path of the old format, which distinguished sessions by host only; nil if NAME is a path.
    private func oldPath(for origin: SessionOrigin) -> String? {
        if name.contains("/") { return nil }
        let sanitized = { (text: String) in
            String(text.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" })
        }
        return "\(root)/\(sanitized(origin.host))/\(sanitized(name)).json"
    }

    // MARK: files

    /// Reads a file. Throws if others may have changed it (`PrivateFile.Distrust`), or this command has not written it.
    private static func read(_ path: String) throws -> FileState {
        guard FileManager.default.fileExists(atPath: path) else { return .missing }
        do { return try parse(PrivateFile.readTrusted(path)) } catch let failure as CommandFailure {
            throw failure
        } catch let distrust as PrivateFile.Distrust {
            let reason =
                switch distrust {
                case .ownedByAnotherUser:
                    "it belongs to another user. Copy it, if you trust what it sends in your name."
                case .writableByOthers:
                    "others can write to it. Run chmod 600 on it, if you trust what it sends in your name."
                }
            throw CommandFailure(.read, "Cannot read the session \(path): \(reason)")
        } catch {
            throw CommandFailure(
                .read,
                "Cannot read the session \(path): it is not what this command writes. Remove the file, or use another name."
            )
        }
    }

    /// Parses the content of a file, of the new or the old format.
    private static func parse(_ data: Data) throws -> FileState {
        let decoder = JSONDecoder()
        guard let content = try? decoder.decode(Content.self, from: data) else {
            return .oldFormat(try decoder.decode(UserSession.self, from: data))
        }
        return .sessions(try sessions(in: content))
    }

    /// Returns the sessions of a file; throws if an origin is invalid or occurs twice.
    private static func sessions(in content: Content) throws -> [SessionOrigin: UserSession] {
        var sessions: [SessionOrigin: UserSession] = [:]
        for entry in content.origins {
            guard let origin = SessionOrigin(text: entry.origin), sessions[origin] == nil else {
                throw CocoaError(.coderInvalidValue)
            }
            sessions[origin] = UserSession(cookies: entry.cookies, headers: entry.headers)
        }
        return sessions
    }

    /// Returns the sessions in the content of a file. A session of the old format is split for `origin`.
    static func sessions(in data: Data, for origin: SessionOrigin) throws -> [SessionOrigin: UserSession] {
        switch try parse(data) {
        // `parse` never returns `.missing`, which only `read` does.
        case .missing: [:]
        case .sessions(let sessions): sessions
        case .oldFormat(let session): session.split(for: origin).sessions
        }
    }

    /// Returns the content of a file with these sessions.
    static func text(_ sessions: [SessionOrigin: UserSession]) throws -> Data {
        let entries = sessions.sorted { $0.key.text < $1.key.text }.map {
            Content.Entry(origin: $0.key.text, cookies: $0.value.cookies, headers: $0.value.headers)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Content(origins: entries))
    }

    /// Writes a file of the new format, and creates its folder if necessary.
    private static func write(_ sessions: [SessionOrigin: UserSession], to path: String) throws {
        do {
            let folder = (path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try PrivateFile.write(try text(sessions), to: path)
        } catch { throw CommandFailure.unwritable(path, error) }
    }
}
