// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Builds the body and the query of a request from the options and the items. Reads the files that they name, and the standard
/// input.
///
/// Methods that begin with `set` set the body with its type. A path as typed may be `-`, which stands for the standard input.
struct ContentBuilder {
    let invocation: Invocation
    let context: ProcessContext
    /// The folder for multipart forms that are too large for memory. It is created when a form needs it.
    let scratchFolder: URL

    /// Returns the body with its type, and the query parameters of items and options. The body comes from `-T`, `-d`, `-F`,
    /// `--raw` or items, or from the standard input if none of them makes a body. Throws if a file cannot be read, a value is
    /// invalid or the method forbids a body.
    func build() throws -> RequestContent {
        var content = RequestContent()
        for case .query(let name, let value) in invocation.items {
            content.queryParameters.append((name, value))
        }
        for parameter in invocation.urlQueryValues { try addQueryParameter(parameter, to: &content) }
        if let file = invocation.uploadFile {
            content.body = try uploadBody(file)
            content.bodySource = "-T"
        } else if !invocation.dataValues.isEmpty {
            // With -G, this makes a query and no body.
            try setDataBody(of: &content)
        } else if !invocation.formParts.isEmpty {
            let form = MultipartFormData()
            for (index, part) in invocation.formParts.enumerated() {
                try append(part, to: form, isLiteral: invocation.literalPartIndices.contains(index))
            }
            try setBody(form, of: &content)
            content.bodySource = "-F"
        } else if let text = invocation.rawBody {
            setBody(Data(text.utf8), of: &content)
            content.bodySource = "--raw"
        } else if invocation.items.contains(where: \.isContent) {
            try setItemsBody(of: &content)
            content.bodySource = "items"
        } else {
            try setStandardInputBody(of: &content)
        }
        // `InvocationCheck` has made this check for options and items, but it cannot know whether the standard input is empty.
        if !content.body.isNone, let method = invocation.method {
            try InvocationCheck.checkBody(of: method, from: content.bodySource)
        }
        return content
    }

    // MARK: -T and the standard input

