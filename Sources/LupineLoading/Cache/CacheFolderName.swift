// SPDX-License-Identifier: MIT

internal import Foundation

/// The files of a cache's folder by their names. Whatever has another name is not the cache's, and is left alone.
enum CacheFolderName: Hashable, Sendable {
    /// Whoever holds the lock of this file is the folder's only writer.
    case lock
    /// Which entry stands where: a `CacheLog`.
    case index
    /// An index that has not taken the place of the old one yet, or never will.
    case indexDraft
    /// Entries, one behind the other.
    case segment(UInt64)
    /// A file with one entry, or the draft of one, as versions before this form of the folder wrote them.
    case former

    private static let segmentPrefix = "segment-"
    private static let formerSuffix = ".entry"

    /// The file that a name is of; nil for one that is not the cache's.
    init?(_ name: String) {
        switch name {
        case Self.lock.text: self = .lock
        case Self.index.text: self = .index
        case Self.indexDraft.text: self = .indexDraft
        default:
            if let segment = Self.segment(name) {
                self = .segment(segment)
            } else if Self.isFormer(name) {
                self = .former
            } else {
                return nil
            }
        }
    }

    /// The name; that of a former file is not asked for.
    var text: String {
        switch self {
        case .lock: "lock"
        case .index: "index"
        case .indexDraft: "index.draft"
        case .segment(let number): Self.segmentPrefix + String(number)
        case .former: Self.formerSuffix
        }
    }

    private static func segment(_ name: String) -> UInt64? {
        guard name.hasPrefix(segmentPrefix) else { return nil }
        let digits = name.dropFirst(segmentPrefix.count)
        guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = UInt64(digits),
            number < CachePlace.segmentLimit, String(number) == digits
        else { return nil }
        return number
    }

    /// `DIGEST.entry` or `DIGEST-DIGEST.entry`, or `.` with that and `.draft-` with anything behind it.
    private static func isFormer(_ name: String) -> Bool {
        if !name.hasPrefix(".") {
            return name.hasSuffix(formerSuffix) && isEntry(name.dropLast(formerSuffix.count))
        }
        guard let end = name.range(of: formerSuffix + ".draft-") else { return false }
        return isEntry(name[name.index(after: name.startIndex)..<end.lowerBound])
    }

    private static func isEntry(_ text: Substring) -> Bool {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.allSatisfy { part in
            part.utf8.count == 64 && part.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
        }
    }
}
