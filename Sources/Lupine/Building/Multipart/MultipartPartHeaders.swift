// SPDX-License-Identifier: MIT

/// The header lines of a part of a multipart form.
///
/// Names of fields and files come from users. They are written as browsers write them, in UTF-8 (WHATWG HTML,
/// "multipart/form-data encoding algorithm"). A quotation mark, a carriage return and a line feed become `%22`, `%0D` and `%0A`.
/// No name can therefore end its quoted string or its line and add headers or a body. This deviates from rule E-7.2.2, which
/// leaves these three characters unescaped. In other values and in header names, CR, LF and NUL become spaces (RFC 9110 §5.5).
struct MultipartPartHeaders {
    /// The header lines, each with CRLF at its end.
    let text: String

    /// Creates the headers of a field, or of a file if there is a file name.
    init(name: String, fileName: String?, mimeType: String?) {
        var disposition = "form-data; name=\"\(Self.escapedForQuotes(name))\""
        if let fileName { disposition += "; filename=\"\(Self.escapedForQuotes(fileName))\"" }
        text =
            Self.line("Content-Disposition", disposition)
            + (mimeType.map { Self.line("Content-Type", $0) } ?? "")
    }

    /// Creates the lines of these headers.
    init(_ headers: HTTPHeaders) {
        text = headers.map { Self.line($0.name, $0.value) }.joined()
    }

    /// Returns the line of a header field, with CRLF at its end.
    private static func line(_ name: String, _ value: String) -> String {
        "\(onOneLine(name)): \(onOneLine(value))\r\n"
    }

    /// Returns the name with the characters escaped that would end a quoted string or a line.
    private static func escapedForQuotes(_ name: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": result.append(contentsOf: "%22".unicodeScalars)
            case "\r": result.append(contentsOf: "%0D".unicodeScalars)
            case "\n": result.append(contentsOf: "%0A".unicodeScalars)
            case _: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns the text with CR, LF and NUL replaced by spaces.
    private static func onOneLine(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(scalar == "\r" || scalar == "\n" || scalar == "\0" ? " " : scalar)
        }
        return String(result)
    }
}
