// SPDX-License-Identifier: MIT

/// A node of the tree that is built before a form is written: a string, an array, or an object with its entries in insertion
/// order.
enum URLEncodedFormNode {
    case string(String)
    case array([URLEncodedFormNode])
    case object(Entries)

    /// The entries of an object, in insertion order. A key is found by linear search among up to `linearSearchLimit` entries, and
    /// by its hash among more.
    struct Entries {
        private(set) var keys: [String] = []
        /// The nodes, each at the position of its key in `keys`.
        private(set) var nodes: [URLEncodedFormNode] = []
        /// The position of each key; empty up to `linearSearchLimit` entries.
        private var positions: [String: Int] = [:]
        private static let linearSearchLimit = 16

        var isEmpty: Bool { keys.isEmpty }

        /// Calls `change` with the node under `key`. If there is none, adds one, which is an empty object at first.
        mutating func update(_ key: String, _ change: (inout URLEncodedFormNode) -> Void) {
            if let position = position(of: key) {
                change(&nodes[position])
                return
            }
            var node = URLEncodedFormNode.empty
            change(&node)
            keys.append(key)
            nodes.append(node)
            if keys.count > Self.linearSearchLimit {
                // When the limit is exceeded for the first time, all keys are entered.
                if positions.isEmpty {
                    positions = Dictionary(uniqueKeysWithValues: zip(keys, keys.indices))
                } else {
                    positions[key] = keys.count - 1
                }
            }
        }

        private func position(of key: String) -> Int? {
            keys.count > Self.linearSearchLimit ? positions[key] : keys.firstIndex(of: key)
        }
    }

    /// The initial value of every node.
    static var empty: URLEncodedFormNode { .object(Entries()) }

    /// Sets the node at `path` to `value`. Each node on the path becomes an array if the next key has an integer value, otherwise
    /// an object. If the node was of another kind, its previous value is lost. Arrays have no gaps: an element whose index is out
    /// of bounds is appended.
    mutating func set(_ value: URLEncodedFormNode, at path: ArraySlice<any CodingKey>) {
        guard let key = path.first else {
            self = value
            return
        }
        let remainingPath = path.dropFirst()
        if let index = key.intValue {
            var elements: [URLEncodedFormNode] = []
            if case .array(let existing) = self { elements = existing }
            // Releases the second reference to the elements, so that changing one of them does not copy the array.
            self = .string("")
            if elements.indices.contains(index) {
                elements[index].set(value, at: remainingPath)
            } else {
                var element = URLEncodedFormNode.empty
                element.set(value, at: remainingPath)
                elements.append(element)
            }
            self = .array(elements)
        } else {
            var entries = Entries()
            if case .object(let existing) = self { entries = existing }
            // Releases the second reference to the entries, for the same reason.
            self = .string("")
            entries.update(key.stringValue) { $0.set(value, at: remainingPath) }
            self = .object(entries)
        }
    }
}

extension URLEncodedFormNode: CustomStringConvertible {
    var description: String {
        switch self {
        case .string(let text): text
        case .array(let elements): "\(elements)"
        case .object(let entries):
            "[" + zip(entries.keys, entries.nodes).map { "\($0): \($1)" }.joined(separator: ", ") + "]"
        }
    }
}

/// The tree that all containers of one encoding write to. Used on one thread.
final class URLEncodedFormTree {
    private(set) var root = URLEncodedFormNode.empty

    func set(_ value: URLEncodedFormNode, at path: [any CodingKey]) { root.set(value, at: path[...]) }
}
