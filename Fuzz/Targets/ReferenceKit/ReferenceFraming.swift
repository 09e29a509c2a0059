// SPDX-License-Identifier: MIT

import LupineHTTP

/// The framing of a response's body: the rules of RFC 9112 §6.3 in their order, on plain arrays.
struct ReferenceFraming {
    private let head: ParsedHead
    private let method: Method

    init(_ head: ParsedHead, to method: Method) {
        self.head = head
        self.method = method
    }

    /// The framing and persistence; nil if the message must be refused.
    var verdict: (framing: BodyFraming, keepAlive: Bool)? {
        // The client stops reading HTTP after a tunnel's response (RFC 9110 §9.3.6).
        if method == .connect && head.status / 100 == 2 { return (.handover, false) }
        if head.status == 101 { return (.handover, false) }
        let options = elements(of: "connection")
        var keepAlive = !options.contains("close") && (!head.isHTTP10 || options.contains("keep-alive"))
        // Rule 1 applies whatever the fields contain, but a malformed length is still refused.
        guard let length = contentLength() else { return nil }
        if head.status == 204 {
            // The announced content may arrive anyway.
            if has("transfer-encoding") { keepAlive = false }
            if case .octets(let count) = length, count > 0 { keepAlive = false }
        }
        if head.status / 100 == 1 || head.status == 204 || head.status == 304 || method == .head {
            return (.none, keepAlive)
        }
        // Rules 3 and 4.
        if has("transfer-encoding") {
            guard elements(of: "transfer-encoding") == ["chunked"] else { return nil }
            if has("content-length") || head.isHTTP10 { keepAlive = false }
            return (.chunked, keepAlive)
        }
        // Rules 5 and 6, then 8.
        switch length {
        case .absent: return (.untilClose, false)
        case .octets(0): return (.none, keepAlive)
        case .octets(let count): return (.length(count), keepAlive)
        }
    }

    private enum Length {
        case absent
        case octets(Int64)
    }

    /// Returns the length if all values, in several lines or in lists, are the same number; otherwise nil.
    private func contentLength() -> Length? {
        guard has("content-length") else { return .absent }
        let numbers = elements(of: "content-length", keepingEmpty: true).map { text -> Int64? in
            guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
            return Int64(text)
        }
        guard let first = numbers.first, let number = first, numbers.allSatisfy({ $0 == number }) else {
            return nil
        }
        return .octets(number)
    }

    private func has(_ name: String) -> Bool { head.names.contains { lowercased($0) == name } }

    /// Returns the elements of all fields of that name in lowercase; commas in quoted strings do not separate.
    private func elements(of name: String, keepingEmpty: Bool = false) -> [String] {
        var elements: [String] = []
        for (fieldName, value) in zip(head.names, head.values) where lowercased(fieldName) == name {
            var element: [UInt8] = []
            var isQuoted = false
            var isEscaped = false
            var isOpen = true
            for octet in value + [0x2C] {
                isOpen = true
                if isEscaped {
                    isEscaped = false
                } else if isQuoted && octet == 0x5C {
                    isEscaped = true
                } else if octet == 0x22 {
                    isQuoted.toggle()
                } else if octet == 0x2C && !isQuoted {
                    elements.append(trimmed(lowercased(element)))
                    element = []
                    isOpen = false
                    continue
                }
                element.append(octet)
            }
            // An unterminated quoted string ends with the value, without the comma added above.
            if isOpen { elements.append(trimmed(lowercased(element.dropLast()))) }
        }
        return keepingEmpty ? elements : elements.filter { !$0.isEmpty }
    }

    private func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while let first = text.unicodeScalars.first, first == " " || first == "\t" {
            text.unicodeScalars.removeFirst()
        }
        while let last = text.unicodeScalars.last, last == " " || last == "\t" {
            text.unicodeScalars.removeLast()
        }
        return String(text)
    }

    private func lowercased(_ octets: some Sequence<UInt8>) -> String {
        var text = ""
        for octet in octets {
            let small = octet >= 0x41 && octet <= 0x5A ? octet + 0x20 : octet
            text.unicodeScalars.append(Unicode.Scalar(small))
        }
        return text
    }
}
