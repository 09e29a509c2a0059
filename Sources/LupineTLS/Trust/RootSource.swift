// SPDX-License-Identifier: MIT

internal import Synchronization

/// The roots of a configuration, read when somebody needs one of them, and kept from then on. Any thread.
final class RootSource: Sendable {
    private final class Loaded: Sendable {
        let indexes: [RootIndex]

        init(_ indexes: [RootIndex]) { self.indexes = indexes }
    }

    private let roots: TrustRoots
    private let loaded = AtomicLazyReference<Loaded>()

    init(_ roots: TrustRoots) { self.roots = roots }

    /// The indexes, if they have been read.
    var indexes: [RootIndex]? { loaded.load()?.indexes }

    /// The indexes, in the order in which their certificates count. Blocks where they have to be read.
    ///
    /// - Throws: What cannot be read. It is tried again for the next who asks; the system's roots are read once per process.
    func load() throws(TrustRootsError) -> [RootIndex] {
        if let indexes { return indexes }
        var indexes: [RootIndex] = []
        if roots.includesSystem { indexes.append(try Self.system.get()) }
        var reader = RootReader()
        for path in roots.files { try reader.read(file: path) }
        for path in roots.directories { try reader.read(folder: path) }
        if !reader.entries.isEmpty { indexes.append(reader.index) }
        if !roots.certificates.isEmpty { indexes.append(RootIndex(roots.certificates)) }
        return loaded.storeIfNil(Loaded(indexes)).indexes
    }

    /// The system's roots.
    private static let system: Result<RootIndex, TrustRootsError> = Result {
        () throws(TrustRootsError) -> RootIndex in
        try SystemRoots.fromEnvironment().load()
    }
}
