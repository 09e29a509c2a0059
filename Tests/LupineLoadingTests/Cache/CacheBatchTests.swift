// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineLoading

/// How the store's state keeps pending changes while the storage queue writes a batch of them in pieces.
struct CacheBatchTests {
    typealias State = CacheStore.State

    /// A state, and the keys and the entries that its changes use.
    struct Stage {
        var state = State(memoryCapacity: 0, diskCapacity: 1 << 30)
        var removed = CacheStore.RemovedObjects()
        /// The number of octets that have been written, where the next entry begins.
        var end: UInt64 = 0
        let terms: CacheTerms

        init() throws {
            state.hasReadFolder = true
            terms = try #require(CacheTerms(try Self.entry("")))
        }

        static func entry(_ content: String) throws -> CacheEntry {
            CacheStage.entry(try CacheStage.loaded(content), for: try CacheStage.request())
        }

        static func key(_ number: Int) -> CacheKey { CacheKey(address: "http://h/\(number)", partition: nil) }

        /// Stores a content under a key; nil removes what is stored there.
        mutating func change(_ number: Int, _ content: String?) throws {
            let action: CacheStore.PendingChange.Action =
                try content.map { .write(try Self.entry($0), .program) } ?? .remove
            state.addChange(to: Self.key(number), action, &removed)
        }

        mutating func clear() {
            state.dropPendingChanges()
            state.clearFolder()
        }

        /// Returns a record for each entry of a batch, as if it had been appended to a segment.
        mutating func records(of batch: CacheStore.Batch) throws -> [CacheIndex.Record?] {
            try batch.changes.map { _, change in
                guard let entry = change.entry else { return nil }
                end += 1
                let location = try #require(EntryLocation(segment: 0, offset: end, length: 1))
                return CacheIndex.Record(location: location, storedTime: entry.storedTime, terms: terms)
            }
        }

        /// Takes a batch of all changes.
        mutating func batch(upTo size: Int = .max) -> CacheStore.Batch {
            var batch = state.beginBatch()
            while state.extendBatch(&batch, upTo: size) {}
            return batch
        }

        mutating func recordWritten(_ batch: CacheStore.Batch, _ records: [CacheIndex.Record?]) {
            state.recordWritten(batch.changes.indices, of: batch, records)
        }

        /// What a look-up finds: a content that waits, `disk` for an entry in the folder, or nil.
        func found(_ number: Int) -> String? {
            switch state.lookUp(Self.key(number)) {
            case .entry(let entry): entry.content
            case .onDisk: "disk"
            case .nothing, .unknown: nil
            }
        }
    }

    @Test("[U-12.3] a batch contains the newest change to each entry, in order, up to its size")
    func contents() throws {
        var stage = try Stage()
        for number in 0..<40 { try stage.change(number % 20, "\(number)") }
        let size = try Stage.entry("20").size
        let first = stage.batch(upTo: 3 * size)
        #expect(first.changes.map { $0.change.entry?.content } == ["20", "21", "22"])
        #expect(first.size == 3 * size && first.writeCount == 3)
        #expect(stage.batch(upTo: 0).changes.isEmpty)
        let rest = stage.batch()
        #expect(rest.changes.map { $0.change.entry?.content } == (23..<40).map { "\($0)" })
        #expect(stage.state.queue.isEmpty && stage.state.pendingChanges.count == 20)
        // Look-ups find what is being written.
        #expect((0..<20).map { stage.found($0) } == (20..<40).map { "\($0)" })
    }

