// SPDX-License-Identifier: MIT

public import Foundation

/// A form of several parts, each with its own headers (RFC 7578): the format in which browsers send forms with files.
///
/// Parts are appended, then the form is encoded once: in memory with `encode()`, or into a file with `writeEncodedData(to:)`,
/// which needs a small constant amount of memory. The encoding reads the streams of the parts, so a second encoding finds them
/// empty. The `append` methods do not throw: the form stores their first failure, which the encoding throws.
///
/// A form is not `Sendable`, and is used by one thread at a time. The thread that encodes it reads the files and streams.
open class MultipartFormData {
    /// Forms whose parts have fewer bytes than this are encoded in memory for an upload: 10 MB.
    public static let encodingMemoryThreshold: UInt64 = 10_000_000

    /// The value of the `Content-Type` field for the form.
    open lazy var contentType = "multipart/form-data; boundary=\(boundary)"

    /// The boundary between the parts.
    public let boundary: String

    /// The number of bytes of all parts as passed to `append`, without headers and boundaries; `UInt64.max` if the sum is larger.
    public var contentLength: UInt64 {
        parts.reduce(0) { sum, part in
            let (total, overflow) = sum.addingReportingOverflow(part.length)
            return overflow ? .max : total
        }
    }

    let fileManager: FileManager
    private var parts: [MultipartPart] = []
    /// The first failure of an `append`, which the encoding throws.
    private var failure: AFError?

    /// Creates an empty form.
    ///
    /// - Parameters:
    ///   - fileManager: Used to query the attributes of files.
    ///   - boundary: The boundary between the parts; random by default. It is used without a check: it must not occur in the
    ///     parts, and RFC 2046 §5.1.1 defines which characters are allowed.
    public init(fileManager: FileManager = .default, boundary: String? = nil) {
        self.fileManager = fileManager
        self.boundary = boundary ?? Self.randomBoundary()
    }

    // MARK: appending

    /// Appends data as a part: a file if there is a file name, otherwise a field.
    public func append(
        _ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil
    ) {
        let headers = MultipartPartHeaders(name: name, fileName: fileName, mimeType: mimeType)
        parts.append(MultipartPart(headers: headers, content: .data(data), length: UInt64(data.count)))
    }

    /// Appends a file as a part, under the file's own name. Its extension determines its media type, which is
    /// `application/octet-stream` if the extension is unknown.
    ///
    /// The encoding throws `multipartEncodingFailed` if the URL has no file name with an extension, or if
    /// `append(_:withName:fileName:mimeType:)` fails for another reason.
    public func append(_ fileURL: URL, withName name: String) {
        let fileName = fileURL.lastPathComponent
        let fileExtension = fileURL.pathExtension
        guard !fileName.isEmpty, !fileExtension.isEmpty else {
            return storeFailure(.bodyPartFilenameInvalid(in: fileURL))
        }
        let mimeType = MIMETypeTable.type(forExtension: fileExtension)
        append(fileURL, withName: name, fileName: fileName, mimeType: mimeType)
    }

