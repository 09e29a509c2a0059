// SPDX-License-Identifier: MIT

internal import Synchronization

/// The roots of a configuration, read when somebody needs one of them, and kept from then on. Any thread.
final class RootSource: Sendable {
    private final class Loaded: Sendable {
        let indexes: [RootIndex]
        /// What they were called while they were read.
        let name: String

        init(_ indexes: [RootIndex], name: String) {
            self.indexes = indexes
            self.name = name
        }
    }

    private let roots: TrustRoots
    private let loaded = AtomicLazyReference<Loaded>()

    init(_ roots: TrustRoots) { self.roots = roots }

    /// What tells the roots from others: their name as they were read; before that, as their files are now.
    var name: String { loaded.load()?.name ?? roots.name }

    /// The indexes, if they have been read.
    var indexes: [RootIndex]? { loaded.load()?.indexes }

    /// The indexes, in the order in which their certificates count. Blocks where they have to be read.
    ///
    /// - Throws: What cannot be read. It is tried again for the next who asks; the system's roots are read once per process.
    func load() throws(TrustRootsError) -> [RootIndex] {
        if let indexes { return indexes }
        let (indexes, name) = try Self.reading(roots.name, read)
        return loaded.storeIfNil(Loaded(indexes, name: name)).indexes
    }

    private func read() throws(TrustRootsError) -> [RootIndex] {
        var indexes: [RootIndex] = []
        if roots.includesSystem { indexes.append(try SystemRoots.reading.index.get()) }
        var reader = RootReader()
        for path in roots.files { try reader.read(file: path) }
        for path in roots.directories { try reader.read(folder: path) }
        if !reader.entries.isEmpty { indexes.append(reader.index) }
        if !roots.certificates.isEmpty { indexes.append(RootIndex(roots.certificates)) }
        return indexes
    }

    /// Reads files, and gives the name that they had meanwhile. When they are written to at the same time, they are read again; those
    /// that do not come to rest have a name that nobody else's have.
    static func reading<Content>(
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
