// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Builds the body of a request from items, `-d`, `-F`, `--raw`, `-T` or the standard input. It reads files, and the standard
/// input if no other source is given.
struct ContentBuilder {
    let invocation: Invocation
    let context: ProcessContext
    /// The folder for multipart forms that are too large for memory.
    let scratch: URL

    /// Returns the body with its type and query.
    func build() throws -> RequestContent {
        var content = RequestContent()
        for case .query(let name, let value) in invocation.items { content.query.append((name, value)) }
        for piece in invocation.queryPieces { try addQuery(piece, to: &content) }
        if let file = invocation.upload {
            content.body = try upload(file)
            content.source = "-T"
        } else if !invocation.data.isEmpty {
            try takeData(into: &content)
        } else if !invocation.parts.isEmpty {
            let form = MultipartFormData()
            for (index, part) in invocation.parts.enumerated() {
                try append(part, to: form, isPlain: invocation.literalParts.contains(index))
            }
            try take(form, into: &content)
            content.source = "-F"
        } else if let raw = invocation.raw {
            take(Data(raw.utf8), into: &content)
            content.source = "--raw"
        } else if invocation.items.contains(where: \.isContent) {
            try takeItems(into: &content)
            content.source = "items"
        } else {
            try takeStandardInput(into: &content)
        }
        if !content.body.isNone, let method = invocation.method {
            try InvocationCheck.checkBody(of: method, from: content.source)
        }
        return content
    }

    // MARK: -T and the standard input

    private func upload(_ typed: String) throws -> MessageBody {
        if typed == "-" {
            guard let path = context.input.path else { return .data(try readInput()) }
            return .standardInput(path: path)
        }
        let path = context.path(typed)
        do {
            let values = try FileManager.default.attributesOfItem(atPath: path)
            guard let size = values[.size] as? NSNumber, FileManager.default.isReadableFile(atPath: path)
            else {
                throw CommandFailure.unreadable(typed, nil)
            }
            return .file(path: path, count: size.int64Value)
        } catch let failure as CommandFailure {
            throw failure
        } catch { throw CommandFailure.unreadable(typed, error) }
    }

    private func takeStandardInput(into content: inout RequestContent) throws {
        let kind = context.input.kind
        guard !invocation.ignoresStandardInput, kind == .pipe || kind == .file, !invocation.asksForHead,
            !invocation.urls.contains(where: InvocationCheck.isSocket)
        else { return }
        let notice = warnOfSilentInput()
        defer { notice.cancel() }
        let data = try readInput()
        guard !data.isEmpty else { return }
        take(data, into: &content)
        content.source = "the standard input; --ignore-stdin leaves it alone"
    }

    /// Prints a message if the input stays silent for three seconds: a script's pipe may have no writer.
    private func warnOfSilentInput() -> Task<Void, Never> {
        let (errors, isSilent) = (context.errors, invocation.isSilent)
        return Task.detached {
            try? await Task.sleep(for: .seconds(3))
            guard !Task.isCancelled, !isSilent else { return }
            errors.say("lupine: waiting for a body from the standard input; --ignore-stdin leaves it alone\n")
        }
    }

    private func readInput() throws -> Data {
        var all = Data()
        do {
            while let piece = try context.input.read() { all.append(piece) }
        } catch { throw CommandFailure.unreadable("the standard input", error) }
        return all
    }

    private func read(_ typed: String) throws -> Data {
        if typed == "-" { return try readInput() }
        do { return try Data(contentsOf: URL(fileURLWithPath: context.path(typed))) } catch {
            throw CommandFailure.unreadable(typed, error)
        }
    }

    /// Takes a body whose type is derived from its bytes.
    private func take(_ data: Data, into content: inout RequestContent) {
        content.body = .data(data)
        if invocation.itemForm == .form {
            content.type = "application/x-www-form-urlencoded; charset=utf-8"
        } else if JSONText.isValid([UInt8](data)) {
            content.type = "application/json"
            content.wantsJSON = true
        } else {
            let isText = String(validating: data, as: UTF8.self) != nil && !data.contains(0)
            content.type = isText ? "text/plain; charset=utf-8" : "application/octet-stream"
        }
    }

