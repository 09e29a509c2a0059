// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Trusted roots: a value to share between connections and threads.
///
/// What is described by files is read when it is first needed, and a certificate is parsed when a chain asks for its name. Reading
/// blocks and belongs on no loop's thread: whoever is on one looks at `isLoaded`, and has a worker call `load` otherwise. Everything
/// else is CPU time alone.
package struct TrustStore: Sendable {
    private enum Layer: Sendable {
        case index(RootIndex)
        case source(RootSource)
    }

    private let layers: [Layer]
    /// The name of roots that are not read from files; nil for a store that nobody has described.
    private let fixedName: String?

    private init(_ layers: [Layer], name: String? = nil) {
        self.layers = layers
        fixedName = name
    }

    /// What `roots` describes; nothing is read yet.
    package init(_ roots: TrustRoots) {
        if roots.isPlainSystem {
            self = .system
        } else if roots.includesSystem || !roots.files.isEmpty || !roots.directories.isEmpty {
            self.init([.source(RootSource(roots))])
        } else {
            self.init([.index(RootIndex(roots.certificates))], name: roots.name)
        }
    }

    /// What tells the roots from others, also in another process (`TrustRoots.name`): as they were read; before that, as their files
    /// are now. Nil for one that was not made of a description.
    package var name: String? {
        if case .source(let source)? = layers.first, layers.count == 1 { return source.name }
        return fixedName
    }

    /// Nothing but these certificates, each of which ends a chain, be it a root, an intermediate or a leaf.
    package init(anchors: [Certificate]) { self.init([.index(RootIndex(anchors))]) }

    /// The system's roots, shared by all who use them.
    package static let system = TrustStore([.source(RootSource(.system))])

    /// What it trusts and these certificates too.
    package func adding(_ anchors: [Certificate]) -> TrustStore {
        TrustStore(layers + [.index(RootIndex(anchors))])
    }

    /// Whether everything has been read.
    package var isLoaded: Bool {
        layers.allSatisfy {
            switch $0 {
            case .index: true
            case .source(let source): source.indexes != nil
            }
        }
    }

    /// Reads what has not been read.
    package func load() throws(TrustRootsError) {
        for case .source(let source) in layers { _ = try source.load() }
    }

    /// What it has cost so far: files read, certificates parsed.
    package var usage: (filesRead: Int, parsed: Int) {
        var usage = (filesRead: 0, parsed: 0)
        for layer in layers {
            let indexes =
                switch layer {
                case .index(let index): [index]
                case .source(let source): source.indexes ?? []
                }
            for index in indexes {
                usage.filesRead += index.filesRead
                usage.parsed += index.parsedCount
            }
        }
        return usage
    }

    /// What it trusts, each once; all of it is read and parsed for that. Without what cannot be read.
    package var certificates: [Certificate] {
        var failure: TrustRootsError?
        var known: Set<Certificate> = []
        return indexes(failure: &failure).flatMap(\.certificates).filter { known.insert($0).inserted }
    }

    /// How many certificates it trusts.
    package var count: Int { certificates.count }

    /// Those of its certificates that a path through these others could come to: the ones with the name of one of them, or of the
    /// issuer of one of them or of another anchor that was found.
    func anchors(for certificates: [Certificate]) -> Anchors {
        var anchors = Anchors()
        let indexes = indexes(failure: &anchors.failure)
        guard !indexes.isEmpty else { return anchors }
        var known: Set<OpenSSLName> = []
        var wanted = certificates.flatMap { [OpenSSLName(subjectOf: $0), OpenSSLName(issuerOf: $0)] }
        while let next = wanted.popLast() {
            guard let name = next, known.insert(name).inserted else { continue }
            for index in indexes {
                for anchor in index.certificates(named: name, failure: &anchors.failure) {
                    anchors.certificates.append(anchor)
                    wanted.append(OpenSSLName(issuerOf: anchor))
                }
            }
        }
        return anchors
    }

    /// What was found for a chain.
    struct Anchors {
        /// Those of one name in the order of the store.
        var certificates: [Certificate] = []
        /// What could not be read or parsed.
        var failure: TrustRootsError?

        /// OpenSSL's form of them.
        ///
        /// It is filled before it is wrapped and never again, and no look-up method that would load a file is attached.
        var handle: OpenSSLHandle<StoreObject> {
            _ = OpenSSLLibrary.stays
            // Null only when memory is exhausted.
            guard let store = unsafe X509_STORE_new() else { preconditionFailure("OpenSSL is out of memory") }
            for anchor in certificates { unsafe _ = X509_STORE_add_cert(store, anchor.handle.pointer) }
            return unsafe OpenSSLHandle(owning: store)
        }
    }

    private func indexes(failure: inout TrustRootsError?) -> [RootIndex] {
        var indexes: [RootIndex] = []
        for layer in layers {
            switch layer {
            case .index(let index): indexes.append(index)
            case .source(let source):
                do throws(TrustRootsError) { indexes += try source.load() } catch { failure = error }
            }
        }
        return indexes
    }
}

extension Certificate {
    /// The certificates of a stack that somebody else owns.
    static func all(in stack: OpaquePointer) -> [Certificate] {
        var all: [Certificate] = []
        let count = unsafe lupine_sk_X509_num(stack)
        for index in 0..<max(count, 0) {
            guard let pointer = unsafe lupine_sk_X509_value(stack, index) else { continue }
            unsafe all.append(Certificate(OpenSSLHandle(sharing: pointer)))
        }
        return all
    }
}
