// SPDX-License-Identifier: MIT

public import Foundation

/// A form of several parts, each with headers of its own (RFC 7578): what a browser sends for a form with files.
///
/// Parts are appended, then the form is encoded once: in memory with `encode()`, or into a file of any size with
/// `writeEncodedData(to:)`, which needs the same little memory for every size. Streams are read then, so a second
/// encoding finds them empty. No `append` throws; the first failure is kept, and thrown by the encoding.
///
/// Not `Sendable`: used by one thread at a time. Files and streams are read on the thread that encodes.
open class MultipartFormData {
    /// Forms whose parts have fewer bytes are encoded in memory when they are uploaded: 10 MB.
    public static let encodingMemoryThreshold: UInt64 = 10_000_000

    /// The value of the `Content-Type` field that announces the form.
    open lazy var contentType = "multipart/form-data; boundary=\(boundary)"

    /// What stands between the parts.
    public let boundary: String

    /// The bytes of all parts as they were announced, without headers and boundaries.
    public var contentLength: UInt64 {
        parts.reduce(0) { sum, part in
            let (total, overflow) = sum.addingReportingOverflow(part.length)
            return overflow ? .max : total
        }
    }

    let fileManager: FileManager
    private var parts: [MultipartPart] = []
    private var failure: AFError?

    /// An empty form.
    ///
    /// - Parameters:
    ///   - fileManager: What asks about the files.
    ///   - boundary: What stands between the parts; by default something random. It is used as it is: it must not occur in
    ///     the parts, and RFC 2046 §5.1.1 says which characters it may have.
    public init(fileManager: FileManager = .default, boundary: String? = nil) {
        self.fileManager = fileManager
        self.boundary = boundary ?? Self.randomBoundary()
    }

    // MARK: appending

    /// Appends a part of data, as a file when it has a file name.
    public func append(
        _ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil
    ) {
        let headers = MultipartPartHeaders(name: name, fileName: fileName, mimeType: mimeType)
        parts.append(MultipartPart(headers: headers, content: .data(data), length: UInt64(data.count)))
    }

    /// Appends a part that is a file, under the file's own name; its type is found by its extension and is
    /// `application/octet-stream` when that is not known.
    ///
    /// The encoding throws `multipartEncodingFailed` when the URL has no file name with an extension, or for any reason of
    /// `append(_:withName:fileName:mimeType:)`.
    public func append(_ fileURL: URL, withName name: String) {
        let fileName = fileURL.lastPathComponent
        let fileExtension = fileURL.pathExtension
        guard !fileName.isEmpty, !fileExtension.isEmpty else {
            return fail(.bodyPartFilenameInvalid(in: fileURL))
        }
        let mimeType = MIMETypeTable.type(forExtension: fileExtension)
        append(fileURL, withName: name, fileName: fileName, mimeType: mimeType)
    }

