// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

@Suite struct MIMETypeTableTests {
    private func type(_ fileExtension: String) -> String { MIMETypeTable.type(forExtension: fileExtension) }

    @Test("[E-7.3.1, E-7.3.2] an unknown extension has the type application/octet-stream")
    func unknown() {
        for fileExtension in ["zzunknown", "", "png ", ".png", "pn g", "💾", "a/b"] {
            #expect(type(fileExtension) == "application/octet-stream")
        }
    }

    @Test(
        "[E-7.3.3, E-10.8] the types of common extensions, ignoring case",
        arguments: [
            ("png", "image/png"), ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"), ("gif", "image/gif"),
            ("tif", "image/tiff"), ("tiff", "image/tiff"), ("bmp", "image/bmp"), ("webp", "image/webp"),
            ("heic", "image/heic"), ("svg", "image/svg+xml"), ("txt", "text/plain"), ("htm", "text/html"),
            ("html", "text/html"), ("css", "text/css"), ("csv", "text/csv"), ("js", "text/javascript"),
            ("json", "application/json"), ("xml", "application/xml"), ("pdf", "application/pdf"),
            ("zip", "application/zip"), ("mp3", "audio/mpeg"), ("m4a", "audio/mp4"), ("mp4", "video/mp4"),
            ("mov", "video/quicktime"), ("mpg", "video/mpeg"), ("mpeg", "video/mpeg"),
        ])
    func usual(fileExtension: String, expected: String) throws {
        #expect(type(fileExtension) == expected)
        #expect(type(fileExtension.uppercased()) == expected)
        #expect(type(fileExtension.capitalized) == expected)
        let folder = try FormFolder()
        let form = MultipartFormData(boundary: "B")
        form.append(try folder.file("a.\(fileExtension)", []), withName: "n")
        let text = String(decoding: try form.encode(), as: UTF8.self)
        #expect(text.contains("\r\nContent-Type: \(expected)\r\n\r\n"))
    }

    @Test("the built-in table has more than 300 valid types, and each extension once")
    func houseTable() {
        let table = MIMETypeTable(lines: MIMETypeTable.builtInLines)
        let lines = MIMETypeTable.builtInLines.split(separator: "\n")
        #expect(lines.count >= 300)
        #expect(table.allTypes.count == lines.count)
        let extensions = lines.flatMap { $0.split(separator: " ").dropFirst() }
        #expect(extensions.count == table.count && Set(extensions).count == extensions.count)
        for (line, expected) in lines.map({ ($0.split(separator: " "), $0.prefix { $0 != " " }) }) {
            for fileExtension in line.dropFirst() { #expect(type(String(fileExtension)) == expected) }
        }
    }

    @Test("tables in the format of the system's mime.types")
    func systemTables() throws {
        let lines = """
            # a remark

            text/x-one\tone ONE uno # and another
            text/x-two  two one
            no-type three
            text/ four
            text/x/y five
            text/b\u{E4}d six
            text/x-crlf seven\r
            text/alone
            """
        let table = MIMETypeTable(lines: lines)
        #expect(table["one"] == "text/x-one" && table["uno"] == "text/x-one" && table["two"] == "text/x-two")
        #expect(table["seven"] == "text/x-crlf" && table.count == 4)
        let folder = try FormFolder()
        let file = try folder.file("mime.types", Array(lines.utf8) + [0x0A, 0xFF, 0xFE])
        #expect(MIMETypeTable(path: file.path).count == 4)
        #expect(MIMETypeTable(path: folder["missing"].path).count == 0)
        #expect(MIMETypeTable(path: folder.url.path).count == 0)
    }
}
