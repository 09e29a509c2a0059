// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Synchronization

/// Work that leaves secrets in files: a persistent cookie, cached responses, a download that stops in the middle and a form that
/// is sent from the disk. It records the permissions of each file in a folder while the files exist.
///
/// The process must be started with `HOME`, `XDG_DATA_HOME`, `XDG_CACHE_HOME` and `TMPDIR` in the folder, and with umask 0.
struct SecretScenario {
    /// An origin with `/cached/{n}`, with `/part`, which sends a part and then stalls, and with `/form`, which answers once `/go`
    /// has been requested.
    let url: String
    let folder: URL

    func leavesNotes() async throws -> Bool {
        let notes = Notes(folder: folder)
        let configuration = URLSessionConfiguration.default
        configuration.connectionProxyDictionary = [:]
        configuration.urlCache = URLCache(
            memoryCapacity: 0, diskCapacity: 16 << 20, directory: folder.appendingPathComponent("cached"))
        let session = Session(configuration: configuration)
        guard let address = URL(string: url),
            let cookie = HTTPCookie(properties: [
                .name: "id", .value: "s3cr3t", .domain: address.host ?? "", .path: "/", .maximumAge: "1000",
            ])
        else { return false }
        HTTPCookieStorage.shared.setCookie(cookie)

        let secrets: HTTPHeaders = ["Authorization": "Bearer s3cr3t", "X-Plain": "plain"]
        let withUser = url.replacing("//", with: "//user:s3cr3t@")
        for address in ["\(url)/cached/1", "\(withUser)/cached/2", "\(url)/cached/3?token=t"] {
            let response = await session.request(address, headers: secrets).serializingData().response
            guard response.error == nil else { return false }
        }

        let download = session.download("\(url)/part", headers: secrets)
        let progresses = download.downloadProgress()
        download.resume()
        for await progress in progresses where progress.completedUnitCount > 0 { break }
        notes.look()
        let data = await withCheckedContinuation { continuation in
            download.cancel { continuation.resume(returning: $0) }
        }
        guard data != nil else { return false }

        let form = MultipartFormData()
        form.append(Data("s3cr3t".utf8), withName: "password")
        let upload = session.upload(multipartFormData: form, to: "\(url)/form", usingThreshold: 0)
        // The form's file exists now, and not longer than the request.
        upload.onURLSessionTaskCreation { _ in
            notes.look()
            session.request("\(url)/go").response { _ in }
        }
        guard await upload.serializingData().response.error == nil else { return false }

        await withCheckedContinuation { done in session.session.flush { done.resume() } }
        notes.look()
        return notes.write()
    }

    /// The permissions of all files, as found at several times.
    private final class Notes: Sendable {
        private let folder: URL
        private let lines = Mutex<Set<String>>([])

        init(folder: URL) { self.folder = folder }

        func look() {
            guard let files = FileManager.default.enumerator(atPath: folder.path) else { return }
            for case let name as String in files {
                let path = folder.appendingPathComponent(name).path
                guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                    let mode = attributes[.posixPermissions] as? NSNumber
                else { continue }
                let kind = attributes[.type] as? FileAttributeType == .typeDirectory ? "folder" : "file"
                let line = "\(kind) \(String(mode.intValue, radix: 8)) \(name)"
                lines.withLock { _ = $0.insert(line) }
            }
        }

        func write() -> Bool {
            let text = lines.withLock { $0.sorted().joined(separator: "\n") }
            let file = folder.appendingPathComponent("notes")
            return (try? text.write(to: file, atomically: false, encoding: .utf8)) != nil
        }
    }
}
