// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Builds the body of a request from items, `-d`, `-F`, `--raw` or `-T`, or from the standard input if none of them is given.
/// Reads the files that they name.
struct ContentBuilder {
    let invocation: Invocation
    let context: ProcessContext
    /// The folder for multipart forms that are too large for memory; created when one is needed.
    let scratchFolder: URL

    /// Returns the body with its type and its part of the query.
    func build() throws -> RequestContent {
        var content = RequestContent()
        for case .query(let name, let value) in invocation.items { content.query.append((name, value)) }
        for parameter in invocation.queryParameters { try addQuery(parameter, to: &content) }
        if let file = invocation.uploadFile {
            content.body = try upload(file)
            content.source = "-T"
        } else if !invocation.dataValues.isEmpty {
            try setDataBody(of: &content)
        } else if !invocation.formParts.isEmpty {
            let form = MultipartFormData()
            for (index, part) in invocation.formParts.enumerated() {
                try append(part, to: form, isLiteral: invocation.literalPartIndices.contains(index))
            }
            try setBody(form, of: &content)
            content.source = "-F"
        } else if let raw = invocation.rawBody {
            setBody(Data(raw.utf8), of: &content)
            content.source = "--raw"
        } else if invocation.items.contains(where: \.isContent) {
            try setItemsBody(of: &content)
            content.source = "items"
        } else {
            try setStandardInputBody(of: &content)
        }
        if !content.body.isNone, let method = invocation.method {
            try InvocationCheck.checkBody(of: method, from: content.source)
        }
        return content
    }

    // MARK: -T and the standard input

    /// Returns the body of `-T`: a file, or for `-` the standard input, which is read while it is sent if it can be opened by a
    /// path.
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

    /// Sets the body to the standard input, if it is a pipe or a file with content and the request may have a body.
    private func setStandardInputBody(of content: inout RequestContent) throws {
        let kind = context.input.kind
        guard !invocation.ignoresStandardInput, kind == .pipe || kind == .file, !invocation.asksForHead,
            !invocation.urls.contains(where: InvocationCheck.isWebSocketURL)
        else { return }
        let warning = warnOfSilentInput()
        defer { warning.cancel() }
        let data = try readInput()
        guard !data.isEmpty else { return }
        setBody(data, of: &content)
        content.source = "the standard input; --ignore-stdin leaves it alone"
    }

    /// Prints a warning after three seconds unless the returned task is cancelled before: a script may have inherited a pipe to
    /// which no program writes.
    private func warnOfSilentInput() -> Task<Void, Never> {
        let (errors, isSilent) = (context.errors, invocation.isSilent)
        return Task.detached {
            try? await Task.sleep(for: .seconds(3))
            guard !Task.isCancelled, !isSilent else { return }
            errors.say("lupine: waiting for a body from the standard input; --ignore-stdin leaves it alone\n")
        }
    }

    /// Reads the standard input to its end.
    private func readInput() throws -> Data {
        var content = Data()
        do {
            while let piece = try context.input.read() { content.append(piece) }
        } catch { throw CommandFailure.unreadable("the standard input", error) }
        return content
    }

    /// Reads a file, or for `-` the standard input.
    private func read(_ typed: String) throws -> Data {
        if typed == "-" { return try readInput() }
        do { return try Data(contentsOf: URL(fileURLWithPath: context.path(typed))) } catch {
            throw CommandFailure.unreadable(typed, error)
        }
    }

