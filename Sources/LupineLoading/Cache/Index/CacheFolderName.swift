// SPDX-License-Identifier: MIT

internal import Foundation

/// The names of the files in a cache's folder. The cache never changes files with other names.
enum CacheFolderName: Hashable, Sendable {
    /// An empty file. The process that has locked it is the folder's only writer.
    case lock
    /// The index of the entries: a `CacheLog`.
    case index
    /// A new index that has not replaced the old one yet, or a leftover of a failed replacement.
    case indexDraft
    /// A file with entries, one after the other. Segments are numbered.
    case segment(UInt64)
    /// A file with one entry, or a draft of such a file. Only earlier versions of the library have written them.
    case legacyEntry

    private static let segmentPrefix = "segment-"
    private static let legacySuffix = ".entry"

    /// Parses a file name; nil for one that does not belong to the cache.
    init?(_ name: String) {
        switch name {
        case Self.lock.text: self = .lock
        case Self.index.text: self = .index
        case Self.indexDraft.text: self = .indexDraft
        default:
            if let segment = Self.segment(name) {
                self = .segment(segment)
            } else if Self.isLegacyEntry(name) {
                self = .legacyEntry
            } else {
                return nil
            }
        }
    }

    /// The file name; for `legacyEntry` only the common suffix, which is never used as a name.
    var text: String {
        switch self {
        case .lock: "lock"
        case .index: "index"
        case .indexDraft: "index.draft"
        case .segment(let number): Self.segmentPrefix + String(number)
        case .legacyEntry: Self.legacySuffix
        }
    }

    /// Returns the number of the segment with this name, in decimal without leading zeros; nil for another name.
    private static func segment(_ name: String) -> UInt64? {
        guard name.hasPrefix(segmentPrefix) else { return nil }
        let digits = name.dropFirst(segmentPrefix.count)
        // 0x30...0x39 are the digits.
        guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = UInt64(digits),
            number < EntryLocation.segmentLimit, String(number) == digits
        else { return nil }
        return number
    }

    /// Whether the name is `DIGEST.entry` or `DIGEST-DIGEST.entry`, or that of a draft: `.`, one of these, `.draft-` and any
    /// suffix.
    private static func isLegacyEntry(_ name: String) -> Bool {
        if !name.hasPrefix(".") {
            return name.hasSuffix(legacySuffix) && isLegacyDigest(name.dropLast(legacySuffix.count))
        }
        guard let end = name.range(of: legacySuffix + ".draft-") else { return false }
        return isLegacyDigest(name[name.index(after: name.startIndex)..<end.lowerBound])
    }

    /// Whether the text consists of one digest, or of two separated by a dash. A digest has 64 lowercase hexadecimal digits.
    private static func isLegacyDigest(_ text: Substring) -> Bool {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.allSatisfy { part in
            // 0x30...0x39 are the digits, 0x61...0x66 the letters a to f.
            part.utf8.count == 64 && part.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
        }
    }
}
