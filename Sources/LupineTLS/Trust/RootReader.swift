// SPDX-License-Identifier: MIT

/// Reads the files and folders that trusted certificates are kept in, and parses none of them that can be told by its outline.
///
/// It blocks while it reads: never on a loop's thread. What it reads has limits: `PEM.largestSize` for a file, `namesLimit` and
/// `contentLimit` for a folder.
package struct RootReader {
    private(set) var entries: [RootEntry] = []
    private var filesRead = 0
    private let namesLimit: Int
    private let contentLimit: Int

    /// How many octets the names in a folder may have together.
    package static let longestNames = 4 << 20

    /// A reader that has read nothing.
    ///
    /// - Parameters:
    ///   - namesLimit: How many octets the names in a folder may have together.
    ///   - contentLimit: How many octets the files of a folder may have together.
    package init(namesLimit: Int = longestNames, contentLimit: Int = 64 << 20) {
        self.namesLimit = namesLimit
        self.contentLimit = contentLimit
    }

    /// What was read.
    package var index: RootIndex { RootIndex(entries, filesRead: filesRead) }

    /// Takes the certificates of a file, PEM or one in DER, which has to have some.
    mutating func read(file path: String) throws(TrustRootsError) {
        do throws(CertificateError) {
            let bytes = try CertificateFile.read(path, limit: PEM.largestSize)
            filesRead += 1
            try read(content: bytes, of: path)
        } catch {
            throw .unusable(path: path, error)
        }
    }

    /// Takes the certificates in what a file holds, which has to have some.
    package mutating func read(content bytes: [UInt8], of path: String) throws(CertificateError) {
        entries += try Self.entries(in: bytes, of: path, isLenient: false)
    }

    /// Takes the certificates of a folder's regular files, whatever their names, except those that begin with a dot. What is no
    /// certificate is passed over, and what can be read is not held up by what cannot; but there have to be some.
    ///
    /// A file that has several names, as one has that is linked to by its hash, is read once.
    mutating func read(folder path: String) throws(TrustRootsError) {
        var found: [RootEntry] = []
        do throws(CertificateError) {
            var known: Set<CertificateFile.Identity> = []
            var size = 0
            for name in try CertificateFile.names(in: path, limit: namesLimit) where !name.hasPrefix(".") {
                let file = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
                guard
                    let bytes =
                        (try? CertificateFile.readRegular(file, limit: PEM.largestSize, unless: &known))
                        ?? nil
                else { continue }
                filesRead += 1
                size += bytes.count
                guard size <= contentLimit else {
                    throw .tooLarge(.folder, count: size, limit: contentLimit)
                }
                found += (try? Self.entries(in: bytes, of: file, isLenient: true)) ?? []
            }
        } catch {
            throw .unusable(path: path, error)
        }
        guard !found.isEmpty else { throw .empty(path: path) }
        entries += found
    }

    /// The certificates of a file's content, as `Certificate.bundle(file:)` tells them.
    private static func entries(
        in bytes: [UInt8], of path: String, isLenient: Bool
    ) throws(CertificateError) -> [RootEntry] {
        var entries: [RootEntry] = []
        func add(_ der: [UInt8], trustSettings: Bool) throws(CertificateError) {
            let origin = RootEntry.Origin(path: path, number: entries.count + 1, isLenient: isLenient)
            entries.append(try RootEntry(der: der, trustSettings: trustSettings, origin))
        }
        do throws(CertificateError) {
            guard PEM.isLikely(bytes) else {
                try add(bytes, trustSettings: false)
                return entries
            }
            for block in try PEM.blocks(in: bytes) {
                guard let kind = block.certificateKind else { continue }
                try add(try block.bytes(), trustSettings: kind == .withTrustSettings)
            }
            if entries.isEmpty { throw .missing(.certificate) }
            return entries
        } catch .at(let number, _, let error) {
            throw .at(number: number, path: path, error)
        } catch {
            throw .at(number: entries.count + 1, path: path, error)
        }
    }
}
