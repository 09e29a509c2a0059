// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import LupineTransport

/// The operations of the folder's writer. All run on the storage queue.
extension CacheFolder {
    /// Returns the length, in bytes, from which a segment gets no more entries, so that a new one is created. It is a sixteenth
    /// of the folder's capacity, but at least 16 KiB and at most 4 MiB, so that removing or rewriting one segment is cheap.
    static func segmentLength(_ capacity: Int) -> Int { min(4 << 20, max(16 << 10, capacity / 16)) }

    /// Appends entries to the segments and returns their locations. Returns nil if writing has failed or if this is not the
    /// folder's writer; the index then refers to none of the entries.
    ///
    /// - Parameters:
    ///   - octets: The entries, one after the other.
    ///   - lengths: The length of each entry.
    ///   - capacity: How many bytes may be in the folder.
    func append(_ octets: Span<UInt8>, lengths: [Int], capacity: Int) -> [EntryLocation]? {
        files.withLock { files in
            guard files.access == .writer else { return nil }
            var locations: [EntryLocation] = []
            locations.reserveCapacity(lengths.count)
            // How many octets were written, and how many belong to entries that have a location. Entries of one segment are
            // written with one call.
            var (writtenCount, placedCount) = (0, 0)
            let maxLength = Self.segmentLength(capacity)
            for length in lengths {
                if currentLength(files) + placedCount - writtenCount >= maxLength {
                    guard write(octets.extracting(writtenCount..<placedCount), &files) else { return nil }
                    writtenCount = placedCount
                    files.currentSegment = nil
                }
                if files.currentSegment == nil, !beginSegment(&files) { return nil }
                // After the octets of the current segment that are in the file, and those that wait to be written to it.
                let offset = currentLength(files) + placedCount - writtenCount
                guard
                    let location = EntryLocation(
                        // The number of the current segment.
                        segment: files.nextSegmentNumber - 1, offset: UInt64(offset), length: UInt64(length))
                else { return nil }
                locations.append(location)
                placedCount += length
            }
            return write(octets.extracting(writtenCount..<placedCount), &files) ? locations : nil
        }
    }

    /// Returns the length of the current segment; 0 if there is none.
    private func currentLength(_ files: Files) -> Int {
        files.currentSegment == nil ? 0 : files.segmentLengths[files.nextSegmentNumber - 1] ?? 0
    }

    /// Creates the next segment. Returns false if that fails.
    private func beginSegment(_ files: inout Files) -> Bool {
        // Skips a number whose file exists, because that file is not a segment of this cache. After eight numbers the creation
        // has probably failed for another reason, so this gives up.
        for _ in 0..<8 {
            let number = files.nextSegmentNumber
            guard number < EntryLocation.segmentLimit - 1 else { return false }
            files.nextSegmentNumber += 1
            guard let segment = createFile(.segment(number)) else { continue }
            files.currentSegment = segment
            files.segmentLengths[number] = 0
            return true
        }
        return false
    }

    /// Creates a file that does not exist yet; returns nil if that fails.
    private func createFile(_ name: CacheFolderName) -> OpenFile? {
        OpenFile { () throws(Errno) in try Descriptor.creating(path: path(name)) }
    }

    /// Writes octets to the current segment. Returns false if that fails; later entries are then written to a new segment.
    private func write(_ octets: Span<UInt8>, _ files: inout Files) -> Bool {
        if octets.isEmpty { return true }
        let number = files.nextSegmentNumber - 1
        do {
            try files.currentSegment?.descriptor.writeAll(octets)
        } catch {
            files.currentSegment = nil
            return false
        }
        files.segmentLengths[number, default: 0] += octets.count
        return true
    }

    /// Appends changes to the index file; returns false if writing has failed.
    func log(_ changes: [CacheLog.Change]) -> Bool {
        if changes.isEmpty { return true }
        return files.withLock { files in
            guard files.access == .writer, files.indexFile != nil else { return false }
            let batch = CacheLog.batch(changes, at: files.indexLength)
            do {
                try files.indexFile?.descriptor.writeAll(batch.span)
            } catch {
                // The file may now end with an incomplete batch. Opening the file again truncates it at `indexLength`. If the
                // opening fails too, `lacksIndex` is true.
                files.indexFile = openIndexForAppending(at: files.indexLength)
                return false
            }
            files.indexLength += batch.count
            files.changeCount += changes.count
            return true
        }
    }

    /// Whether the index file has so many obsolete changes that it is worth rewriting.
    ///
    /// - Parameter entryCount: The number of entries in the index.
    func isIndexWorthRewriting(_ entryCount: Int) -> Bool {
        // The index needs one change for each entry. It may have four times as many, and a thousand more in a small folder.
        files.withLock { $0.access == .writer && $0.changeCount > entryCount * 4 + 1_024 }
    }

