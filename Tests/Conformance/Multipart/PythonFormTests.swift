// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTestKit
import Testing

/// Multipart forms, read by Python's own parser.
@Suite struct PythonFormTests {
    /// A part as it was encoded, and as Python parsed it.
    struct Part: Codable, Hashable, Sendable {
        var name: String
        var fileName: String?
        var type: String?
        /// In Base64.
        var content: String
    }

    /// Reads the forms `0`, `1`, … of a folder, each with its content type in the first line, and writes their parts.
    private static let parser = """
        import base64, email, email.message, json, os, sys
        folder = sys.argv[1]
        def parameter(value, name):
            message = email.message.Message()
            message["content-disposition"] = value
            return message.get_param(name, header="content-disposition")
        forms = []
        for index in range(int(sys.argv[2])):
            data = open(os.path.join(folder, str(index)), "rb").read()
            message = email.message_from_bytes(data)
            assert message.is_multipart() and not message.defects, message.defects
            parts = []
            for part in message.get_payload():
                assert not part.defects, part.defects
                raw = dict((key.lower(), value) for key, value in part._headers)
                assert set(raw) <= {"content-disposition", "content-type"}, raw
                value = raw["content-disposition"].encode("ascii", "surrogateescape").decode("utf-8")
                assert value.startswith("form-data; ")
                content = part.get_payload(decode=True)
                parts.append({
                    "name": parameter(value, "name"), "fileName": parameter(value, "filename"),
                    "type": raw.get("content-type"), "content": base64.b64encode(content).decode()})
            forms.append(parts)
        json.dump(forms, open(os.path.join(folder, "parts.json"), "w"))
        """

    private static let alphabet = Array(
        "abcXYZ 019\"'`;=,:/\\[]{}()<>@#$%^&*+-_.~?|!\r\näöüßéñ日本語中文한국어👍🏽👨‍👩‍👧\u{301}\u{200B}\u{2028}\u{85}\u{FEFF}\t"
            .unicodeScalars)

    private static func name(_ random: inout some RandomNumberGenerator) -> String {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...24, using: &random) {
            scalars.append(alphabet.randomElement(using: &random) ?? "a")
        }
        // Browsers do not escape a backslash, but Python takes one before a quotation mark or a backslash as an escape.
        let name = String(scalars).replacing("\\\\", with: "\\")
        return name.hasSuffix("\\") ? name + "." : name
    }

    /// Returns a name as it is written between quotation marks.
    private static func written(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            case _: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    @Test("200 random forms with hostile names come out as they went in")
    func forms() async throws {
        let count = 200
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "forms-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var random = SeededRandom(seed: 20)
        var expected: [[Part]] = []
        for index in 0..<count {
            let form = MultipartFormData()
            var parts: [Part] = []
            for number in 0..<Int.random(in: 1...6, using: &random) {
                let bytes = Data(
                    (0..<Int.random(in: 0...3000, using: &random)).map { _ in
                        // Half of the bytes are taken from ends of lines and boundaries.
                        Bool.random(using: &random)
                            ? UInt8.random(in: .min ... .max, using: &random)
                            : Array("\r\n--".utf8).randomElement(using: &random) ?? 0
                    })
                let name = Self.name(&random)
                let fileName = Bool.random(using: &random) ? Self.name(&random) : nil
                let type = Bool.random(using: &random) ? "application/x-\(number)" : nil
                if let fileName, let type, Bool.random(using: &random) {
                    form.append(
                        InputStream(data: bytes), withLength: UInt64(bytes.count), name: name,
                        fileName: fileName,
                        mimeType: type)
                } else {
                    form.append(bytes, withName: name, fileName: fileName, mimeType: type)
                }
                parts.append(
                    Part(
                        name: Self.written(name), fileName: fileName.map(Self.written), type: type,
                        content: bytes.base64EncodedString()))
            }
            expected.append(parts)
            let body: Data
            if index.isMultiple(of: 2) {
                body = try form.encode()
            } else {
                let file = folder.appendingPathComponent("\(index).body")
                try form.writeEncodedData(to: file)
                body = try Data(contentsOf: file)
            }
            let head = Data("Content-Type: \(form.contentType)\r\n\r\n".utf8)
            try (head + body).write(to: folder.appendingPathComponent("\(index)"))
        }
        let end = try await Program.run("python3", ["-c", Self.parser, folder.path, "\(count)"])
        try #require(end == .exited(0))
        let json = try Data(contentsOf: folder.appendingPathComponent("parts.json"))
        let read = try JSONDecoder().decode([[Part]].self, from: json)
        #expect(read.count == count)
        for (index, (form, wanted)) in zip(read, expected).enumerated() {
            #expect(form == wanted, "form \(index)")
        }
    }
}
