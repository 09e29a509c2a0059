// SPDX-License-Identifier: MIT

public import Foundation

/// Where the command runs: what it is given and where it writes, as values, so that a test can be the shell.
public struct ProcessContext: Sendable {
    /// The standard input.
    public struct Input: Sendable {
        /// What it is.
        public enum Kind: Hashable, Sendable {
            /// Somebody types.
            case terminal
            /// Another program writes.
            case pipe
            /// It has a length, and can be read again.
            case file
            /// A device, or nothing at all.
            case other
        }

        /// What it is.
        public var kind: Kind
        /// The next bytes; nil at the end. Blocks.
        public var read: @Sendable () throws -> Data?
        /// A path that can be opened for the same bytes, if there is one.
        public var path: String?
        /// A line of which nothing is shown while it is typed.
        public var readSecret: @Sendable () throws -> String

        /// An input that is read by `read`.
        public init(
            kind: Kind, path: String? = nil, read: @escaping @Sendable () throws -> Data? = { nil },
            readSecret: @escaping @Sendable () throws -> String = { "" }
        ) {
            self.kind = kind
            self.path = path
            self.read = read
            self.readSecret = readSecret
        }
    }

    /// The variables of the environment.
    public var environment: [String: String]
    /// The folder that relative paths begin in.
    public var folder: String
    /// What can be a body.
    public var input: Input
    /// Where content goes.
    public var output: Sink
    /// Where everything else goes: progress, reports, errors.
    public var errors: Sink
    /// Says when the user wants it to end.
    public var interruption: Interruption

    /// ProcessContext of these parts.
    public init(
        environment: [String: String], folder: String, input: Input, output: Sink, errors: Sink,
        interruption: Interruption = Interruption()
    ) {
        self.environment = environment
        self.folder = folder
        self.input = input
        self.output = output
        self.errors = errors
        self.interruption = interruption
        self.output.readsUTF8 = drawsUnicode
        self.errors.readsUTF8 = drawsUnicode
    }

    /// A path as the user typed it, from the root.
    func path(_ typed: String) -> String {
        if typed.hasPrefix("/") { return typed }
        if typed == "~" || typed.hasPrefix("~/") { return home + typed.dropFirst() }
        return folder + "/" + typed
    }

    /// Where files are made that are gone at the end.
    var temporaryFolder: URL {
        environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
            ?? FileManager.default.temporaryDirectory
    }

    /// The user's folder.
    var home: String { environment["HOME"] ?? "/" }

    /// Whether what is drawn may use more than ASCII: as the locale says.
    var drawsUnicode: Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        let name = (locale ?? "").lowercased()
        return name.contains("utf-8") || name.contains("utf8")
    }

    /// Whether colours go to a sink.
    func usesColor(on sink: Sink, _ choice: Invocation.Choice) -> Bool {
        switch choice {
        case .always: return true
        case .never: return false
        case .auto:
            let isForbidden = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
            return sink.isTerminal && !isForbidden && environment["TERM"] != "dumb"
        }
    }
}
