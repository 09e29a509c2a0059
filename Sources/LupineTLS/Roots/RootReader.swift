// SPDX-License-Identifier: MIT

/// Reads the files and folders of trusted certificates. Of each certificate, it reads only the subject (`CertificateOutline`);
/// the certificate is parsed later, when a chain needs it. If its subject cannot be found, it is parsed at once.
///
/// Blocks: never use it on an event loop's thread. The input is limited: by `PEM.largestSize` for a file, by `namesLimit` and
/// `contentLimit` for a folder.
package struct RootReader {
    /// The certificates that have been read so far.
    private(set) var entries: [RootEntry] = []
    /// The number of files that have been read so far.
    private var filesRead = 0
    private let namesLimit: Int
    private let contentLimit: Int

    /// The default of `namesLimit`, 4 MiB.
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

    /// An index of the certificates that have been read so far.
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

    /// Reads the certificates in `bytes`, the content of the file at `path`; throws if there are none.
    package mutating func read(content bytes: [UInt8], of path: String) throws(CertificateError) {
        entries += try Self.entries(in: bytes, of: path, skipsMalformed: false)
    }

    /// Reads the certificates in a folder's regular files. Skips files whose names begin with a dot, files that are unreadable,
    /// and files without a certificate; other names make no difference. Throws if there is no certificate at all.
    ///
    /// A file with several names, such as one with a hash link, is read once.
    mutating func read(folder path: String) throws(TrustRootsError) {
        var folderEntries: [RootEntry] = []
        do throws(CertificateError) {
            var seenFiles: Set<CertificateFile.Identity> = []
            var totalSize = 0
            for name in try CertificateFile.names(in: path, limit: namesLimit) where !name.hasPrefix(".") {
                let file = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
                // Nil for a file that was read under another name, a special file, and a file that cannot be read.
                let content =
                    (try? CertificateFile.readRegular(file, limit: PEM.largestSize, skipping: &seenFiles))
                    ?? nil
                guard let content else { continue }
                filesRead += 1
                totalSize += content.count
                guard totalSize <= contentLimit else {
                    throw .tooLarge(.folder, count: totalSize, limit: contentLimit)
                }
                folderEntries += (try? Self.entries(in: content, of: file, skipsMalformed: true)) ?? []
            }
        } catch {
            throw .unusable(path: path, error)
        }
        guard !folderEntries.isEmpty else { throw .empty(path: path) }
        entries += folderEntries
    }

    /// Returns the certificates in a file's content, as `Certificate.bundle(file:)` does.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - path: The path of the file, for errors.
    ///   - skipsMalformed: Whether a certificate is skipped if it turns out to be malformed when it is parsed later. Otherwise it
    ///     is an error.
    private static func entries(
        in bytes: [UInt8], of path: String, skipsMalformed: Bool
    ) throws(CertificateError) -> [RootEntry] {
        var entries: [RootEntry] = []
        func add(_ der: [UInt8], trustSettings: Bool) throws(CertificateError) {
            let location = RootEntry.Location(
                path: path, number: entries.count + 1, skipsMalformed: skipsMalformed)
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
            // The parser of the content does not know the path.
            throw .at(number: number, path: path, error)
        } catch {
            throw .at(number: entries.count + 1, path: path, error)
        }
    }
}
