// SPDX-License-Identifier: MIT

/// Writes the tree of a form as text, as the encoder's options define. Used on one thread.
struct URLEncodedFormSerializer {
    private let options: URLEncodedFormEncoder

    init(options: URLEncodedFormEncoder) { self.options = options }

    /// Returns the form as text. Throws if the root is a string or an array.
    func serialize(_ root: URLEncodedFormNode) throws(URLEncodedFormEncoder.Error) -> String {
        guard case .object(let entries) = root else { throw .invalidRootObject("\(root)") }
        return join(zip(entries.keys, entries.nodes).map { serialize($1, key: $0) })
    }

    /// Returns the `key=value` pairs of a node, joined by `&`. `key` is the whole key of the node, before `keyEncoding` is
    /// applied.
    private func serialize(_ node: URLEncodedFormNode, key: String) -> String {
        switch node {
        case .string(let text):
            options.escaping.escape(options.keyEncoding.encode(key)) + "=" + options.escaping.escape(text)
        case .array(let elements):
            join(
                elements.enumerated().map { index, element in
                    serialize(element, key: options.arrayEncoding.encode(key, atIndex: index))
                })
        case .object(let entries):
            join(
                zip(entries.keys, entries.nodes).map { subkey, entry in
                    serialize(entry, key: key + options.keyPathEncoding.encode(subkey))
                })
        }
    }

    /// Returns the pairs joined by `&`, sorted if the options say so.
    private func join(_ pairs: [String]) -> String {
        (options.alphabetizeKeyValuePairs ? pairs.sorted() : pairs).joined(separator: "&")
    }
}
