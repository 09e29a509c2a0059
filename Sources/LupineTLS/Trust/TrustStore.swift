// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Trusted roots, loaded: a value to share between connections and threads.
///
/// The store is filled before it is wrapped and never again: OpenSSL locks it for look-ups, and no look-up method that
/// would load a file during a handshake is attached. Loading reads files and belongs on no loop thread.
package struct TrustStore: Sendable {
    let handle: OpenSSLHandle<StoreObject>

    /// Loads what `roots` describes. The system's roots are loaded once per process.
    package init(_ roots: TrustRoots) throws(TrustRootsError) {
        if roots.isPlainSystem {
            self = try TrustStore.system.get()
            return
        }
        var certificates = roots.includesSystem ? try TrustStore.system.get().certificates : []
        for path in roots.files { certificates += try TrustStore.bundle(path) }
        for path in roots.directories { certificates += try TrustStore.directory(path) }
        self.init(anchors: certificates + roots.certificates)
    }

    /// Nothing but these certificates, each of which ends a chain, be it a root, an intermediate or a leaf.
    package init(anchors: [Certificate]) {
        _ = OpenSSLLibrary.stays
        // Null only when memory is exhausted.
        guard let store = unsafe X509_STORE_new() else { preconditionFailure("OpenSSL is out of memory") }
        for anchor in anchors { unsafe _ = X509_STORE_add_cert(store, anchor.handle.pointer) }
        handle = unsafe OpenSSLHandle(owning: store)
    }

    /// What it trusts and these certificates too.
    package func adding(_ anchors: [Certificate]) -> TrustStore {
        TrustStore(anchors: certificates + anchors)
    }

    /// How many certificates it trusts; one that was given twice counts once.
    package var count: Int { certificates.count }

    /// What it trusts.
    package var certificates: [Certificate] {
        guard let stack = unsafe X509_STORE_get1_all_certs(handle.pointer) else { return [] }
        defer { unsafe lupine_sk_X509_pop_free(stack) }
        return unsafe Certificate.all(in: stack)
    }

    /// The certificates of a file, which has to have some.
    static func bundle(_ path: String) throws(TrustRootsError) -> [Certificate] {
        do throws(CertificateError) {
            return try Certificate.bundle(file: path)
        } catch {
            throw .unusable(path: path, error)
        }
    }

    /// The certificates of a directory's files, which have to have some.
    static func directory(_ path: String) throws(TrustRootsError) -> [Certificate] {
        do throws(CertificateError) {
            let certificates = try Certificate.directory(path: path)
            if !certificates.isEmpty { return certificates }
        } catch {
            throw .unusable(path: path, error)
        }
        throw .empty(path: path)
    }

    /// The system's roots.
    package static let system: Result<TrustStore, TrustRootsError> = Result {
        () throws(TrustRootsError) -> TrustStore in
        try TrustStore(anchors: SystemRoots.fromEnvironment().load())
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
