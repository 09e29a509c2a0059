// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// Callbacks that build requests and their content.
extension Callback {
    private struct Address: URLConvertible {
        let url: String
        let hook: Hook
        func asURL() throws -> URL {
            hook.call()
            return try url.asURL()
        }
    }

    private struct Converted: URLRequestConvertible {
        let url: String
        let hook: Hook
        func asURLRequest() throws -> URLRequest {
            hook.call()
            return URLRequest(url: try url.asURL())
        }
    }

    private struct Encoder: ParameterEncoder {
        let hook: Hook
        func encode<Parameters: Encodable & Sendable>(
            _ parameters: Parameters?, into request: URLRequest
        ) throws -> URLRequest {
            hook.call()
            return request
        }
    }

    private struct Encoding: ParameterEncoding {
        let hook: Hook
        func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws
            -> URLRequest
        {
            hook.call()
            return try urlRequest.asURLRequest()
        }
    }

    /// A value that calls the hook when it is encoded.
    private struct Encoded: Encodable, Sendable {
        let hook: Hook
        func encode(to encoder: any Swift.Encoder) throws {
            hook.call()
            var container = encoder.singleValueContainer()
            try container.encode(["a": "b"])
        }
    }

    /// A stream of one byte that calls the hook when it is read.
    final class ReadStream: InputStream {
        private let hook: Hook
        private var isOver = false

        init(_ hook: Hook) {
            self.hook = hook
            super.init(data: Data())
        }

        override var hasBytesAvailable: Bool { !isOver }
        override var streamStatus: Stream.Status { isOver ? .atEnd : .open }
        override func open() {}
        override func close() {}
        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            if isOver { return 0 }
            isOver = true
            hook.call()
            unsafe buffer.pointee = 0x61
            return 1
        }
    }

    private final class Form: MultipartFormData {
        private let hook: Hook
        init(_ hook: Hook) {
            self.hook = hook
            super.init()
        }
        override var contentType: String {
            get {
                hook.call()
                return super.contentType
            }
            set { super.contentType = newValue }
        }
    }

    static let building = [
        Callback("address") { stage, hook in stage.session.request(Address(url: stage.url(), hook: hook)) },
        Callback("converted request") { stage, hook in
            stage.session.request(Converted(url: stage.url(), hook: hook))
        },
        Callback("request modifier") { stage, hook in
            stage.session.request(stage.url()) { _ in hook.call() }
        },
        Callback("parameter encoder") { stage, hook in
            stage.session.request(stage.url(), parameters: ["a": "b"], encoder: Encoder(hook: hook))
        },
        Callback("parameter encoding") { stage, hook in
            stage.session.request(stage.url(), parameters: ["a": "b"], encoding: Encoding(hook: hook))
        },
        Callback("encodable parameters") { stage, hook in
            stage.session.request(
                stage.url("/post"), method: .post, parameters: Encoded(hook: hook),
                encoder: JSONParameterEncoder.default)
        },
        Callback("body stream", holds: .itself) { stage, hook in
            stage.session.upload(ReadStream(hook), to: stage.url("/post"))
        },
        Callback("form's stream") { stage, hook in
            let form = MultipartFormData()
            form.append(
                ReadStream(hook), withLength: 1, headers: ["Content-Disposition": "form-data; name=\"a\""])
            return stage.session.upload(multipartFormData: form, to: stage.url("/post"))
        },
        Callback("form's type") { stage, hook in
            let form = Form(hook)
            form.append(Data("a".utf8), withName: "a")
            return stage.session.upload(multipartFormData: form, to: stage.url("/post"))
        },
    ]
}
