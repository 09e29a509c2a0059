// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Trusted roots: a value, shared between connections and threads.
///
/// Files are read on first use, and a certificate is parsed when a chain needs a certificate with its subject. Reading blocks
/// and must not happen on an event loop's thread. Code on such a thread checks `isLoaded`; if it is false, a worker thread has to
/// call `load` first. Everything else takes only CPU time.
package struct TrustStore: Sendable {
    private enum Layer: Sendable {
        /// Certificates that are in memory.
        case index(RootIndex)
        /// Roots that are read on first use.
        case source(RootSource)
    }

    /// The parts of the store, in order of precedence.
    private let layers: [Layer]
    /// The name (`TrustRoots.name`) of roots that are all in memory. Nil if they are read from files, and for a store that was
    /// not created from a `TrustRoots`.
    private let fixedName: String?

    private init(_ layers: [Layer], name: String? = nil) {
        self.layers = layers
        fixedName = name
    }

    /// Creates a store for `roots`; nothing is read yet.
    package init(_ roots: TrustRoots) {
        if roots.isPlainSystem {
            // All stores of the system's roots share one source, so that the roots are read once.
            self = .system
        } else if roots.includesSystem || !roots.files.isEmpty || !roots.directories.isEmpty {
            self.init([.source(RootSource(roots))])
        } else {
            self.init([.index(RootIndex(roots.certificates))], name: roots.name)
        }
    }

    /// Identifies the roots (`TrustRoots.name`). Before they are read, this is the current name; afterwards, the name that they
    /// had when they were read. Nil for a store that was not created from a `TrustRoots`.
    package var name: String? {
        if case .source(let source)? = layers.first, layers.count == 1 { return source.name }
        return fixedName
    }

    /// Creates a store of these certificates only. Each ends a chain, whether it is a root, an intermediate or a leaf.
    package init(anchors: [Certificate]) { self.init([.index(RootIndex(anchors))]) }

    /// The system's roots, shared in the process.
    package static let system = TrustStore([.source(RootSource(.system))])

    /// Returns a store that trusts these certificates too.
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

    /// Reads what has not been read yet. Blocks.
    package func load() throws(TrustRootsError) {
        for case .source(let source) in layers { _ = try source.load() }
    }

    /// The numbers of files read and of certificates parsed on demand so far. Tests check that reading and parsing happen only
    /// when needed.
    package var statistics: (filesRead: Int, certificatesParsed: Int) {
        var statistics = (filesRead: 0, certificatesParsed: 0)
        for layer in layers {
            let indexes =
                switch layer {
                case .index(let index): [index]
                case .source(let source): source.indexes ?? []
                }
            for index in indexes {
                statistics.filesRead += index.filesRead
                statistics.certificatesParsed += index.parsedCount
            }
        }
        return statistics
    }

    /// All trusted certificates, without duplicates and without those that cannot be read. Reads and parses everything.
    package var certificates: [Certificate] {
        // An error is ignored: the roots that cannot be read are missing in the result.
        var failure: TrustRootsError?
        var seenCertificates: Set<Certificate> = []
        return indexes(failure: &failure).flatMap(\.certificates).filter {
            seenCertificates.insert($0).inserted
        }
    }

    /// The number of trusted certificates. Reads and parses everything.
    package var count: Int { certificates.count }

    /// Returns the anchors (trusted certificates) that a path through these certificates could reach: those whose subject is the
    /// subject or issuer of one of the certificates, or the issuer of another returned anchor.
    func anchors(for certificates: [Certificate]) -> Anchors {
        var anchors = Anchors()
        let indexes = indexes(failure: &anchors.failure)
        guard !indexes.isEmpty else { return anchors }
        var seenNames: Set<OpenSSLName> = []
        var namesToFind = certificates.flatMap { [OpenSSLName(subjectOf: $0), OpenSSLName(issuerOf: $0)] }
        while let next = namesToFind.popLast() {
            // `next` is nil if memory was exhausted when OpenSSL copied the name.
            guard let name = next, seenNames.insert(name).inserted else { continue }
            for index in indexes {
                for anchor in index.certificates(named: name, failure: &anchors.failure) {
                    anchors.certificates.append(anchor)
                    namesToFind.append(OpenSSLName(issuerOf: anchor))
                }
            }
        }
        return anchors
    }

    /// The anchors for a chain.
    struct Anchors {
        /// The anchors. Those with the same subject are in the store's order.
        var certificates: [Certificate] = []
        /// The error of roots that could not be read, or of an anchor that could not be parsed.
        var failure: TrustRootsError?

        /// The anchors as an OpenSSL store.
        ///
        /// Nothing modifies it after it is wrapped in the handle. It has no lookup method that would load a file.
        var handle: OpenSSLHandle<StoreObject> {
            // The first access in the process initializes OpenSSL.
            _ = OpenSSLLibrary.isInitialized
            // Null only when memory is exhausted.
            guard let store = unsafe X509_STORE_new() else { preconditionFailure("OpenSSL is out of memory") }
            // The result is ignored: an anchor that is missing can only make a chain fail.
            for anchor in certificates { unsafe _ = X509_STORE_add_cert(store, anchor.handle.pointer) }
            return unsafe OpenSSLHandle(owning: store)
        }
    }

    /// Returns the indexes of all layers, reading them if necessary. Sets `failure` to the error of roots that cannot be read.
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
    /// Returns the certificates in a stack of OpenSSL (a C array of pointers), and retains each.
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
