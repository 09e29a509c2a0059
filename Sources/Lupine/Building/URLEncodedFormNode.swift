// SPDX-License-Identifier: MIT

/// A value on its way into a form: a string, a list, or a list of entries in the order in which their keys came.
enum URLEncodedFormNode {
    case string(String)
    case array([URLEncodedFormNode])
    case object(Entries)

    /// Entries of an object. Looked up one by one while they are few, by hash when they are many.
    struct Entries {
        private(set) var keys: [String] = []
        private(set) var nodes: [URLEncodedFormNode] = []
        private var positions: [String: Int] = [:]
        private static let few = 16

        var isEmpty: Bool { keys.isEmpty }

        /// Changes the node under `key`; a new key starts with an empty object.
        mutating func update(_ key: String, _ change: (inout URLEncodedFormNode) -> Void) {
            if let position = position(of: key) {
                change(&nodes[position])
                return
            }
            var node = URLEncodedFormNode.empty
            change(&node)
            keys.append(key)
            nodes.append(node)
            if keys.count > Self.few {
                if positions.isEmpty {
                    positions = Dictionary(uniqueKeysWithValues: zip(keys, keys.indices))
                } else {
                    positions[key] = keys.count - 1
                }
            }
        }

        private func position(of key: String) -> Int? {
            keys.count > Self.few ? positions[key] : keys.firstIndex(of: key)
        }
    }

    /// What every node starts as.
    static var empty: URLEncodedFormNode { .object(Entries()) }

    /// Puts `value` at the end of `path`. On the way a key with a number makes an array of what it meets, and one without
    /// makes an object of it; what was there of another kind is lost. An array has no gaps: an index behind its end, or
    /// before its start, appends.
    mutating func set(_ value: URLEncodedFormNode, at path: ArraySlice<any CodingKey>) {
        guard let key = path.first else {
            self = value
            return
        }
        let rest = path.dropFirst()
        if let index = key.intValue {
            var elements: [URLEncodedFormNode] = []
            if case .array(let present) = self { elements = present }
            // The elements are this variable's alone, so that changing one of them copies nothing.
            self = .string("")
            if elements.indices.contains(index) {
                elements[index].set(value, at: rest)
            } else {
                var element = URLEncodedFormNode.empty
                element.set(value, at: rest)
                elements.append(element)
            }
            self = .array(elements)
        } else {
            var entries = Entries()
            if case .object(let present) = self { entries = present }
            self = .string("")
            entries.update(key.stringValue) { $0.set(value, at: rest) }
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

/// The tree that all containers of one encoding write into. Used on one thread.
final class URLEncodedFormTree {
    private(set) var root = URLEncodedFormNode.empty

    func set(_ value: URLEncodedFormNode, at path: [any CodingKey]) { root.set(value, at: path[...]) }
}
