// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineLoading

/// Tests of the index of a cache's folder: its octets, and the result of reading them.
struct CacheLogTests {
    static let time = Date(timeIntervalSinceReferenceDate: 700_000_000)

    static func terms() throws -> CacheTerms {
        let entry = CacheStage.entry(try CacheStage.loaded("x"), for: try CacheStage.request())
        return try #require(CacheTerms(entry))
    }

    static func key(_ number: Int) -> CacheKey { CacheKey(address: "http://h/\(number)", partition: nil) }

    static func item(_ segment: UInt64, _ offset: UInt64, _ length: UInt64 = 10) throws -> CacheIndex.Record {
        let location = try #require(EntryLocation(segment: segment, offset: offset, length: length))
        return CacheIndex.Record(location: location, storedTime: time, terms: try terms())
    }

    /// Returns some batches, each with the keys that the index holds after it.
    static func batches() throws -> [(changes: [CacheLog.Change], keys: [Int])] {
        let items = try (0..<4).map { try item(1, UInt64($0) * 10) }
        let other = try item(2, 0)
        return [
            ([.stored(key(0), items[0]), .stored(key(1), items[1])], [0, 1]),
            ([.used(items[0].location.start)], [1, 0]),
            ([.stored(key(2), items[2]), .removed(items[1].location.start)], [0, 2]),
            ([.moved(items[0].location.start, other.location), .stored(key(3), items[3])], [0, 2, 3]),
            ([.removed(items[0].location.start)], [0, 2, 3]),
            ([.removed(other.location.start), .stored(key(2), items[1])], [3, 2]),
        ]
    }

    static let lengths: [UInt64: Int] = [1: 40, 2: 10]

    static func octets(_ batches: [[CacheLog.Change]]) -> (octets: [UInt8], ends: [Int]) {
        var octets = CacheLog.head
        var ends = [octets.count]
        for changes in batches {
            octets += CacheLog.batch(changes, at: octets.count)
            ends.append(octets.count)
        }
        return (octets, ends)
    }

    static func index(_ octets: [UInt8]) -> CacheIndex {
        CacheIndex(CacheLog.contents(of: octets).changes, lengths: lengths)
    }

    @Test func roundTrip() throws {
        let batches = try Self.batches()
        let (octets, ends) = Self.octets(batches.map(\.changes))
        for (count, batch) in zip(ends.dropFirst(), batches) {
            let index = Self.index(Array(octets[..<count]))
            #expect(index.keysFromLeastRecent == batch.keys.map(Self.key))
            // An index that is rebuilt from its own changes is the same.
            let rebuilt = CacheIndex(index.changes, lengths: Self.lengths)
            #expect(rebuilt.keysFromLeastRecent == index.keysFromLeastRecent && rebuilt.cost == index.cost)
            #expect(rebuilt.liveBytes == index.liveBytes)
        }
    }

    @Test("[U-12.16] an index that was cut anywhere yields its whole batches")
    func everyCut() throws {
        let batches = try Self.batches()
        let (octets, ends) = Self.octets(batches.map(\.changes))
        for count in 0...octets.count {
            let contents = CacheLog.contents(of: Array(octets[..<count]))
            let whole = ends.lastIndex { $0 <= count }
            #expect(contents.end == whole.map { ends[$0] } ?? 0, "\(count)")
            let keys = whole.map { $0 == 0 ? [] : batches[$0 - 1].keys } ?? []
            let index = CacheIndex(contents.changes, lengths: Self.lengths)
            #expect(index.keysFromLeastRecent == keys.map(Self.key), "\(count)")
        }
    }

    @Test("[U-12.16] an index with a changed bit yields the batches before it")
    func everyBit() throws {
        let batches = try Self.batches()
        let (octets, ends) = Self.octets(batches.map(\.changes))
        for location in octets.indices {
            for bit in 0..<8 {
                var changed = octets
                changed[location] ^= 1 << bit
                let end = CacheLog.contents(of: changed).end
                #expect(end == ends.last { $0 <= location } ?? 0, "\(location), \(bit)")
            }
        }
    }

    @Test("a batch is valid only at its position")
    func placesOfBatches() throws {
        let batches = try Self.batches()
        let first = CacheLog.batch(batches[0].changes, at: CacheLog.head.count)
        let contents = CacheLog.contents(of: CacheLog.head + first + first)
        #expect(contents.end == CacheLog.head.count + first.count)
    }

    static let largeNumbers: [UInt64] = [
        .max, .max - 1, 1 << 63, (1 << 63) - 1, 1 << 62, 1 << 40, (1 << 40) - 1, 1 << 36, (1 << 36) + 1,
    ]

