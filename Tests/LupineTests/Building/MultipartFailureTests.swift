// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// Section 7.4 of the rules: the failures of a form, and the order in which they are detected.
@Suite struct MultipartFailureTests {
    private typealias Reason = AFError.MultipartEncodingFailureReason

    /// Returns the reason for which both encodings fail.
    private func reason(_ form: MultipartFormData) throws -> String {
        let folder = try FormFolder()
        let inMemory = failure { try form.encode() }
        let onDisk = failure { try form.writeEncodedData(to: folder["form"]) }
        #expect(inMemory == onDisk)
        #expect(try folder.names == [])
        return inMemory
    }

    private func failure(_ body: () throws -> some Any) -> String {
        do {
            _ = try body()
            return "none"
        } catch {
            guard case AFError.multipartEncodingFailed(let reason) = error else { return "\(error)" }
            return name(reason)
        }
    }

    private func name(_ reason: Reason) -> String {
        switch reason {
        case .bodyPartURLInvalid(let url): "URLInvalid \(url)"
        case .bodyPartFilenameInvalid(let url): "FilenameInvalid \(url)"
        case .bodyPartFileNotReachable(let url): "NotReachable \(url)"
        case .bodyPartFileNotReachableWithError(let url, _): "NotReachableWithError \(url)"
        case .bodyPartFileIsDirectory(let url): "IsDirectory \(url)"
        case .bodyPartFileSizeNotAvailable(let url): "SizeNotAvailable \(url)"
        case .bodyPartFileSizeQueryFailedWithError(let url, let error): "SizeQueryFailed \(url) \(error)"
        case .bodyPartInputStreamCreationFailed(let url): "InputStreamCreationFailed \(url)"
        case .outputStreamCreationFailed(let url): "OutputStreamCreationFailed \(url)"
        case .outputStreamFileAlreadyExists(let url): "FileAlreadyExists \(url)"
        case .outputStreamURLInvalid(let url): "OutputURLInvalid \(url)"
        case .outputStreamWriteFailed(let error): "WriteFailed \((error as? POSIXError)?.code.rawValue ?? 0)"
        case .inputStreamReadFailed(let error): "ReadFailed \(type(of: error))"
        }
    }

    private func form(_ append: (MultipartFormData) -> Void) -> MultipartFormData {
        let form = MultipartFormData()
        append(form)
        return form
    }

    @Test("[E-10.7, E-10.8] the checks of a file, in order")
    func checks() throws {
        let folder = try FormFolder()
        let bundle = folder["folder.app"]
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        let missing = folder["missing.png"]
        let web = try #require(URL(string: "https://h/pic"))
        let picture = try #require(URL(string: "https://h/pic.png"))
        for (url, expected) in [
            (web, "FilenameInvalid"), (folder[".hidden"], "FilenameInvalid"),
            (folder["README"], "FilenameInvalid"),
            (picture, "URLInvalid"), (missing, "NotReachableWithError"), (bundle, "IsDirectory"),
        ] {
            #expect(try reason(form { $0.append(url, withName: "n") }) == "\(expected) \(url)")
        }
        for (url, expected) in [
            (web, "URLInvalid"), (folder["README"], "NotReachableWithError"),
            (missing, "NotReachableWithError"),
            (folder.url, "IsDirectory"),
        ] {
            let named = form { $0.append(url, withName: "n", fileName: "f.txt", mimeType: "a/b") }
            #expect(try reason(named) == "\(expected) \(url)")
        }
    }

    private struct Refusal: Error {}

    private final class FixedAttributesFileManager: FileManager, @unchecked Sendable {
        let attributes: Result<[FileAttributeKey: Any], Refusal>

        init(_ attributes: Result<[FileAttributeKey: Any], Refusal>) {
            self.attributes = attributes
            super.init()
        }