    /// Sets the body to these bytes, from which its type is derived.
    private func setBody(_ data: Data, of content: inout RequestContent) {
        content.body = .data(data)
        if invocation.itemFormat == .form {
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

    /// Sets the body to the values of `-d`, or with `-G` adds them to the query.
    private func setDataBody(of content: inout RequestContent) throws {
        var body = Data()
        for piece in invocation.dataValues {
            if !body.isEmpty, piece.kind != .json { body.append(UInt8(ascii: "&")) }
            body.append(try bytes(of: piece))
        }
        if invocation.putsDataIntoQuery {
            addRawQuery(String(decoding: body, as: UTF8.self), to: &content)
            return
        }
        content.body = .data(body)
        content.source = "-d"
        content.wantsJSON = invocation.itemFormat == .json
        content.type = content.wantsJSON ? "application/json" : "application/x-www-form-urlencoded"
    }

    /// Returns what a value of `-d` or a related option adds to the body. `-d` removes line ends and NUL from a file, as curl
    /// does.
    private func bytes(of piece: Invocation.DataValue) throws -> Data {
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

    /// Adds a value of curl's --url-query to the query: percent-encoded, unless it begins with a plus sign.
    private func addQuery(_ parameter: String, to content: inout RequestContent) throws {
        let isEncoded = parameter.hasPrefix("+")
        let query = isEncoded ? String(parameter.dropFirst()) : try encoded(parameter)
        addRawQuery(query, to: &content)
    }

    /// Adds encoded text to the query.
    private func addRawQuery(_ query: String, to content: inout RequestContent) {
        if let earlier = content.rawQuery {
            content.rawQuery = earlier + "&" + query
        } else {
            content.rawQuery = query
        }
    }

    /// Encodes `content`, `=content`, `name=content`, `@file` or `name@file`, as curl does.
    private func encoded(_ text: String) throws -> String {
        guard let separator = text.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
            return PercentEncoding.form(text)
        }
        let name = text[..<separator]
        var value = String(text[text.index(after: separator)...])
        if text[separator] == "@" { value = String(decoding: try read(value), as: UTF8.self) }
        return (name.isEmpty ? "" : "\(name)=") + PercentEncoding.form(value)
    }

    // MARK: -F

    /// Appends a part to a form: `NAME=CONTENT`, `NAME=@FILE` or `NAME=<FILE`, with `;type=` and `;filename=`. In a literal part,
    /// which is `NAME=CONTENT`, none of these characters has a meaning.
    private func append(_ part: String, to form: MultipartFormData, isLiteral: Bool) throws {
        let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        let name = halves[0]
        if isLiteral { return form.append(Data(halves[1].utf8), withName: name) }
        var parameters = halves[1].split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        var content = parameters.removeFirst()
        var type: String?
        var filename: String?
        for parameter in parameters {
            let trimmed = String(parameter.drop(while: { $0 == " " }))
            if trimmed.hasPrefix("type=") {
                type = String(trimmed.dropFirst(5))
            } else if trimmed.hasPrefix("filename=") {
                filename = String(trimmed.dropFirst(9)).trimmingCharacters(
                    in: CharacterSet(charactersIn: "\""))
            } else {
                content += ";" + parameter
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

    /// Appends a file to a form, or for `-` the standard input.
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

    /// Sets the body to an encoded multipart form: in memory, or in a file if it is large.
    private func setBody(_ form: MultipartFormData, of content: inout RequestContent) throws {
        content.type = form.contentType
        do {
            if form.contentLength < MultipartFormData.encodingMemoryThreshold {
                content.body = .data(try form.encode())
            } else {
                // Other users may have access to the folder above, so they get none to this one.
                try FileManager.default.createDirectory(
                    at: scratchFolder, withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
                let file = scratchFolder.appendingPathComponent("form-\(UUID().uuidString)")
                try form.writeEncodedData(to: file)
                let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber
                content.body = .file(path: file.path, count: size?.int64Value ?? 0)
            }
        } catch { throw CommandFailure.unreadable("a file of the form", error) }
    }

    // MARK: items

    /// Sets the body to the items: one file, a JSON object, a form or a multipart form.
    private func setItemsBody(of content: inout RequestContent) throws {
        let items = invocation.items.filter(\.isContent)
        if items.count == 1, case .file("", let path, let type) = items[0] {
            content.body = try upload(path)
            content.type = type ?? MediaTypes.type(ofFile: path)
            return
        }
        let hasFile = items.contains { if case .file = $0 { true } else { false } }
        switch invocation.itemFormat ?? .json {
        case .json:
            if hasFile {
                throw UsageError(
                    "a file cannot stand in JSON: use --form to upload it, name=@file for its text, or @file alone"
                )
            }
            try setJSONBody(items, of: &content)
        case .form where !hasFile: try setFormBody(items, of: &content)
        case .form, .multipart:
            let form = MultipartFormData()
            for item in items { try append(item, to: form) }
            try setBody(form, of: &content)
        }
    }

    /// Sets the body to the JSON that the items describe.
    private func setJSONBody(_ items: [RequestItem], of content: inout RequestContent) throws {
        // If the first name begins with a bracket, the root is an array.
        let isArray = items.lazy.compactMap(\.fieldName).first?.first == "["
        var tree = isArray ? JSONTree.array([]) : JSONTree.object([])
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

    /// Returns the text of a JSON value; throws if the data is not JSON.
    private func json(_ data: Data, of name: String) throws -> String {
        guard JSONText.isValid([UInt8](data)) else {
            throw UsageError(
                "the value of `\(name)` is no JSON: quote text twice (\(name):='\"text\"') or write \(name)=text"
            )
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Sets the body to the items as a URL-encoded form.
    private func setFormBody(_ items: [RequestItem], of content: inout RequestContent) throws {
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