    @Test(
        "[U-12.16] impossible numbers are ignored, and stop no reader",
        arguments: Self.largeNumbers)
    func hostileNumbers(number: UInt64) throws {
        let good = try Self.item(1, 0)
        for field in 0..<3 {
            var writer = OctetWriter()
            writer.write(octet: 1)
            for index in 0..<3 { writer.write(index == field ? number : 1) }
            writer.write(1.0)
            writer.write("http://h/hostile")
            writer.write(octet: 0)
            writer.write(lengthPrefixed: try Self.terms().octets)
            // Removed, used, moved.
            for kind: UInt8 in [2, 3, 4] {
                writer.write(octet: kind)
                for index in 0..<2 { writer.write(index == field ? number : 1) }
                if kind == 4 { for index in 0..<3 { writer.write(index == field ? number : 0) } }
            }
            let octets = CacheLog.head + CacheLog.sealed(writer.octets, at: CacheLog.head.count)
            let batch = CacheLog.batch([.stored(Self.key(0), good)], at: octets.count)
            let contents = CacheLog.contents(of: octets + batch)
            #expect(contents.end == octets.count + batch.count)
            for lengths in [Self.lengths, [1: .max, number: .max], [1: 0]] {
                let index = CacheIndex(contents.changes, lengths: lengths)
                #expect(index.cost >= 0 && index.liveBytes.values.allSatisfy { $0 > 0 })
                #expect((index[Self.key(0)] != nil) == (lengths[1] != 0))
            }
        }
    }

    @Test("[U-12.16] lengths beyond the end of the index are refused")
    func hostileLengths() throws {
        let lengths: [UInt64] = Self.largeNumbers + [1_000]
        for length in lengths {
            var batch = OctetWriter()
            batch.write(length)
            batch.write(octets: [UInt8](repeating: 0, count: 100))
            #expect(CacheLog.contents(of: CacheLog.head + batch.octets).end == CacheLog.head.count)
            var text = OctetWriter()
            text.write(octet: 1)
            for _ in 0..<3 { text.write(UInt64(1)) }
            text.write(1.0)
            text.write(length)
            let sealed = CacheLog.sealed(text.octets, at: CacheLog.head.count)
            #expect(CacheLog.contents(of: CacheLog.head + sealed).end == CacheLog.head.count)
        }
    }

    @Test("entries beyond a segment's end, or in a missing segment, are ignored")
    func lengthsOfSegments() throws {
        let changes: [CacheLog.Change] = [
            .stored(Self.key(0), try Self.item(1, 0)), .stored(Self.key(1), try Self.item(1, 35)),
            .stored(Self.key(2), try Self.item(3, 0)), .stored(Self.key(3), try Self.item(1, 30)),
            .moved(try Self.item(1, 30).location.start, try Self.item(2, 5).location),
        ]
        let index = CacheIndex(changes, lengths: Self.lengths)
        #expect(index.keysFromLeastRecent == [Self.key(0)] && index.cost == 10 && index.liveBytes == [1: 10])
    }

    @Test("an index behaves like a dictionary and a list", arguments: 1...20)
    func model(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var index = CacheIndex()
        var changes: [CacheLog.Change] = []
        var model: [(key: Int, location: EntryLocation)] = []
        var next: UInt64 = 0
        func location() throws -> EntryLocation {
            next += 1
            let length = UInt64.random(in: 1..<100, using: &random)
            return try #require(EntryLocation(segment: next / 10, offset: next % 10 * 100, length: length))
        }
        let terms = try Self.terms()
        for _ in 0..<500 {
            let key = Int.random(in: 0..<20, using: &random)
            let old = model.firstIndex { $0.key == key }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let item = CacheIndex.Record(location: try location(), storedTime: Self.time, terms: terms)
                if let old { model.remove(at: old) }
                model.append((key, item.location))
                index.insert(item, for: Self.key(key))
                changes.append(.stored(Self.key(key), item))
            case 5:
                guard let old else { continue }
                changes.append(.removed(model.remove(at: old).location.start))
                index.remove(Self.key(key))
            case 6:
                guard let old else { continue }
                let other = try location()
                changes.append(.moved(model[old].location.start, other))
                let isMoved = index.move(Self.key(key), from: model[old].location, to: other)
                #expect(isMoved)
                model[old].location = other
            case 7:
                if let item = index.removeLeastRecent() { changes.append(.removed(item.location.start)) }
                if !model.isEmpty { model.removeFirst() }
            default:
                guard let old else { continue }
                changes.append(.used(model[old].location.start))
                _ = index.use(Self.key(key))
                model.append(model.remove(at: old))
            }
            #expect(index.cost == model.reduce(0) { $0 + $1.location.length } && index.count == model.count)
        }
        let lengths = Dictionary(uniqueKeysWithValues: (0...next / 10).map { ($0, 2_000) })
        let (octets, _) = Self.octets([changes])
        let read = CacheIndex(CacheLog.contents(of: octets).changes, lengths: lengths)
        for index in [index, read] {
            #expect(index.keysFromLeastRecent == model.map { Self.key($0.key) })
            #expect(model.allSatisfy { index[Self.key($0.key)]?.location == $0.location })
            let live = Dictionary(grouping: model, by: \.location.segment)
                .mapValues { $0.reduce(0) { $0 + $1.location.length } }
            #expect(index.liveBytes == live)
            for segment in 0...next / 10 {
                let keys = index.keys(in: segment).filter { index[$0]?.location.segment == segment }
                #expect(
                    Set(keys)
                        == Set(model.filter { $0.location.segment == segment }.map { Self.key($0.key) })
                )
            }
        }
    }
}