    /// Replaces the index file atomically by one with these changes. Returns false if writing has failed; the old file then
    /// remains.
    func replaceIndex(_ changes: [CacheLog.Change]) -> Bool {
        files.withLock { files in files.access == .writer && replaceIndex(changes, &files) }
    }

    /// Replaces the index file, for a caller that has locked `files`.
    func replaceIndex(_ changes: [CacheLog.Change], _ files: inout Files) -> Bool {
        let draft = path(.indexDraft)
        let octets = CacheLog.head + (changes.isEmpty ? [] : CacheLog.batch(changes, at: CacheLog.head.count))
        // A draft may be left from an earlier attempt.
        remove(CacheFolderName.indexDraft.text)
        guard let file = createFile(.indexDraft) else { return false }
        do {
            try file.descriptor.writeAll(octets.span)
        } catch {
            remove(CacheFolderName.indexDraft.text)
            return false
        }
        guard unsafe rename(draft, path(.index)) == 0 else {
            remove(CacheFolderName.indexDraft.text)
            return false
        }
        files.indexFile = file
        files.indexLength = octets.count
        files.changeCount = changes.count
        return true
    }

    /// Removes the index file and all segments. Called if the index file cannot be replaced: its entries, some of which were
    /// removed from the cache, must not reappear in the next process.
    func removeAllEntries() {
        files.withLock { files in
            if files.access == .writer { removeAllEntries(&files) }
        }
    }

    /// Removes the index file and all segments, for the writer that has locked `files`. This needs no descriptor, so it succeeds
    /// when no file can be opened.
    func removeAllEntries(_ files: inout Files) {
        // Removes the index first, so that after an interruption no index refers to a removed segment.
        files.indexFile = nil
        remove(CacheFolderName.index.text)
        files.currentSegment = nil
        for number in files.segmentLengths.keys { remove(CacheFolderName.segment(number).text) }
        files.segmentLengths = [:]
        // If this fails, the folder has no index file, and `lacksIndex` is true.
        _ = replaceIndex([], &files)
    }

    /// Removes a file or a symbolic link, but not a folder.
    func remove(_ name: String) { unsafe unlink(path(name)) }

    /// Removes the segments without entries. `liveBytesBySegment` has the number of bytes of existing entries in each segment,
    /// and lacks the segments without entries.
    func removeSegmentsWithoutEntries(_ liveBytesBySegment: [UInt64: Int]) {
        files.withLock { files in
            let current = files.currentSegment == nil ? nil : files.nextSegmentNumber - 1
            for (number, length) in files.segmentLengths where liveBytesBySegment[number] == nil {
                if number == current {
                    // The current segment, if nothing was written to it yet, gets the next entries.
                    if length == 0 { continue }
                    files.currentSegment = nil
                }
                remove(CacheFolderName.segment(number).text)
                files.segmentLengths[number] = nil
            }
        }
    }

    /// Returns the number of a segment that is worth rewriting; nil if there is none. Live bytes are those of existing entries.
    ///
    /// - If there are too many segments, it is the shortest segment.
    /// - Otherwise it is the segment with the smallest share of live bytes, if that share is below a quarter.
    /// - If the folder is too large, it is the same segment with any share, unless all bytes of the segment are live.
    ///
    /// - Parameters:
    ///   - capacity: How many bytes may be in the folder.
    ///   - liveBytes: The number of bytes of existing entries in each segment.
    func segmentToRewrite(capacity: Int, liveBytes: [UInt64: Int]) -> UInt64? {
        files.withLock { files in
            let liveShare = { (segment: UInt64, length: Int) in
                Double(liveBytes[segment] ?? 0) / Double(length)
            }
            let current = files.currentSegment == nil ? nil : files.nextSegmentNumber - 1
            // Wraps around instead of trapping, because the lengths may be those of forged files.
            let totalLength = files.segmentLengths.values.reduce(0) {
                $0.addingReportingOverflow($1).partialValue
            }
            // Each process creates a segment, so short segments accumulate. Twice as many segments as full ones would need, and
            // 32 more, are tolerated.
            let hasManySegments =
                files.segmentLengths.count > 32 + 2 * (totalLength / Self.segmentLength(capacity))
            let others = files.segmentLengths.filter { $0.key != current }
            if hasManySegments, let shortest = others.min(by: { $0.value < $1.value }) {
                return shortest.key
            }
            // The folder may exceed its capacity by half, because removed entries take space until their segment is rewritten.
            let isTooLarge = totalLength > capacity + min(capacity / 2, Int.max - capacity)
            let sparsest = others.filter { $0.value > 0 }
                .min { liveShare($0.key, $0.value) < liveShare($1.key, $1.value) }
            guard let sparsest else { return nil }
            let liveCount = liveBytes[sparsest.key] ?? 0
            guard isTooLarge || liveCount < sparsest.value / 4 else { return nil }
            // Rewriting a segment without removed entries gains nothing.
            return liveCount < sparsest.value ? sparsest.key : nil
        }
    }
}
