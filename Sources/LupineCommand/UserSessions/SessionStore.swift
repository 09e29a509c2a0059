// SPDX-License-Identifier: MIT

internal import Foundation

/// The files of `--session NAME`: one for each origin, or, if NAME is a path, that one file with all origins. Only their owner
/// can read them.
struct SessionStore: Sendable {
    /// The content of a file.
    private struct Content: Codable {
        struct Entry: Codable {
            var origin: String
            var cookies: [UserSession.Cookie]
            var headers: [UserSession.Field]
        }

        var origins: [Entry]
    }

    private enum Found {
        case nothing
        case sessions([SessionOrigin: UserSession])
        /// A file of the old format, without origins.
        case old(UserSession)
    }

    private let name: String
    private let context: ProcessContext

    init(_ name: String, _ context: ProcessContext) {
        self.name = name
        self.context = context
    }

    /// Returns the session of an origin. A file of the old format is split on the first access; `report` is called with messages
    /// about that, and about the header fields that are dropped.
    func session(for origin: SessionOrigin, report: (TerminalText) -> Void) throws -> UserSession {
        let path = path(for: origin)
        switch try Self.read(path) {
        case .sessions(let sessions): if let session = sessions[origin] { return session }
        case .old(let session): return try split(session, at: path, for: origin, report)
        case .nothing: break
        }
        guard let before = oldPath(for: origin), case .old(let session) = try Self.read(before) else {
            return UserSession()
        }
        return try split(session, at: before, for: origin, report)
    }

    /// Saves the sessions; those of other origins in the same files stay as they are.
    func save(_ sessions: [SessionOrigin: UserSession]) throws {
        let files = Dictionary(grouping: sessions.keys, by: path)
        for (path, origins) in files {
            var kept: [SessionOrigin: UserSession] = [:]
            if case .sessions(let before) = try Self.read(path) { kept = before }
            for origin in origins { kept[origin] = sessions[origin] }
            try Self.write(kept, to: path)
        }
    }

    private func split(
        _ old: UserSession, at path: String, for origin: SessionOrigin, _ report: (TerminalText) -> Void
    ) throws -> UserSession {
        let split = old.split(for: origin)
        var new: [SessionOrigin: UserSession] = [:]
        for (part, session) in split.sessions {
            // An origin's newer session takes precedence.
            if case .sessions(let before) = try Self.read(self.path(for: part)), before[part] != nil {
                continue
            }
            new[part] = session
        }
        if path != self.path(for: origin) {
            try save(new)
            do { try FileManager.default.removeItem(atPath: path) } catch {
                throw CommandFailure.unwritable(path, error)
            }
        } else {
            try Self.write(new, to: path)
        }
        report(
            "lupine: sessions belong to a scheme, a host and a port now: \(name) is that of \(origin.text)\n")
        if !split.dropped.isEmpty {
            report(
                "lupine: nobody knows for whom these fields of \(name) were meant, and they are given up; give them once more: \(split.dropped.joined(separator: ", "))\n"
            )
        }
        return split.sessions[origin] ?? UserSession()
    }

    // MARK: paths

    private func path(for origin: SessionOrigin) -> String {
        if name.contains("/") { return context.path(name) }
        return "\(root)/\(origin.folder)/\(PercentEncoding.encoded(name)).json"
    }

    private var root: String {
        let data = context.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (data ?? context.home + "/.local/share") + "/lupine/sessions"
    }

    /// The path of the old format, which kept sessions by host only.
    private func oldPath(for origin: SessionOrigin) -> String? {
        if name.contains("/") { return nil }
        let safe = { (text: String) in
            String(text.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" })
        }
        return "\(root)/\(safe(origin.host))/\(safe(name)).json"
    }

    // MARK: files

    private static func read(_ path: String) throws -> Found {
        guard FileManager.default.fileExists(atPath: path) else { return .nothing }
        do { return try found(in: PrivateFile.readTrusted(path)) } catch let failure as CommandFailure {
            throw failure
        } catch let distrust as PrivateFile.Distrust {
            let reason =
                switch distrust {
                case .anotherUsers:
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

    private static func found(in data: Data) throws -> Found {
        let decoder = JSONDecoder()
        guard let content = try? decoder.decode(Content.self, from: data) else {
            return .old(try decoder.decode(UserSession.self, from: data))
        }
        return .sessions(try sessions(content))
    }

    private static func sessions(_ content: Content) throws -> [SessionOrigin: UserSession] {
        var sessions: [SessionOrigin: UserSession] = [:]
        for entry in content.origins {
            guard let origin = SessionOrigin(text: entry.origin), sessions[origin] == nil else {
                throw CocoaError(.coderInvalidValue)
            }
            sessions[origin] = UserSession(cookies: entry.cookies, headers: entry.headers)
        }
        return sessions
    }

    /// Parses the content of a file; one of the old format is split for `origin`.
    static func sessions(in data: Data, for origin: SessionOrigin) throws -> [SessionOrigin: UserSession] {
        switch try found(in: data) {
        case .nothing: [:]
        case .sessions(let sessions): sessions
        case .old(let session): session.split(for: origin).sessions
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

    private static func write(_ sessions: [SessionOrigin: UserSession], to path: String) throws {
        do {
            let folder = (path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try PrivateFile.write(try text(sessions), to: path)
        } catch { throw CommandFailure.unwritable(path, error) }
    }
}
