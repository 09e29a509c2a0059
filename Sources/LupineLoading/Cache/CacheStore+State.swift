// SPDX-License-Identifier: MIT

internal import Foundation

/// What a store knows, under its one lock: what is in memory, what the folder holds, what is still to be done about it.
///
/// A value. Nothing here touches a disk, and whatever is thrown out is given back, to be let go of outside of the lock: a
/// program's own values may be in it, which do what they like when they end.
extension CacheStore {
    struct State: Sendable {
        var memory = PartyList<CacheKey, Held>()
        var memoryCapacity: Int
        var diskCapacity: Int
        /// The files of the folder. Nothing is said by it before `folderIsKnown`.
        var files = PartyList<CacheFileName, Bool>()
        var folderIsKnown = false
        var pending: [CacheFileName: Pending] = [:]
        /// What the entries that are to be written count for.
        var pendingSize = 0
        /// How often the folder is still to be emptied: until then what is in it counts for nothing.
        var clearings = 0
        /// The addresses whose files are still to be searched for and removed, and how often: until then what is in them
        /// counts for nothing.
        var hidden: [String: Int] = [:]
        /// How many changes were asked for.
        var number: UInt64 = 0
        /// How many octets were written since the folder was last looked through.
        var written = 0
    }

    /// What is known about a file without looking.
    enum Known: Sendable {
        case entry(CacheEntry)
        case nothing
        case lookInFolder
    }
}

extension CacheStore.State {
    /// The entry in memory under a key, which is now the one used last.
    mutating func used(_ key: CacheKey) -> CacheEntry? {
        guard let held = memory.use(key) else { return nil }
        if let name = held.name { _ = files.use(name) }
        return held.entry
    }

    /// What there is under a name without looking into the folder.
    func known(_ name: CacheFileName) -> CacheStore.Known {
        if let pending = pending[name] { return pending.entry.map { .entry($0) } ?? .nothing }
        if clearings > 0 || diskCapacity == 0 || hidden[name.address] != nil && !name.isPlain {
            return .nothing
        }
        return folderIsKnown && files[name] == nil ? .nothing : .lookInFolder
    }

    /// The files of an address that are there or are to be, as far as is known: the plain one, which is given, and the others.
    func names(of plain: CacheFileName) -> [CacheFileName] {
        let others = files.others(of: plain.address)
            .union(pending.keys.filter { !$0.isPlain && $0.address == plain.address })
        return [plain] + others
    }

    /// The folder may have files of the address that nobody knows of yet: they count for nothing from here on. Gives back
    /// whether that is so.
    mutating func hideUnknown(_ address: String) -> Bool {
        if folderIsKnown || clearings > 0 { return false }
        hidden[address, default: 0] += 1
        return true
    }

    /// They have been removed.
    mutating func showUnknown(_ address: String) {
        let count = (hidden[address] ?? 1) - 1
        hidden[address] = count == 0 ? nil : count
    }

    /// Puts what was read from the folder into memory, unless something newer is there or on its way. Gives back what had
    /// to go.
    mutating func promote(
        _ entry: CacheEntry, key: CacheKey, name: CacheFileName
    ) -> [CacheStore.Held] {
        guard memory[key] == nil, pending[name] == nil, clearings == 0,
            name.isPlain || hidden[name.address] == nil,
            entry.size <= CacheStore.Admission.loader.limit(memoryCapacity)
        else { return [] }
        memory.insert(CacheStore.Held(entry: entry, name: name), for: key, cost: entry.size)
        return evict()
    }

    /// Takes out of memory what is over its capacity. The caller lets go of it when it has left the lock: a program's own
    /// values may be in it, which do what they like when they end.
    mutating func evict() -> [CacheStore.Held] {
        var gone: [CacheStore.Held] = []
        while memory.cost > memoryCapacity, let (_, held) = memory.removeLeastRecent() { gone.append(held) }
        return gone
    }

    /// Notes what is to be done about a file, in place of what was to be done. Gives back its number, nil when nothing is,
    /// and what is not to be done any more.
    mutating func change(
        _ name: CacheFileName, _ change: CacheStore.Pending.Change
    ) -> (number: UInt64?, voided: CacheStore.Pending?) {
        number += 1
        let isUntouched = pending[name] == nil
        let voided = takePending(name)
        switch change {
        case .write(let entry, _, _): pendingSize += entry.size
        case .remove:
            // What was to be written may be on its way to the disk already; else the files that are known are all.
            if isUntouched, folderIsKnown, clearings == 0, files[name] == nil { return (nil, voided) }
        }
        pending[name] = CacheStore.Pending(change: change, number: number)
        return (number, voided)
    }

    /// Takes out what was to be done about a file, and gives it back: the request of what was to be written is the program's,
    /// as the response is.
    mutating func takePending(_ name: CacheFileName) -> CacheStore.Pending? {
        guard let taken = pending.removeValue(forKey: name) else { return nil }
        pendingSize -= taken.entry?.size ?? 0
        return taken
    }

    /// Takes over what was found in the folder: what is known keeps its turn, what is new counts as used just now.
    mutating func take(_ items: [CacheFolder.Item]) {
        written = 0
        if clearings > 0 { return }
        let sizes = Dictionary(items.map { ($0.name, $0.size) }, uniquingKeysWith: { first, _ in first })
        let old = files
        files.removeAll()
        for name in old.keysFromLeastRecent {
            if let size = sizes[name] { files.insert(true, for: name, cost: size) }
        }
        for item in items where old[item.name] == nil { files.insert(true, for: item.name, cost: item.size) }
    }
}
