// SPDX-License-Identifier: MIT
internal import CBenchmarkPeers

/// Names and values in memory at fixed addresses, as the C peers hold them.
@safe
final class StaticFields {
    private var owned: [UnsafeMutableBufferPointer<UInt8>] = unsafe []
    private(set) var fields: [peer_field] = unsafe []

    init(_ list: [(name: String, value: String)]) {
        for (name, value) in list {
            let field = unsafe peer_field(name: span(name), value: span(value))
            unsafe fields.append(field)
        }
    }

    /// Returns the text's bytes, followed by a zero that the span does not count.
    func span(_ text: String) -> peer_span {
        let bytes = Array(text.utf8)
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count + 1)
        _ = unsafe memory.initialize(fromContentsOf: bytes + [0])
        unsafe owned.append(memory)
        return unsafe peer_span(start: memory.baseAddress, count: bytes.count)
    }

    deinit {
        for index in unsafe owned.indices { unsafe owned[index].deallocate() }
    }
}
