// SPDX-License-Identifier: MIT

/// Reads the files and folders of trusted certificates. Does not parse the certificates if `CertificateOutline` finds their
/// subjects.
///
/// Blocks: never use it on a loop's thread. Input is limited: `PEM.largestSize` for a file, `namesLimit` and `contentLimit` for a
/// folder.
package struct RootReader {
    private(set) var entries: [RootEntry] = []
    private var filesRead = 0
    private let namesLimit: Int
    private let contentLimit: Int

    /// The default of `namesLimit`.
    package static let defaultNamesLimit = 4 << 20

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - namesLimit: The most octets of all file names in a folder together.
    ///   - contentLimit: The most octets of all files in a folder together.
    package init(namesLimit: Int = defaultNamesLimit, contentLimit: Int = 64 << 20) {
        self.namesLimit = namesLimit
        self.contentLimit = contentLimit
    }

    /// An index of everything that was read.
    package var index: RootIndex { RootIndex(entries, filesRead: filesRead) }

    /// Reads the certificates in a file, PEM or one in DER; throws if there are none.
    mutating func read(file path: String) throws(TrustRootsError) {
        do throws(CertificateError) {
            let bytes = try CertificateFile.read(path, limit: PEM.largestSize)
            filesRead += 1
            try read(content: bytes, of: path)
        } catch {
            throw .unusable(path: path, error)
        }
    }

    /// Reads the certificates in a file's content; throws if there are none.
    package mutating func read(content bytes: [UInt8], of path: String) throws(CertificateError) {
        entries += try Self.entries(in: bytes, of: path, skipsMalformed: false)
    }

    /// Reads the certificates in a folder's regular files, regardless of their names, except those that begin with a dot. Files
    /// that are unreadable or contain no certificate are skipped; throws if there is no certificate at all.
    ///
    /// A file with several names, such as one with a hash link, is read once.
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
                found += (try? Self.entries(in: bytes, of: file, skipsMalformed: true)) ?? []
            }
        } catch {
            throw .unusable(path: path, error)
        }
        guard !found.isEmpty else { throw .empty(path: path) }
        entries += found
    }

    /// The certificates in a file's content, found in the same way as by `Certificate.bundle(file:)`.
    private static func entries(
        in bytes: [UInt8], of path: String, skipsMalformed: Bool
    ) throws(CertificateError) -> [RootEntry] {
        var entries: [RootEntry] = []
        func add(_ der: [UInt8], trustSettings: Bool) throws(CertificateError) {
            let location = RootEntry.Location(path: path, number: entries.count + 1, skipsMalformed: skipsMalformed)
            entries.append(try RootEntry(der: der, trustSettings: trustSettings, location))
        }
        do throws(CertificateError) {
            guard PEM.containsBlock(bytes) else {
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
