// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineLoading

struct RecencyListTests {
    /// A slow implementation of the same; the most recently used item is the last.
    struct Model {
        var items: [(key: Int, value: Int, cost: Int)] = []

        mutating func use(_ key: Int) -> Int? {
            guard let index = items.firstIndex(where: { $0.key == key }) else { return nil }
            let item = items.remove(at: index)
            items.append(item)
            return item.value
        }

        mutating func remove(_ key: Int) -> Int? {
            items.firstIndex { $0.key == key }.map { items.remove(at: $0).value }
        }

        mutating func insert(_ value: Int, _ key: Int, _ cost: Int) -> Int? {
            let old = remove(key)
            items.append((key, value, cost))
            return old
        }

        mutating func replace(_ value: Int, _ key: Int, _ cost: Int) {
            guard let index = items.firstIndex(where: { $0.key == key }) else { return }
            items[index] = (key, value, cost)
        }
    }

    @Test("[U-12.3] the least recently used element is removed first, as in a model list", arguments: 1...20)
    func model(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var list = RecencyList<Int, Int>()
        var model = Model()
        for step in 0..<2_000 {
            let key = Int.random(in: 0..<12, using: &random)
            let cost = Int.random(in: 0..<100, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2: #expect(list.insert(step, for: key, cost: cost) == model.insert(step, key, cost))
            case 7:
                list.replace(step, for: key, cost: cost)
                model.replace(step, key, cost)
            case 3, 4: #expect(list.use(key) == model.use(key))
            case 5: #expect(list.remove(key) == model.remove(key))
            default:
                let first = model.items.isEmpty ? nil : model.items.removeFirst()
                let removed = list.removeLeastRecent()
                #expect(removed?.key == first?.key && removed?.value == first?.value)
            }
            #expect(list.keysFromLeastRecent == model.items.map(\.key))
            #expect(list.cost == model.items.reduce(0) { $0 + $1.cost } && list.count == model.items.count)
            #expect(list[key] == model.items.first { $0.key == key }?.value)
        }
        list.removeAll()
        #expect(list.count == 0 && list.cost == 0 && list.removeLeastRecent() == nil)
    }

    @Test("the sum of costs saturates")
    func largeCosts() {
        var list = RecencyList<Int, Int>()
        for key in 0..<4 { list.insert(key, for: key, cost: .max - key) }
        #expect(list.cost == .max)
        list.insert(0, for: 0, cost: 5)
        for key in 1..<3 { list.remove(key) }
        #expect(list.cost == .max, "the last large one and five")
        list.remove(3)
        #expect(list.cost == 5)
    }
}
