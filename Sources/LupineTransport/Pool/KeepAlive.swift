// SPDX-License-Identifier: MIT

/// A server's hint about how long it keeps a connection open: the field `Keep-Alive: timeout=5, max=99`.
///
/// Only RFC 2068 §19.7.1.1 specifies the field. Servers send it, and a client that follows it sends fewer requests on
/// connections that the server has closed. Unknown or malformed parameters are ignored.
package struct KeepAlive: Hashable, Sendable {
    /// How long the server keeps the connection idle, from the end of the response.
    package var timeout: Interval?
    /// How many further requests the server accepts on the connection.
    package var maximum: Int?

    /// Creates a hint from its parameters.
    package init(timeout: Interval? = nil, maximum: Int? = nil) {
        self.timeout = timeout
        self.maximum = maximum
    }

    /// Parses the value of one `Keep-Alive` field. The first well-formed `timeout` and `max` are used.
    package init(fieldValue: Span<UInt8>) {
        var name: [UInt8] = []
        var digits: Int?
        var state = State.name
        // Space or tab.
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        /// Stores the parameter that ends here, and starts the next one.
        func finish(_ hint: inout KeepAlive) {
            if state == .digits || state == .tail, let digits {
                if hint.timeout == nil, name == Array("timeout".utf8) {
                    hint.timeout = .seconds(Int64(digits))
                }
                if hint.maximum == nil, name == Array("max".utf8) { hint.maximum = digits }
            }
            name.removeAll(keepingCapacity: true)
            digits = nil
            state = .name
        }
        var hint = KeepAlive(timeout: nil, maximum: nil)
        for index in fieldValue.indices {
            let byte = fieldValue[index]
            // A comma or semicolon ends the parameter.
            if byte == 0x2C || byte == 0x3B {
                finish(&hint)
                continue
            }
            switch state {
            case .name:
                if byte == 0x3D {  // =
                    state = .digits
                } else if !isSpace(byte) {
                    // Converts A-Z to lower case.
                    name.append(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte)
                    if name.count > Self.longestName { state = .ignored }
                } else if !name.isEmpty {
                    state = .ignored
                }
            case .digits:
                if byte >= 0x30, byte <= 0x39 {  // 0-9; a number that overflows becomes `Int.max`
                    let value = (digits ?? 0).multipliedReportingOverflow(by: 10)
                    let sum = value.partialValue.addingReportingOverflow(Int(byte - 0x30))
                    digits = value.overflow || sum.overflow ? .max : sum.partialValue
                } else if isSpace(byte) {
                    if digits != nil { state = .tail }
                } else {
                    state = .ignored
                }
            case .tail:
                if !isSpace(byte) { state = .ignored }
            case .ignored:
                break
            }
        }
        finish(&hint)
        self = hint
    }

    private enum State {
        /// Before `=`.
        case name
        case digits
        /// In the blanks after the digits.
        case tail
        /// In a malformed or unknown parameter.
        case ignored
    }

    /// The length of `timeout`, the longest known name.
    private static let longestName = 7

    /// The server's time-out, shortened so that a request sent at the last moment still arrives before the server closes. A
    /// time-out of two seconds or more is shortened by one second, a smaller one by half.
    var safeTimeout: Interval? {
        guard let timeout else { return nil }
        let nanoseconds = timeout.nanoseconds
        return Interval(
            nanoseconds: nanoseconds >= 2_000_000_000 ? nanoseconds - 1_000_000_000 : nanoseconds / 2)
    }
}