    // MARK: -d

    private func takeData(into content: inout RequestContent) throws {
        var all = Data()
        for piece in invocation.data {
            if !all.isEmpty, piece.kind != .json { all.append(UInt8(ascii: "&")) }
            all.append(try bytes(of: piece))
        }
        if invocation.putsDataIntoQuery {
            content.rawQuery =
                ((content.rawQuery.map { [$0] } ?? []) + [String(decoding: all, as: UTF8.self)])
                .joined(separator: "&")
            return
        }
        content.body = .data(all)
        content.source = "-d"
        content.wantsJSON = invocation.itemForm == .json
        content.type = content.wantsJSON ? "application/json" : "application/x-www-form-urlencoded"
    }

    private func bytes(of piece: Invocation.DataPiece) throws -> Data {
        let file = piece.text.hasPrefix("@") ? String(piece.text.dropFirst()) : nil
        switch piece.kind {
        case .raw: return Data(piece.text.utf8)
        case .binary, .json: return try file.map(read) ?? Data(piece.text.utf8)
        case .text:
            guard let file else { return Data(piece.text.utf8) }
            return try read(file).filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
        case .urlEncode: return Data(try encoded(piece.text).utf8)
        }
    }

    /// Adds curl's --url-query: percent-encoded, unless it begins with a plus sign.
    private func addQuery(_ piece: String, to content: inout RequestContent) throws {
        let text = piece.hasPrefix("+") ? String(piece.dropFirst()) : try encoded(piece)
        content.rawQuery = (content.rawQuery.map { $0 + "&" } ?? "") + text
    }

