// SPDX-License-Identifier: MIT

internal import Synchronization

/// The roots of a configuration, read on first use and then cached. May be used on any thread.
final class RootSource: Sendable {
    /// The roots after reading. A class, because `AtomicLazyReference` stores objects.
    private final class LoadedRoots: Sendable {
        let indexes: [RootIndex]
        /// The name that the roots had when they were read (`TrustRoots.name`, a digest of the state of their files).
        let name: String

        init(_ indexes: [RootIndex], name: String) {
            self.indexes = indexes
            self.name = name
        }
    }

    private let roots: TrustRoots
    private let loadedRoots = AtomicLazyReference<LoadedRoots>()

    init(_ roots: TrustRoots) { self.roots = roots }

    /// Identifies the roots (`TrustRoots.name`). Before they are read, this is the current name; afterwards, the name that they
    /// had when they were read.
    var name: String { loadedRoots.load()?.name ?? roots.name }

    /// The indexes of the roots; nil before they are read.
    var indexes: [RootIndex]? { loadedRoots.load()?.indexes }

    /// Returns the indexes in order of precedence. Blocks if they have to be read.
    ///
    /// - Throws: The error of a file or folder that cannot be read. The next call tries again, except for the system's roots,
    ///   which are read once per process.
    func load() throws(TrustRootsError) -> [RootIndex] {
        if let indexes { return indexes }
        // `roots.name` is an autoclosure, evaluated repeatedly to notice a change of the files.
        let (indexes, name) = try Self.readConsistently(roots.name, read)
        // Two threads may both read the roots; the first result is stored and returned to both threads.
        return loadedRoots.storeIfNil(LoadedRoots(indexes, name: name)).indexes
    }

    /// Reads all roots that the configuration describes.
    private func read() throws(TrustRootsError) -> [RootIndex] {
        var indexes: [RootIndex] = []
        if roots.includesSystem { indexes.append(try SystemRoots.shared.index.get()) }
        var reader = RootReader()
        for path in roots.files { try reader.read(file: path) }
        for path in roots.directories { try reader.read(folder: path) }
        if !reader.entries.isEmpty { indexes.append(reader.index) }
        if !roots.certificates.isEmpty { indexes.append(RootIndex(roots.certificates)) }
        return indexes
    }

    /// Calls `read`, and returns its result with the name of the roots.
    ///
    /// The name describes the state of the files. If it changes during the call, the result may be a mixture of old and new
    /// files, so `read` is called again. After three such calls, the result of a fourth gets a unique random name.
    static func readConsistently<Content>(
        _ name: @autoclosure () -> String, _ read: () throws(TrustRootsError) -> Content
    ) throws(TrustRootsError) -> (content: Content, name: String) {
        for _ in 0..<3 {
            let nameBefore = name()
            let content = try read()
            if name() == nameBefore { return (content, nameBefore) }
        }
        return (try read(), "\(UInt64.random(in: 0 ... .max))-\(UInt64.random(in: 0 ... .max))")
    }
}