    @Test("[U-12.3] a change while the batch is being written stays pending, and look-ups see it")
    func changesMeanwhile() throws {
        let rows: [(before: String?, after: String?)] = [("a", "b"), ("a", nil), (nil, "b"), (nil, nil)]
        for (before, after) in rows {
            var stage = try Stage()
            try stage.change(0, "old")
            var batch = stage.batch()
            stage.recordWritten(batch, try stage.records(of: batch))
            #expect(stage.found(0) == "disk" && stage.state.pendingSize == 0)
            try stage.change(0, before)
            batch = stage.batch()
            try stage.change(0, after)
            #expect(stage.found(0) == after)
            stage.recordWritten(batch, try stage.records(of: batch))
            #expect(stage.found(0) == after, "\(rows)")
            batch = stage.batch()
            #expect(batch.changes.map { $0.change.entry?.content } == [after])
            stage.recordWritten(batch, try stage.records(of: batch))
            #expect(stage.found(0) == (after == nil ? nil : "disk"))
            #expect(stage.state.pendingChanges.isEmpty && stage.state.pendingSize == 0)
        }
    }

    @Test("[U-12.3] changes after the cache was cleared belong to the next batch, which clears first")
    func clearing() throws {
        var stage = try Stage()
        for number in 0..<40 { try stage.change(number, "a") }
        var batch = stage.state.beginBatch()
        #expect(stage.state.extendBatch(&batch, upTo: .max) == true)
        stage.clear()
        try stage.change(1, "b")
        #expect(stage.state.extendBatch(&batch, upTo: .max) == false)
        #expect(!batch.mustClear && batch.changes.count == State.pieceLength)
        #expect(batch.clearCount != stage.state.clearCount)
        #expect(stage.found(0) == nil && stage.found(1) == "b")
        let next = stage.batch()
        #expect(next.mustClear && next.clearCount == stage.state.clearCount)
        #expect(next.changes.map { $0.change.entry?.content } == ["b"])
    }

    @Test("a batch ends although changes are requested as fast as it is taken")
    func endlessChanges() throws {
        var stage = try Stage()
        for number in 0..<20 { try stage.change(number, "a") }
        var batch = stage.state.beginBatch()
        var next = 20
        while stage.state.extendBatch(&batch, upTo: .max) {
            for _ in 0..<State.pieceLength {
                try stage.change(next, "b")
                next += 1
            }
        }
        #expect(batch.changes.count == 20)
        #expect(stage.batch().changes.count == next - 20)
    }

    @Test("[U-12.3] batches in pieces agree with a dictionary, over random changes", arguments: 1...20)
    func model(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var stage = try Stage()
        // What was stored last, and what is in the folder, by key.
        var (latest, folder): ([Int: String], [Int: String]) = ([:], [:])
        for round in 0..<60 {
            func changeSome() throws {
                for step in 0..<Int.random(in: 0..<12, using: &random) {
                    let number = Int.random(in: 0..<30, using: &random)
                    let content = Bool.random(using: &random) ? "\(round).\(step)" : nil
                    try stage.change(number, content)
                    latest[number] = content
                }
                if Int.random(in: 0..<40, using: &random) == 0 {
                    stage.clear()
                    (latest, folder) = ([:], [:])
                }
                for number in 0..<30 {
                    let found = stage.found(number)
                    #expect(found == latest[number] || found == "disk" && folder[number] == latest[number])
                }
            }
            try changeSome()
            var batch = stage.state.beginBatch()
            while stage.state.extendBatch(&batch, upTo: Int.random(in: 1..<500, using: &random)) {
                try changeSome()
            }
            if batch.mustClear, stage.state.clearCount == batch.clearCount { stage.state.mustClear = false }
            let records = try stage.records(of: batch)
            var start = 0
            while start < records.count, stage.state.clearCount == batch.clearCount {
                let end = min(records.count, start + Int.random(in: 1..<8, using: &random))
                stage.state.recordWritten(start..<end, of: batch, records)
                for (key, change) in batch.changes[start..<end] {
                    let number = try #require(Int(key.address.dropFirst("http://h/".count)))
                    folder[number] = change.entry?.content
                }
                start = end
                try changeSome()
            }
        }
        let batch = stage.batch()
        if batch.mustClear { stage.state.mustClear = false }
        stage.recordWritten(batch, try stage.records(of: batch))
        #expect(stage.state.pendingChanges.isEmpty && stage.state.pendingSize == 0)
        #expect((0..<30).filter { stage.found($0) == "disk" } == latest.keys.sorted())
    }
}