    /// Appends a part that is a file. It is opened when the form is encoded, and has to have the size then that it has now.
    ///
    /// The encoding throws `multipartEncodingFailed` when the URL is not one of a file that can be reached.
    public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
        do {
            let length = try MultipartPartFile(url: fileURL, fileManager: fileManager).length()
            guard let stream = InputStream(url: fileURL) else {
                return fail(.bodyPartInputStreamCreationFailed(for: fileURL))
            }
            let headers = MultipartPartHeaders(name: name, fileName: fileName, mimeType: mimeType)
            parts.append(
                MultipartPart(headers: headers, content: .file(fileURL, stream), length: length))
        } catch {
            fail(error.reason)
        }
    }

    /// Appends a part that is a stream of so many bytes, as a file. It is opened, read and closed when the form is encoded.
    public func append(
        _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
    ) {
        let headers = MultipartPartHeaders(name: name, fileName: fileName, mimeType: mimeType)
        parts.append(MultipartPart(headers: headers, content: .stream(stream), length: length))
    }

    /// Appends a part that is a stream of so many bytes, with these headers and no others.
    public func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPHeaders) {
        parts.append(
            MultipartPart(headers: MultipartPartHeaders(headers), content: .stream(stream), length: length))
    }

    // MARK: encoding

    /// The whole form. Meant for forms that are small: all of it is in memory.
    ///
    /// Throws `multipartEncodingFailed`: for the first part that could not be appended, for a stream that cannot be read,
    /// and for one that has another number of bytes than was announced.
    public func encode() throws -> Data {
        if let failure { throw failure }
        markEnds()
        var encoded = Data()
        for part in parts {
            encoded.append(opening(of: part))
            let read = try part.read(upTo: .max, stopBehind: part.length) { encoded.append(contentsOf: $0) }
            guard read == part.length else {
                throw AFError.multipartEncodingFailed(
                    reason: .inputStreamReadFailed(
                        error: AFError.UnexpectedInputStreamLength(
                            bytesExpected: part.length, bytesRead: read)))
            }
            encoded.append(closing(of: part))
        }
        return encoded
    }

    /// Writes the whole form into a new file, piece by piece. A part that has more bytes than were announced is cut
    /// there; one that has fewer is written as it is. A file that cannot be written whole is removed.
    ///
    /// Throws `multipartEncodingFailed`: for the first part that could not be appended, when there is something at
    /// `fileURL`, when it is no file URL, and when a stream cannot be read or the file not be written.
    public func writeEncodedData(to fileURL: URL) throws { try write(to: fileURL, isPrivate: false) }

    /// The same, into a file that only its owner can read.
    func writePrivately(to fileURL: URL) throws { try write(to: fileURL, isPrivate: true) }

    private func write(to fileURL: URL, isPrivate: Bool) throws {
        if let failure { throw failure }
        guard !fileManager.fileExists(atPath: fileURL.path) else {
            throw AFError.multipartEncodingFailed(reason: .outputStreamFileAlreadyExists(at: fileURL))
        }
        guard fileURL.isFileURL else {
            throw AFError.multipartEncodingFailed(reason: .outputStreamURLInvalid(url: fileURL))
        }
        markEnds()
        let file = try MultipartFile(creating: fileURL, isPrivate: isPrivate)
        do {
            for part in parts {
                try file.write(opening(of: part))
                _ = try part.read(upTo: part.length) { try file.write($0) }
                try file.write(closing(of: part))
            }
            try file.close()
        } catch {
            file.remove()
            throw error
        }
    }

    /// Makes the form ready for another encoding. Throws `multipartEncodingFailed` for a stream that was read: only data and
    /// files can be read again.
    func rewind() throws {
        for part in parts where !part.rewind() {
            throw AFError.multipartEncodingFailed(
                reason: .inputStreamReadFailed(
                    error: AFError.UnexpectedInputStreamLength(bytesExpected: part.length, bytesRead: 0)))
        }
    }

    private func fail(_ reason: AFError.MultipartEncodingFailureReason) {
        if failure == nil { failure = .multipartEncodingFailed(reason: reason) }
    }

    /// The marks stay on their parts: a form is for one encoding.
    private func markEnds() {
        parts.first?.isFirst = true
        parts.last?.isLast = true
    }

    private func opening(of part: MultipartPart) -> Data {
        Data("\(part.isFirst ? "" : "\r\n")--\(boundary)\r\n\(part.headers.text)\r\n".utf8)
    }

    private func closing(of part: MultipartPart) -> Data {
        part.isLast ? Data("\r\n--\(boundary)--\r\n".utf8) : Data()
    }

    /// A prefix and 16 hexadecimal digits: always 35 characters, so that the size of a form can be told beforehand.
    private static func randomBoundary() -> String {
        let digits = (0..<2).map { _ in
            let text = String(UInt32.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 8 - text.count) + text
        }
        return "alamofire.boundary." + digits.joined()
    }
}
