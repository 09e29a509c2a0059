// SPDX-License-Identifier: MIT

/// Writes the tree of a form as text, as the encoder's options define. Used on one thread.
struct URLEncodedFormSerializer {
    private let options: URLEncodedFormEncoder

    init(options: URLEncodedFormEncoder) { self.options = options }

    /// Returns the form. Throws when the root is a string or an array.
    func serialize(_ root: URLEncodedFormNode) throws(URLEncodedFormEncoder.Error) -> String {
        guard case .object(let entries) = root else { throw .invalidRootObject("\(root)") }
        return join(zip(entries.keys, entries.nodes).map { serialize($1, key: $0) })
    }

    /// Returns the pairs of a node whose key is composed, but not yet encoded.
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

    private func join(_ pieces: [String]) -> String {
        (options.alphabetizeKeyValuePairs ? pieces.sorted() : pieces).joined(separator: "&")
    }
}
