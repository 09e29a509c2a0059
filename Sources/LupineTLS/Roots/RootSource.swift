// SPDX-License-Identifier: MIT

internal import Synchronization

/// The roots of a configuration, read on first use and then cached. May be used on any thread.
final class RootSource: Sendable {
    private final class LoadedRoots: Sendable {
        let indexes: [RootIndex]
        /// The name of the roots (`TrustRoots.name`) while they were read.
        let name: String

        init(_ indexes: [RootIndex], name: String) {
            self.indexes = indexes
            self.name = name
        }
    }

    private let roots: TrustRoots
    private let loaded = AtomicLazyReference<LoadedRoots>()

    init(_ roots: TrustRoots) { self.roots = roots }

    /// Identifies the roots (`TrustRoots.name`): the name at the time they were read; before that, the current name.
    var name: String { loaded.load()?.name ?? roots.name }

    /// The indexes, if they have been read.
    var indexes: [RootIndex]? { loaded.load()?.indexes }

    /// Returns the indexes in order of precedence. Blocks if they have to be read.
    ///
    /// - Throws: The error of what cannot be read. The next call tries again, except for the system's roots, which are read once
    ///   per process.
    func load() throws(TrustRootsError) -> [RootIndex] {
        if let indexes { return indexes }
        let (indexes, name) = try Self.readConsistently(roots.name, read)
        return loaded.storeIfNil(LoadedRoots(indexes, name: name)).indexes
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

    /// Calls `read`, and returns its result with the name of the files, which describes their state. If the name changes while
    /// `read` runs, calls it again, up to three times; files that keep changing get a unique random name.
    static func readConsistently<Content>(
        _ name: @autoclosure () -> String, _ read: () throws(TrustRootsError) -> Content
    ) throws(TrustRootsError) -> (content: Content, name: String) {
        for _ in 0..<3 {
            let before = name()
            let content = try read()
            if name() == before { return (content, before) }
        }
        return (try read(), "\(UInt64.random(in: 0 ... .max))-\(UInt64.random(in: 0 ... .max))")
    }
}