    /// Encodes `content`, `=content`, `name=content`, `@file` or `name@file`, as curl does.
    private func encoded(_ text: String) throws -> String {
        guard let place = text.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
            return PercentEncoding.form(text)
        }
        let name = text[..<place]
        let rest = String(text[text.index(after: place)...])
        let value = text[place] == "=" ? rest : String(decoding: try read(rest), as: UTF8.self)
        return (name.isEmpty ? "" : "\(name)=") + PercentEncoding.form(value)
    }

    // MARK: forms of parts

    /// Appends `NAME=CONTENT`, `NAME=@FILE` or `NAME=<FILE`, with `;type=` and `;filename=`. A plain part is a literal
    /// `NAME=CONTENT`.
    private func append(_ part: String, to form: MultipartFormData, isPlain: Bool) throws {
        let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        let name = halves[0]
        if isPlain { return form.append(Data(halves[1].utf8), withName: name) }
        var pieces = halves[1].split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        var content = pieces.removeFirst()
        var type: String?
        var filename: String?
        for piece in pieces {
            let trimmed = String(piece.drop(while: { $0 == " " }))
            if trimmed.hasPrefix("type=") {
                type = String(trimmed.dropFirst(5))
            } else if trimmed.hasPrefix("filename=") {
                filename = String(trimmed.dropFirst(9)).trimmingCharacters(
                    in: CharacterSet(charactersIn: "\""))
            } else {
                content += ";" + piece
            }
        }
        if content.hasPrefix("@") {
            try attach(String(content.dropFirst()), name: name, type: type, filename: filename, to: form)
        } else if content.hasPrefix("<") {
            form.append(try read(String(content.dropFirst())), withName: name, mimeType: type)
        } else {
            form.append(Data(content.utf8), withName: name, fileName: filename, mimeType: type)
        }
    }

    private func attach(
        _ typed: String, name: String, type: String?, filename: String?, to form: MultipartFormData
    ) throws {
        let filename = filename ?? typed.split(separator: "/").last.map(String.init) ?? "data"
        let type = type ?? MediaTypes.type(ofFile: typed)
        if typed == "-" {
            return form.append(try readInput(), withName: name, fileName: filename, mimeType: type)
        }
        let path = context.path(typed)
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw CommandFailure.unreadable(typed, CocoaError(.fileReadNoSuchFile))
        }
        form.append(URL(fileURLWithPath: path), withName: name, fileName: filename, mimeType: type)
    }

    private func take(_ form: MultipartFormData, into content: inout RequestContent) throws {
        content.type = form.contentType
        do {
            if form.contentLength < MultipartFormData.encodingMemoryThreshold {
                content.body = .data(try form.encode())
            } else {
                // Other users may access the temporary folder, so this one is closed to them.
                try FileManager.default.createDirectory(
                    at: scratch, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                let file = scratch.appendingPathComponent("form-\(UUID().uuidString)")
                try form.writeEncodedData(to: file)
                let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber
                content.body = .file(path: file.path, count: size?.int64Value ?? 0)
            }
        } catch { throw CommandFailure.unreadable("a file of the form", error) }
    }

    // MARK: items

    private func takeItems(into content: inout RequestContent) throws {
        let items = invocation.items.filter(\.isContent)
        if items.count == 1, case .file("", let path, let type) = items[0] {
            content.body = try upload(path)
            content.type = type ?? MediaTypes.type(ofFile: path)
            return
        }
        let hasFile = items.contains { if case .file = $0 { true } else { false } }
        switch invocation.itemForm ?? .json {
        case .json:
            if hasFile {
                throw UsageError(
                    "a file cannot stand in JSON: use --form to upload it, name=@file for its text, or @file alone"
                )
            }
            try takeObject(items, into: &content)
        case .form where !hasFile: try takeForm(items, into: &content)
        case .form, .multipart:
            let form = MultipartFormData()
            for item in items { try append(item, to: form) }
            try take(form, into: &content)
        }
    }

    private func takeObject(_ items: [RequestItem], into content: inout RequestContent) throws {
        // A path that begins with a bracket makes the root an array.
        let first = items.lazy.compactMap(\.fieldName).first.map { Array($0.prefix(1)) == ["["] } ?? false
        var tree = first ? JSONTree.array([]) : JSONTree.object([])
        for item in items {
            let member: (name: String, json: String)
            switch item {
            case .field(let name, let value): member = (name, JSONText.quoted(value))
            case .textFile(let name, let path):
                member = (name, JSONText.quoted(String(decoding: try read(path), as: UTF8.self)))
            case .json(let name, let text): member = (name, try json(Data(text.utf8), of: name))
            case .jsonFile(let name, let path): member = (name, try json(try read(path), of: name))
            case .header, .withoutHeader, .emptyHeader, .query, .file: continue
            }
            try tree.put(member.json, at: JSONTree.steps(member.name), of: member.name)
        }
        content.body = .data(Data(tree.text.utf8))
        content.type = "application/json"
        content.wantsJSON = true
    }

    private func json(_ data: Data, of name: String) throws -> String {
        guard JSONText.isValid([UInt8](data)) else {
            throw UsageError(
                "the value of `\(name)` is no JSON: quote text twice (\(name):='\"text\"') or write \(name)=text"
            )
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func takeForm(_ items: [RequestItem], into content: inout RequestContent) throws {
        var pairs: [String] = []
        for item in items {
            let pair: (String, String)
            switch item {
            case .field(let name, let value): pair = (name, value)
            case .json(let name, let text): pair = (name, text)
            case .textFile(let name, let path), .jsonFile(let name, let path):
                pair = (name, String(decoding: try read(path), as: UTF8.self))
            case .header, .withoutHeader, .emptyHeader, .query, .file: continue
            }
            pairs.append(PercentEncoding.form(pair.0) + "=" + PercentEncoding.form(pair.1))
        }
        content.body = .data(Data(pairs.joined(separator: "&").utf8))
        content.type = "application/x-www-form-urlencoded; charset=utf-8"
    }

    private func append(_ item: RequestItem, to form: MultipartFormData) throws {
        switch item {
        case .field(let name, let value), .json(let name, let value):
            form.append(Data(value.utf8), withName: name)
        case .textFile(let name, let path), .jsonFile(let name, let path):
            form.append(try read(path), withName: name)
        case .file(let name, let path, let type):
            try attach(path, name: name, type: type, filename: nil, to: form)
        case .header, .withoutHeader, .emptyHeader, .query: break
        }
    }
}