    /// Appends a file as a part. The encoding opens the file; its size must not change between this call and the encoding.
    ///
    /// The encoding throws `multipartEncodingFailed` if the URL is not that of a file that can be accessed.
    public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
        do {
            let length = try MultipartPartFile(url: fileURL, fileManager: fileManager).length()
            guard let stream = InputStream(url: fileURL) else {
                return storeFailure(.bodyPartInputStreamCreationFailed(for: fileURL))
            }
            let headers = MultipartPartHeaders(name: name, fileName: fileName, mimeType: mimeType)
            parts.append(
                MultipartPart(headers: headers, content: .file(fileURL, stream), length: length))
        } catch {
            storeFailure(error.reason)
        }
    }

    /// Appends a stream of `length` bytes as a part that is a file. The encoding opens, reads and closes the stream.
    public func append(
        _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
    ) {
        let headers = MultipartPartHeaders(name: name, fileName: fileName, mimeType: mimeType)
        parts.append(MultipartPart(headers: headers, content: .stream(stream), length: length))
    }

    /// Appends a stream of `length` bytes as a part, with exactly these headers.
    public func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPHeaders) {
        parts.append(
            MultipartPart(headers: MultipartPartHeaders(headers), content: .stream(stream), length: length))
    }

    // MARK: encoding

    /// Returns the encoded form. This method is meant for small forms, because the whole form is in memory.
    ///
    /// Throws `multipartEncodingFailed` if a part could not be appended, if a stream cannot be read, or if the size of a part
    /// differs from the size that was passed to `append`.
    public func encode() throws -> Data {
        if let failure { throw failure }
        markFirstAndLastPart()
        var encoded = Data()
        for part in parts {
            encoded.append(delimiterAndHeaders(of: part))
            // Reads a bit more than `length` if there are more bytes, so that a part that is too long fails below.
            let readCount = try part.read(upTo: .max, stoppingAfter: part.length) {
                encoded.append(contentsOf: $0)
            }
            guard readCount == part.length else {
                throw AFError.multipartEncodingFailed(
                    reason: .inputStreamReadFailed(
                        error: AFError.UnexpectedInputStreamLength(
                            bytesExpected: part.length, bytesRead: readCount)))
            }
            encoded.append(closeDelimiter(after: part))
        }
        return encoded
    }

    /// Writes the encoded form into a new file, in chunks. A part with more bytes than were passed to `append` is truncated; a
    /// part with fewer bytes is written with the bytes that it has. If the file cannot be written completely, it is removed.
    ///
    /// Throws `multipartEncodingFailed` if a part could not be appended, if a file exists at `fileURL`, or if `fileURL` is not a
    /// file URL. It also throws if a stream cannot be read or the file cannot be written.
    public func writeEncodedData(to fileURL: URL) throws { try write(to: fileURL, isPrivate: false) }

    /// Writes the form like `writeEncodedData(to:)`, into a file that only its owner can read.
    func writePrivately(to fileURL: URL) throws { try write(to: fileURL, isPrivate: true) }

    private func write(to fileURL: URL, isPrivate: Bool) throws {
        if let failure { throw failure }
        // The order of these two checks decides the error for a URL that is not a file URL. It is that of Alamofire.
        guard !fileManager.fileExists(atPath: fileURL.path) else {
            throw AFError.multipartEncodingFailed(reason: .outputStreamFileAlreadyExists(at: fileURL))
        }
        guard fileURL.isFileURL else {
            throw AFError.multipartEncodingFailed(reason: .outputStreamURLInvalid(url: fileURL))
        }
        markFirstAndLastPart()
        let file = try MultipartFile(creating: fileURL, isPrivate: isPrivate)
        do {
            for part in parts {
                try file.write(delimiterAndHeaders(of: part))
                // The number of bytes read is not checked: a shorter part is permitted here.
                _ = try part.read(upTo: part.length) { try file.write($0) }
                try file.write(closeDelimiter(after: part))
            }
            try file.close()
        } catch {
            file.remove()
            throw error
        }
    }

    /// Prepares the form for another encoding. Throws `multipartEncodingFailed` if a stream has been read: only data and
    /// files can be read again.
    func rewind() throws {
        for part in parts where !part.rewind() {
            // 0 bytes can be read again: a stream that was read is at its end, and a file that is gone has none.
            throw AFError.multipartEncodingFailed(
                reason: .inputStreamReadFailed(
                    error: AFError.UnexpectedInputStreamLength(bytesExpected: part.length, bytesRead: 0)))
        }
    }

    /// Stores a failure, which the encoding throws, unless an earlier one is stored.
    private func storeFailure(_ reason: AFError.MultipartEncodingFailureReason) {
        if failure == nil { failure = .multipartEncodingFailed(reason: reason) }
    }

    /// Marks the first and the last part. The marks are not removed, so no part may be appended after an encoding.
    private func markFirstAndLastPart() {
        parts.first?.isFirst = true
        parts.last?.isLast = true
    }

    /// Returns the delimiter before a part (RFC 2046 §5.1.1) and the part's headers.
    private func delimiterAndHeaders(of part: MultipartPart) -> Data {
        Data("\(part.isFirst ? "" : "\r\n")--\(boundary)\r\n\(part.headers.text)\r\n".utf8)
    }

    /// Returns the close delimiter after the last part (RFC 2046 §5.1.1); empty after any other part.
    private func closeDelimiter(after part: MultipartPart) -> Data {
        part.isLast ? Data("\r\n--\(boundary)--\r\n".utf8) : Data()
    }

    /// Returns a prefix and 16 random hexadecimal digits. The length is always 35 bytes, so that the size of a form can be
    /// computed before it is encoded.
    private static func randomBoundary() -> String {
        let digits = (0..<2).map { _ in
            let text = String(UInt32.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 8 - text.count) + text
        }
        return "alamofire.boundary." + digits.joined()
    }
}
