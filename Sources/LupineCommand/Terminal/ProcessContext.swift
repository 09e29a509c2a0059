// SPDX-License-Identifier: MIT

public import Foundation

/// The environment, the input and the outputs of the command, as values that tests can replace.
public struct ProcessContext: Sendable {
    /// The standard input.
    public struct Input: Sendable {
        /// The kind of an input.
        public enum Kind: Hashable, Sendable {
            /// A terminal.
            case terminal
            /// A pipe from another program.
            case pipe
            /// A file: it has a length and can be read again.
            case file
            /// A device that is no terminal, or no input at all.
            case other
        }

        /// The kind of the input.
        public var kind: Kind
        /// Returns the next bytes; nil at the end. Blocks.
        public var read: @Sendable () throws -> Data?
        /// A path that can be opened to read the same bytes, if there is one.
        public var path: String?
        /// Reads a line without echo.
        public var readSecret: @Sendable () throws -> String

        /// Creates an input that reads with `read`.
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

    /// The environment variables.
    public var environment: [String: String]
    /// The current directory.
    public var folder: String
    /// The standard input, which may be a body.
    public var input: Input
    /// The standard output, for content.
    public var output: Sink
    /// The standard error, for everything else: progress, reports, errors.
    public var errors: Sink
    /// Notifies listeners when the user interrupts the command.
    public var interruption: Interruption

    /// Creates a context.
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
        // A terminal whose locale is not UTF-8 gets no octets that such a terminal may take for controls.
        self.output.readsUTF8 = drawsUnicode
        self.errors.readsUTF8 = drawsUnicode
    }

    /// Returns the absolute path of a path that the user has typed. `~` stands for the home folder.
    func path(_ typedPath: String) -> String {
        if typedPath.hasPrefix("/") { return typedPath }
        if typedPath == "~" || typedPath.hasPrefix("~/") { return home + typedPath.dropFirst() }
        return folder + "/" + typedPath
    }

    /// The folder for temporary files.
    var temporaryFolder: URL {
        environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
            ?? FileManager.default.temporaryDirectory
    }

    /// The user's home folder.
    var home: String { environment["HOME"] ?? "/" }

    /// Whether the locale's encoding is UTF-8, so that the output may contain more than ASCII.
    var drawsUnicode: Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        let name = (locale ?? "").lowercased()
        return name.contains("utf-8") || name.contains("utf8")
    }

    /// Whether colours are written to a sink. Without `--color`, a terminal gets colours unless the environment has `NO_COLOR` or
    /// a dumb terminal.
    func usesColor(on sink: Sink, _ choice: Invocation.ColorChoice) -> Bool {
        switch choice {
        case .always: return true
        case .never: return false
        case .auto:
            let hasNoColor = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
            return sink.isTerminal && !hasNoColor && environment["TERM"] != "dumb"
        }
    }
}