        override func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
            try attributes.get()
        }
    }

    @Test("a file whose size is missing or cannot be queried is an error")
    func sizes() throws {
        let folder = try FormFolder()
        let file = try folder.file("a.txt", [1])
        let withoutSize = MultipartFormData(fileManager: FixedAttributesFileManager(.success([:])))
        withoutSize.append(file, withName: "n")
        #expect(try reason(withoutSize) == "SizeNotAvailable \(file)")
        let withError = MultipartFormData(fileManager: FixedAttributesFileManager(.failure(Refusal())))
        withError.append(file, withName: "n")
        #expect(try reason(withError) == "SizeQueryFailed \(file) Refusal()")
        let withSize = MultipartFormData(
            fileManager: FixedAttributesFileManager(.success([.size: NSNumber(value: 1)])))
        withSize.append(file, withName: "n")
        #expect(withSize.contentLength == 1)
        #expect(try withSize.encode().count > 1)
    }

    @Test("[E-10.7] the first failure is kept, and later parts count for the length")
    func firstFailure() throws {
        let folder = try FormFolder()
        let good = try folder.file("a.txt", [1, 2, 3])
        let form = MultipartFormData()
        form.append(Data([1]), withName: "before")
        form.append(folder["first.png"], withName: "n")
        form.append(folder["README"], withName: "n")
        form.append(good, withName: "after")
        #expect(form.contentLength == 4)
        for _ in 0..<2 { #expect(try reason(form) == "NotReachableWithError \(folder["first.png"])") }
    }

    @Test("a symbolic link is read as its target")
    func link() throws {
        let folder = try FormFolder()
        let file = try folder.file("a.txt", Array(repeating: 7, count: 5000))
        try FileManager.default.createSymbolicLink(at: folder["b.txt"], withDestinationURL: file)
        let form = MultipartFormData()
        form.append(folder["b.txt"], withName: "n")
        #expect(form.contentLength == 5000)
        #expect(try form.encode().count > 5000)
    }

    @Test(
        "a deleted file and a failing stream are errors of the encoding",
        arguments: MultipartFormDataTests.Way.allCases)
    func readFailures(way: MultipartFormDataTests.Way) throws {
        let folder = try FormFolder()
        let file = try folder.file("a.txt", [1, 2, 3])
        let vanishing = form { $0.append(file, withName: "n") }
        try FileManager.default.removeItem(at: file)
        #expect(failure { try way.encode(vanishing) }.hasPrefix("ReadFailed"))
        for length in [0, 1, 5] as [UInt64] {
            let failing = form {
                $0.append(ScriptedStream([[1]], fails: true), withLength: length, headers: [:])
            }
            let result = failure { try way.encode(failing) }
            // When writing to disk, no more than the announced length is read, so that the failure may not be reached.
            let isMet = way == .memory || length > 1
            #expect(result == (isMet ? "ReadFailed Failure" : "none"))
        }
    }

    @Test("the checks of the destination of a form, in order")
    func destinations() throws {
        let folder = try FormFolder()
        let there = try folder.file("there", [9])
        func writeResult(_ url: URL?, parts: Int = 1) throws -> String {
            let url = try #require(url)
            let form = MultipartFormData()
            for _ in 0..<parts { form.append(Data([1]), withName: "n") }
            return failure { try form.writeEncodedData(to: url) }
        }
        #expect(try writeResult(there) == "FileAlreadyExists \(there)")
        #expect(try Data(contentsOf: there) == Data([9]))
        #expect(try writeResult(folder.url) == "FileAlreadyExists \(folder.url)")
        #expect(try writeResult(URL(string: there.path)) == "FileAlreadyExists \(there.path)")
        #expect(try writeResult(URL(string: "/some/where")) == "OutputURLInvalid /some/where")
        #expect(try writeResult(URL(string: "https://h/x")) == "OutputURLInvalid https://h/x")
        for parts in [0, 1] {
            let nowhere = folder["no/such/folder/form"]
            #expect(try writeResult(nowhere, parts: parts) == "WriteFailed \(POSIXErrorCode.ENOENT.rawValue)")
            #expect(
                try writeResult(there.appendingPathComponent("form"), parts: parts)
                    == "WriteFailed \(POSIXErrorCode.ENOTDIR.rawValue)")
        }
        try FileManager.default.createSymbolicLink(at: folder["link"], withDestinationURL: folder["nothing"])
        #expect(try writeResult(folder["link"]) == "FileAlreadyExists \(folder["link"])")
        #expect(try folder.names == ["link", "there"])
        #expect(try writeResult(folder["form"]) == "none")
    }

    @Test("a form that fails while it is written leaves no file")
    func noLitter() throws {
        let folder = try FormFolder()
        let failing = form {
            $0.append(Data(repeating: 1, count: 1_000_000), withName: "n")
            $0.append(ScriptedStream([[1]], fails: true), withLength: 5, headers: [:])
        }
        #expect(failure { try failing.writeEncodedData(to: folder["form"]) } == "ReadFailed Failure")
        #expect(try folder.names == [])
    }

    @Test("a full device is a write error")
    func fullDevice() throws {
        let full = try #require(URL(string: "file:///dev/full"))
        let file = try MultipartFile(opening: full, flags: 0)
        #expect(failure { try file.write(Data([1])) } == "WriteFailed \(POSIXErrorCode.ENOSPC.rawValue)")
    }
}
