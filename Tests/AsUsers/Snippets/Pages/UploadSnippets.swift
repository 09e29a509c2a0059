// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Uploads.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct UploadSnippets {
    @Test func dataAndFile() async throws {
        try await inFolder { folder in
            let file = folder.appending(path: "note.txt")
            try Data("a note".utf8).write(to: file)
            try await API.serve { api in
                let data = AF.upload(
                    Data("a note".utf8), to: "\(api)/anything", headers: [.contentType("text/plain")])
                let fromFile = AF.upload(file, to: "\(api)/anything", method: .put)
                let (first, second) = try await (
                    data.serializingDecodable(Echo.self).value,
                    fromFile.serializingDecodable(Echo.self).value
                )
                #expect(first.data == "a note")
                #expect(second.method == "PUT")
            }
        }
    }

    @Test func progress() async throws {
        try await API.serve { api in
            let upload = AF.upload(Data(count: 1_000_000), to: "\(api)/anything")
                .uploadProgress { progress in print(progress.fractionCompleted) }
            let response = await upload.serializingData().response
            #expect(response.response?.statusCode == 200)
        }
    }

    @Test func forms() async throws {
        try await inFolder { folder in
            let file = folder.appending(path: "flower.png")
            try Data([0x89, 0x50, 0x4E, 0x47]).write(to: file)
            try await API.serve { api in
                let request = AF.upload(
                    multipartFormData: { form in
                        form.append(Data("bluebonnet".utf8), withName: "name")
                        form.append(file, withName: "picture")
                    }, to: "\(api)/post")
                let response = await request.validate().serializingString().response
                #expect(response.value?.contains("bluebonnet") == true)
                #expect(response.request?.headers["Content-Type"]?.hasPrefix("multipart/form-data") == true)
            }
        }
    }

    @Test func streams() async throws {
        try await API.serve { api in
            let stream = InputStream(data: Data("a note".utf8))
            let response = await AF.upload(
                stream, to: "\(api)/anything", headers: [.contentType("text/plain")]
            )
            .serializingDecodable(Echo.self)
            .response
            #expect(response.value?.data == "a note")
        }
    }
}
