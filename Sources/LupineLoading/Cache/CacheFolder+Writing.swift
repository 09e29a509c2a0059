// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import LupineTransport

/// The operations of the folder's writer. All run on the storage queue.
extension CacheFolder {
    /// The length at which a new segment is begun, for a folder of this capacity: short enough that one segment can be removed or
    /// rewritten cheaply.
    static func segmentLength(_ capacity: Int) -> Int { min(4 << 20, max(16 << 10, capacity / 16)) }

    /// Appends entries to the segments and returns their places. Returns nil if writing failed or if this is not the folder's
    /// writer; then nothing refers to the octets that were written.
    ///
    /// - Parameters:
    ///   - octets: The entries, one after the other.
    ///   - lengths: The length of each entry.
    ///   - capacity: How many bytes may be in the folder.
    func append(_ octets: Span<UInt8>, lengths: [Int], capacity: Int) -> [EntryLocation]? {
        files.withLock { files in
            guard files.access == .writer else { return nil }
            var places: [EntryLocation] = []
            places.reserveCapacity(lengths.count)
            // How many octets are written, and how many have been assigned a place.
            var (written, placed) = (0, 0)
            let longest = Self.segmentLength(capacity)
            for length in lengths {
                if currentLength(files) + placed - written >= longest {
                    guard write(octets.extracting(written..<placed), &files) else { return nil }
                    written = placed
                    files.segment = nil
                }
                if files.segment == nil, !beginSegment(&files) { return nil }
                let offset = currentLength(files) + placed - written
                guard
                    let place = EntryLocation(
                        segment: files.nextSegment - 1, offset: UInt64(offset), length: UInt64(length))
                else { return nil }
                places.append(place)
                placed += length
            }
            return write(octets.extracting(written..<placed), &files) ? places : nil
        }
    }

    private func currentLength(_ files: Files) -> Int {
        files.segment == nil ? 0 : files.lengths[files.nextSegment - 1] ?? 0
    }

    private func beginSegment(_ files: inout Files) -> Bool {
        // Some numbers may be taken by files that are not ours.
        for _ in 0..<8 {
            let number = files.nextSegment
            guard number < EntryLocation.segmentLimit - 1 else { return false }
            files.nextSegment += 1
            guard let segment = create(.segment(number)) else { continue }
            files.segment = segment
            files.lengths[number] = 0
            return true
        }
        return false
    }

    private func create(_ name: CacheFolderName) -> OpenFile? {
        OpenFile { () throws(Errno) in try Descriptor.creating(path: path(name)) }
    }

    /// Writes octets to the current segment. After a failure nothing more is appended to that segment.
    private func write(_ octets: Span<UInt8>, _ files: inout Files) -> Bool {
        if octets.isEmpty { return true }
        let number = files.nextSegment - 1
        do {
            try files.segment?.descriptor.writeAll(octets)
        } catch {
            files.segment = nil
            return false
        }
        files.lengths[number, default: 0] += octets.count
        return true
    }

    /// Appends changes to the index; returns false if writing failed.
    func log(_ changes: [CacheLog.Change]) -> Bool {
        if changes.isEmpty { return true }
        return files.withLock { files in
            guard files.access == .writer, files.index != nil else { return false }
            let batch = CacheLog.batch(changes, at: files.indexLength)
            do {
                try files.index?.descriptor.writeAll(batch.span)
            } catch {
                // An incomplete batch is invalid; the next batch overwrites it.
                files.index = continuedIndex(at: files.indexLength)
                return false
            }
            files.indexLength += batch.count
            files.changeCount += changes.count
            return true
        }
    }

    /// Whether the index contains so many obsolete changes that it is worth rewriting.
    func isIndexLong(_ count: Int) -> Bool {
        files.withLock { $0.access == .writer && $0.changeCount > count * 4 + 1_024 }
    }

    /// Replaces the index atomically. Returns false if writing failed; the old index then remains.
    func replaceIndex(_ changes: [CacheLog.Change]) -> Bool {
        files.withLock { files in files.access == .writer && replaceIndex(changes, &files) }
    }

    func replaceIndex(_ changes: [CacheLog.Change], _ files: inout Files) -> Bool {
        let draft = path(.indexDraft)
        let octets = CacheLog.head + (changes.isEmpty ? [] : CacheLog.batch(changes, at: CacheLog.head.count))
        remove(CacheFolderName.indexDraft.text)
        guard let file = create(.indexDraft) else { return false }
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
        files.index = file
        files.indexLength = octets.count
        files.changeCount = changes.count
        return true
    }

    /// Empties the folder when the index can no longer be written, because removed entries must not reappear.
    func forgetAll() {
        files.withLock { files in
            guard files.access == .writer else { return }
            files.index = nil
            remove(CacheFolderName.index.text)
            files.segment = nil
            for number in files.lengths.keys { remove(CacheFolderName.segment(number).text) }
            files.lengths = [:]
            _ = replaceIndex([], &files)
        }
    }

    /// Removes segments that no entry refers to.
    func removeSegments(but live: [UInt64: Int]) {
        files.withLock { files in
            let current = files.segment == nil ? nil : files.nextSegment - 1
            for (number, length) in files.lengths where live[number] == nil {
                if number == current {
                    if length == 0 { continue }
                    files.segment = nil
                }
                remove(CacheFolderName.segment(number).text)
                files.lengths[number] = nil
            }
        }
    }

    /// Returns the segment that is worth rewriting because little of it is still live; nil if there is none.
    ///
    /// - Parameters:
    ///   - capacity: How many bytes may be in the folder.
    ///   - live: The number of live bytes in each segment.
    func sparseSegment(capacity: Int, live: [UInt64: Int]) -> UInt64? {
        files.withLock { files in
            let live = { live[$0] ?? 0 }
            let current = files.segment == nil ? nil : files.nextSegment - 1
            // Every start of a program begins a new segment, so short ones accumulate.
            let sum = files.lengths.values.reduce(0) { $0.addingReportingOverflow($1).partialValue }
            let isMany = files.lengths.count > 32 + 2 * (sum / Self.segmentLength(capacity))
            if isMany,
                let shortest = files.lengths.filter({ $0.key != current }).min(by: { $0.value < $1.value })
            {
                return shortest.key
            }
            let isFull = sum > capacity + min(capacity / 2, Int.max - capacity)
            let sparsest = files.lengths.filter { $0.key != current && $0.value > 0 }
                .min { Double(live($0.key)) / Double($0.value) < Double(live($1.key)) / Double($1.value) }
            guard let sparsest, isFull || live(sparsest.key) < sparsest.value / 4 else { return nil }
            return live(sparsest.key) < sparsest.value ? sparsest.key : nil
        }
    }
}