    /// Returns the body of `-T` or of the item `@FILE`. Does not read the file, nor the standard input if it can be opened by a
    /// path. Throws if the file is missing or unreadable.
    private func uploadBody(_ typedPath: String) throws -> MessageBody {
        if typedPath == "-" {
            guard let path = context.input.path else { return .data(try readInput()) }
            return .standardInput(path: path)
        }
        let path = context.path(typedPath)
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard let size = attributes[.size] as? NSNumber,
                FileManager.default.isReadableFile(atPath: path)
            else {
                // Nil: there is no error that has the reason.
                throw CommandFailure.unreadable(typedPath, nil)
            }
            return .file(path: path, length: size.int64Value)
        } catch let failure as CommandFailure {
            throw failure
        } catch { throw CommandFailure.unreadable(typedPath, error) }
    }

    /// Sets the body to the content of the standard input. Does nothing if the standard input is empty or a terminal, or if the
    /// request cannot have a body.
    private func setStandardInputBody(of content: inout RequestContent) throws {
        let kind = context.input.kind
        let isPipeOrFile = kind == .pipe || kind == .file
        // A web socket sends the standard input as messages.
        let isWebSocket = invocation.urls.contains(where: InvocationCheck.isWebSocketURL)
        guard isPipeOrFile, !invocation.ignoresStandardInput, !invocation.asksForHead, !isWebSocket else {
            return
        }
        let warning = startInputWarning()
        defer { warning.cancel() }
        let data = try readInput()
        guard !data.isEmpty else { return }
        setBody(data, of: &content)
        content.bodySource = "the standard input; --ignore-stdin leaves it alone"
    }

    /// Starts a task that prints a warning after three seconds, unless it is cancelled before: a script may have inherited a pipe
    /// to which no program writes.
    private func startInputWarning() -> Task<Void, Never> {
        let (errors, isSilent) = (context.errors, invocation.isSilent)
        return Task.detached {
            // If the task is cancelled, the sleep throws and the guard returns.
            try? await Task.sleep(for: .seconds(3))
            guard !Task.isCancelled, !isSilent else { return }
            errors.say("lupine: waiting for a body from the standard input; --ignore-stdin leaves it alone\n")
        }
    }

    /// Reads the standard input to its end.
    private func readInput() throws -> Data {
        var content = Data()
        do {
            while let bytes = try context.input.read() { content.append(bytes) }
        } catch { throw CommandFailure.unreadable("the standard input", error) }
        return content
    }

    /// Reads a file into memory.
    private func read(_ typedPath: String) throws -> Data {
        if typedPath == "-" { return try readInput() }
        do { return try Data(contentsOf: URL(fileURLWithPath: context.path(typedPath))) } catch {
            throw CommandFailure.unreadable(typedPath, error)
        }
    }

    /// Sets the body to these bytes. Its type is that of a form with `--form`. Otherwise it is JSON, plain text or binary data,
    /// whichever the bytes are.
    private func setBody(_ data: Data, of content: inout RequestContent) {
        content.body = .data(data)
        if invocation.itemFormat == .form {
            content.type = "application/x-www-form-urlencoded; charset=utf-8"
        } else if JSONText.isValid([UInt8](data)) {
            content.type = "application/json"
            content.prefersJSON = true
        } else {
            // Text is valid UTF-8 without NUL.
            let isText = String(validating: data, as: UTF8.self) != nil && !data.contains(0)
            content.type = isText ? "text/plain; charset=utf-8" : "application/octet-stream"
        }
    }

    // MARK: -d

    /// Sets the body to the values of `-d` and related options, or with `-G` adds them to the query. They are joined with `&`,
    /// except for the DATA of curl's `--json`.
    private func setDataBody(of content: inout RequestContent) throws {
        var body = Data()
        for value in invocation.dataValues {
            if !body.isEmpty, value.kind != .json { body.append(UInt8(ascii: "&")) }
            body.append(try bytes(of: value))
        }
        if invocation.putsDataIntoQuery {
            addEncodedQuery(String(decoding: body, as: UTF8.self), to: &content)
            return
        }
        content.body = .data(body)
        content.bodySource = "-d"
        // --json declares the data as JSON.
        content.prefersJSON = invocation.itemFormat == .json
        content.type = content.prefersJSON ? "application/json" : "application/x-www-form-urlencoded"
    }

    /// Returns what a value of `-d` or a related option adds to the body. `-d` removes line ends and NUL from a file, as curl
    /// does.
    private func bytes(of value: Invocation.DataValue) throws -> Data {
        // Nil if the value does not begin with `@`. Two kinds do not use it: `raw` and `urlEncode`.
        let file = value.text.hasPrefix("@") ? String(value.text.dropFirst()) : nil
        switch value.kind {
        case .raw: return Data(value.text.utf8)
        case .binary, .json: return try file.map(read) ?? Data(value.text.utf8)
        case .text:
            guard let file else { return Data(value.text.utf8) }
            let (lineFeed, carriageReturn, nul): (UInt8, UInt8, UInt8) = (0x0A, 0x0D, 0)
            return try read(file).filter { $0 != lineFeed && $0 != carriageReturn && $0 != nul }
        case .urlEncode: return Data(try formEncoded(value.text).utf8)
        }
    }

    /// Adds a value of curl's `--url-query` to the query. It is percent-encoded, unless it begins with a plus sign.
    private func addQueryParameter(_ parameter: String, to content: inout RequestContent) throws {
        let isEncoded = parameter.hasPrefix("+")
        let query = isEncoded ? String(parameter.dropFirst()) : try formEncoded(parameter)
        addEncodedQuery(query, to: &content)
    }

    /// Adds text to the query without encoding it.
    private func addEncodedQuery(_ query: String, to content: inout RequestContent) {
        if let earlier = content.encodedQuery {
            content.encodedQuery = earlier + "&" + query
        } else {
            content.encodedQuery = query
        }
    }

    /// Encodes a value of `--data-urlencode` for a form: `content`, `=content`, `name=content`, `@file` or `name@file`. As in
    /// curl, the name is not encoded.
    private func formEncoded(_ value: String) throws -> String {
        guard let separator = value.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
            return PercentEncoding.form(value)
        }
        let name = value[..<separator]
        let contentOrFile = String(value[value.index(after: separator)...])
        let content =
            value[separator] == "@"
            ? String(decoding: try read(contentOrFile), as: UTF8.self) : contentOrFile
        return (name.isEmpty ? "" : "\(name)=") + PercentEncoding.form(content)
    }

    // MARK: -F

    /// Appends a part to a form: `NAME=CONTENT`, `NAME=@FILE` or `NAME=<FILE`, with `;type=` and `;filename=`. In a literal part,
    /// which is `NAME=CONTENT`, the characters `@`, `<` and `;` have no special meaning.
    private func append(_ part: String, to form: MultipartFormData, isLiteral: Bool) throws {
        // The parser has checked that there is an equals sign.
        let nameAndContent = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        let name = nameAndContent[0]
        if isLiteral { return form.append(Data(nameAndContent[1].utf8), withName: name) }
        var parameters = nameAndContent[1].split(separator: ";", omittingEmptySubsequences: false)
            .map(String.init)
        var content = parameters.removeFirst()
        var type: String?
        var filename: String?
        for parameter in parameters {
            let trimmed = String(parameter.drop(while: { $0 == " " }))
            if trimmed.hasPrefix("type=") {
                type = String(trimmed.dropFirst("type=".count))
            } else if trimmed.hasPrefix("filename=") {
                filename = String(trimmed.dropFirst("filename=".count)).trimmingCharacters(
                    in: CharacterSet(charactersIn: "\""))
            } else {
                // The semicolon is an ordinary character of the content.
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

    /// Appends a file to a form as a part. The form reads the file when it is encoded.
    ///
    /// - Parameters:
    ///   - typedPath: The path as typed.
    ///   - name: The name of the part.
    ///   - type: The media type of the part; nil for that of the file's extension.
    ///   - filename: The file name of the part; nil for that of the path.
    ///   - form: The form.
    private func attach(
        _ typedPath: String, name: String, type: String?, filename: String?, to form: MultipartFormData
    ) throws {
        let filename = filename ?? typedPath.split(separator: "/").last.map(String.init) ?? "data"
        let type = type ?? MediaTypes.type(ofFile: typedPath)
        if typedPath == "-" {
            return form.append(try readInput(), withName: name, fileName: filename, mimeType: type)
        }
        let path = context.path(typedPath)
        guard FileManager.default.isReadableFile(atPath: path) else {
            // The most common reason: a file without read permission is also reported as missing.
            throw CommandFailure.unreadable(typedPath, CocoaError(.fileReadNoSuchFile))
        }
        form.append(URL(fileURLWithPath: path), withName: name, fileName: filename, mimeType: type)
    }

    /// Sets the body to an encoded multipart form: in memory, or in a file of the scratch folder if it is large.
    private func setBody(_ form: MultipartFormData, of content: inout RequestContent) throws {
        content.type = form.contentType
        do {
            if form.contentLength < MultipartFormData.encodingMemoryThreshold {
                content.body = .data(try form.encode())
            } else {
                // Other users may have access to the parent folder. Only the owner gets access to this one.
                try FileManager.default.createDirectory(
                    at: scratchFolder, withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
                let file = scratchFolder.appendingPathComponent("form-\(UUID().uuidString)")
                try form.writeEncodedData(to: file)
                let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? NSNumber
                content.body = .file(path: file.path, length: size?.int64Value ?? 0)
            }
        } catch { throw CommandFailure.unreadable("a file of the form", error) }
    }

    // MARK: items

    /// Sets the body to what the items describe: a file, JSON, a form or a multipart form.
    private func setItemsBody(of content: inout RequestContent) throws {
        let items = invocation.items.filter(\.isContent)
        // A single item without a name, `@FILE`, is the whole body.
        if items.count == 1, case .file("", let path, let type) = items[0] {
            content.body = try uploadBody(path)
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
        // A URL-encoded form cannot contain a file, so --form with a file makes a multipart form.
        case .form, .multipart:
            let form = MultipartFormData()
            for item in items { try append(item, to: form) }
            try setBody(form, of: &content)
        }
    }

    /// Sets the body to the JSON that the items describe.
    private func setJSONBody(_ items: [RequestItem], of content: inout RequestContent) throws {
        // If the first name begins with a bracket, the root is an array.
        let firstName = items.lazy.compactMap(\.fieldName).first
        var tree = firstName?.first == "[" ? JSONTree.array([]) : JSONTree.object([])
        for item in items {
            let field: (name: String, json: String)
            switch item {
            case .field(let name, let value): field = (name, JSONText.quoted(value))
            case .textFile(let name, let path):
                field = (name, JSONText.quoted(String(decoding: try read(path), as: UTF8.self)))
            case .json(let name, let text): field = (name, try validJSON(Data(text.utf8), of: name))
            case .jsonFile(let name, let path): field = (name, try validJSON(try read(path), of: name))
            // The caller passes none of these items.
            case .header, .withoutHeader, .emptyHeader, .query, .file: continue
            }
            try tree.insert(field.json, at: JSONTree.path(field.name), itemName: field.name)
        }
        content.body = .data(Data(tree.text.utf8))
        content.type = "application/json"
        content.prefersJSON = true
    }

    /// Returns JSON data as text, without white space around it; throws if the data is not JSON. The error contains the name of
    /// the item.
    private func validJSON(_ data: Data, of name: String) throws -> String {
        guard JSONText.isValid([UInt8](data)) else {
            throw UsageError(
                "the value of `\(name)` is no JSON: quote text twice (\(name):='\"text\"') or write \(name)=text"
            )
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Sets the body to a URL-encoded form with the items as fields.
    private func setFormBody(_ items: [RequestItem], of content: inout RequestContent) throws {
        var pairs: [String] = []
        for item in items {
            let field: (name: String, value: String)
            switch item {
            case .field(let name, let value): field = (name, value)
            case .json(let name, let text): field = (name, text)
            case .textFile(let name, let path), .jsonFile(let name, let path):
                field = (name, String(decoding: try read(path), as: UTF8.self))
            // The caller passes none of these items.
            case .header, .withoutHeader, .emptyHeader, .query, .file: continue
            }
            pairs.append(PercentEncoding.form(field.name) + "=" + PercentEncoding.form(field.value))
        }
        content.body = .data(Data(pairs.joined(separator: "&").utf8))
        content.type = "application/x-www-form-urlencoded; charset=utf-8"
    }

    /// Appends an item to a multipart form as a part.
    private func append(_ item: RequestItem, to form: MultipartFormData) throws {
        switch item {
        case .field(let name, let value), .json(let name, let value):
            form.append(Data(value.utf8), withName: name)
        case .textFile(let name, let path), .jsonFile(let name, let path):
            form.append(try read(path), withName: name)
        case .file(let name, let path, let type):
            try attach(path, name: name, type: type, filename: nil, to: form)
        // The caller passes none of these items.
        case .header, .withoutHeader, .emptyHeader, .query: break
        }
    }
}
