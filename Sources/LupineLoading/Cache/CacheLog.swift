// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineCoding
internal import LupineTLS

/// The format of the index file of a cache's folder: a head, followed by batches of changes to the entries. Each batch begins
/// with its length and a checksum.
///
/// The folder's writer appends batches to the file, and replaces the file when most changes in it are obsolete. An interrupted
/// write leaves an incomplete last batch, which readers ignore and the next writer truncates. The checksum covers the offset of
/// the batch too, so a batch is valid at that offset only. It detects accidents and is not a signature. The functions have no
/// side effects.
package enum CacheLog {
    /// One change.
    package enum Change: Sendable {
        /// An entry was stored under a key, and has replaced the previous one.
        case stored(CacheKey, CacheIndex.Record)
        /// The entry at the first location was moved to the second; its recency did not change.
        case moved(EntryLocation.Start, EntryLocation)
        /// The entry at this location was removed.
        case removed(EntryLocation.Start)
        /// The entry at this location was used.
        case used(EntryLocation.Start)
    }

    /// The result of reading an index file.
    package struct Contents: Sendable {
        /// The changes, the oldest first.
        package var changes: [Change] = []
        /// The offset of the end of the last valid batch.
        package var end = 0
    }

    /// The kind of a change; the raw values are those in the files.
    private enum ChangeKind: UInt8 {
        case stored = 1
        case removed = 2
        case used = 3
        case moved = 4
    }

    /// The partition of an entry; the raw values are those in the files.
    private enum PartitionKind: UInt8 {
        case defaultPartition = 0
        case defaultEvaluation = 1
        case pinnedKeys = 2
    }

    private static let magic = Array("LupIndex".utf8)
    private static let version: UInt32 = 3
    /// The length in octets of a batch's head, which consists of the length of the batch's content and a checksum.
    private static let batchHeadLength = checksumOffset + 4
    /// The offset of the checksum in the head: after a length of 64 bits.
    private static let checksumOffset = 8

    /// The first octets of every index file.
    package static let head: [UInt8] = {
        var writer = OctetWriter()
        writer.write(octets: magic)
        writer.write(version)
        return writer.octets
    }()

    // MARK: writing

    /// Returns a batch of changes, to be written at this offset in the file.
    package static func batch(_ changes: [Change], at offset: Int) -> [UInt8] {
        // Most changes take fewer than 256 octets.
        var writer = OctetWriter(capacity: batchHeadLength + changes.count * 256)
        seal(at: offset, in: &writer) { writer in
            for change in changes { write(change, to: &writer) }
        }
        return writer.octets
    }

    /// For tests: returns a batch with a correct checksum around any content, even an invalid one.
    package static func sealed(_ octets: [UInt8], at offset: Int) -> [UInt8] {
        var writer = OctetWriter(capacity: batchHeadLength + octets.count)
        seal(at: offset, in: &writer) { $0.write(octets: octets) }
        return writer.octets
    }

    /// Writes a batch into an empty writer. The length and the checksum in its head are filled in once the content is written.
    private static func seal(
        at offset: Int, in writer: inout OctetWriter, _ writeContent: (inout OctetWriter) -> Void
    ) {
        // The places of the length and the checksum.
        writer.write(UInt64(0))
        writer.write(UInt32(0))
        writeContent(&writer)
        writer.replace(at: 0, with: UInt64(writer.count - batchHeadLength))
        let checksum = writer.withOctets(from: batchHeadLength) { Self.checksum(of: $0, at: offset) }
        writer.replace(at: checksumOffset, with: checksum)
    }

    /// Returns the checksum of a batch at its offset.
    private static func checksum(of octets: Span<UInt8>, at offset: Int) -> UInt32 {
        // The offset is not in the batch, but the checksum covers it.
        var writer = OctetWriter(capacity: 8)
        writer.write(Int64(offset))
        var checksum = CRC32()
        writer.withOctets(from: 0) { checksum.update($0) }
        checksum.update(octets)
        return checksum.value
    }

    private static func write(_ change: Change, to writer: inout OctetWriter) {
        switch change {
        case .stored(let key, let record):
            writer.write(octet: ChangeKind.stored.rawValue)
            write(record.location, to: &writer)
            writer.write(record.storedTime.timeIntervalSinceReferenceDate)
            writer.write(key.address)
            write(key.partition, to: &writer)
            writer.write(lengthPrefixed: record.terms.octets)
        case .moved(let start, let location):
            writer.write(octet: ChangeKind.moved.rawValue)
            write(start, to: &writer)
            write(location, to: &writer)
        case .removed(let start):
            writer.write(octet: ChangeKind.removed.rawValue)
            write(start, to: &writer)
        case .used(let start):
            writer.write(octet: ChangeKind.used.rawValue)
            write(start, to: &writer)
        }
    }

    private static func write(_ location: EntryLocation, to writer: inout OctetWriter) {
        write(location.start, to: &writer)
        writer.write(UInt64(location.length))
    }

    private static func write(_ start: EntryLocation.Start, to writer: inout OctetWriter) {
        writer.write(start.segment)
        writer.write(UInt64(start.offset))
    }

    /// Writes a partition. `CacheTerms` ensures that no entry whose partition has the trust basis `judge` is written.
    private static func write(_ partition: CachePartition?, to writer: inout OctetWriter) {
        guard let partition else { return writer.write(octet: PartitionKind.defaultPartition.rawValue) }
        let hasPassedDefault = partition.trustBasis == .defaultEvaluation
        writer.write(octet: (hasPassedDefault ? PartitionKind.defaultEvaluation : .pinnedKeys).rawValue)
        writer.write(partition.client != nil)
        if let client = partition.client { writer.write(octets: client.bytes) }
    }

    // MARK: reading

    /// Reads an index file up to the first invalid batch.
    package static func contents(of octets: [UInt8]) -> Contents {
        var contents = Contents()
        var terms = CacheTermsPool()
        guard octets.starts(with: head) else { return contents }
        contents.end = head.count
        while let next = try? batch(of: octets, at: contents.end, &terms) {
            contents.changes += next.changes
            contents.end = next.end
        }
        return contents
    }

    /// Reads the batch at an offset: its changes, and the offset of its end. Throws if there is no valid batch.
    private static func batch(
        of octets: [UInt8], at offset: Int, _ terms: inout CacheTermsPool
    ) throws(OctetReader.Damage) -> Contents {
        var reader = OctetReader(octets, in: offset..<octets.count)
        guard let count = Int(exactly: try reader.longNumber()) else { throw OctetReader.Damage() }
        let checksum = try reader.number()
        let content = try reader.octets(count)
        guard checksum == Self.checksum(of: content.span, at: offset) else { throw OctetReader.Damage() }
        var contents = Contents()
        reader = OctetReader(octets, in: content.indices)
        while !reader.isAtEnd {
            if let change = try change(&reader, &terms) { contents.changes.append(change) }
        }
        contents.end = content.endIndex
        return contents
    }

    /// Reads a change. Returns nil for a change that is ignored, such as one with a location that no cache writes.
    private static func change(
        _ reader: inout OctetReader, _ terms: inout CacheTermsPool
    ) throws(OctetReader.Damage) -> Change? {
        switch ChangeKind(rawValue: try reader.octet()) {
        case .stored?:
            let location = try location(&reader)
            let storedTime = Date(timeIntervalSinceReferenceDate: try reader.double())
            let key = CacheKey(address: try reader.text(), partition: try partition(&reader))
            let terms = try terms.terms(Array(try reader.lengthPrefixedOctets()))
            guard let location, terms.provenance.partition == key.partition else { return nil }
            return .stored(key, CacheIndex.Record(location: location, storedTime: storedTime, terms: terms))
        case .moved?:
            let (start, location) = (try start(&reader), try location(&reader))
            guard let start, let location else { return nil }
            return .moved(start, location)
        case .removed?: return try start(&reader).map { .removed($0) }
        case .used?: return try start(&reader).map { .used($0) }
        case nil: throw OctetReader.Damage()
        }
    }

    /// Reads a location; returns nil for one that no cache writes.
    private static func location(_ reader: inout OctetReader) throws(OctetReader.Damage) -> EntryLocation? {
        let (segment, offset) = (try reader.longNumber(), try reader.longNumber())
        return EntryLocation(segment: segment, offset: offset, length: try reader.longNumber())
    }

    /// Reads the start of a location; returns nil for one that no cache writes.
    private static func start(
        _ reader: inout OctetReader
    ) throws(OctetReader.Damage) -> EntryLocation.Start? {
        let (segment, offset) = (try reader.longNumber(), try reader.longNumber())
        // A start has no length; with any valid length, `EntryLocation` checks segment and offset.
        return EntryLocation(segment: segment, offset: offset, length: 1)?.start
    }

    /// Reads a partition; returns nil for the default one.
    private static func partition(_ reader: inout OctetReader) throws(OctetReader.Damage) -> CachePartition? {
        let trustBasis: CachePartition.TrustBasis
        switch PartitionKind(rawValue: try reader.octet()) {
        case .defaultPartition?: return nil
        case .defaultEvaluation?: trustBasis = .defaultEvaluation
        case .pinnedKeys?: trustBasis = .pinnedKeys
        case nil: throw OctetReader.Damage()
        }
        let client =
            try reader.flag() ? SHA256Digest(bytes: Array(try reader.octets(SHA256Digest.byteCount))) : nil
        return CachePartition(client: client, trustBasis: trustBasis)
    }
}
