// SPDX-License-Identifier: MIT

import Glibc
import Testing

@testable import LupineTLS

@Suite struct EngineConfigurationTests {
    private func error(_ change: (inout TLSConfiguration) -> Void) -> TLSError? {
        var configuration = TLSConfiguration.test
        change(&configuration)
        do throws(TLSError) {
            _ = try TLSClientContext(configuration)
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        ("ECDHE-RSA-AES128-GCM-SHA256:NOSUCH", "NOSUCH"), ("NOSUCH", "NOSUCH"), ("", ""),
        ("HIGH:!aNUL", "!aNUL"), ("HIGH,nope", "nope"), ("RC4", "RC4"),
    ])
    func cipherListWordsThatSelectNothingAreRefused(_ list: String, _ word: String) {
        #expect(error { $0.cipherList = list } == .configuration(.cipherList(word)))
    }

    @Test(arguments: [
        "HIGH:!aNULL:!MD5:!RC4", "ECDHE+AESGCM:ECDHE+CHACHA20:!PSK", "DEFAULT:@STRENGTH", "ALL:@SECLEVEL=1",
    ])
    func usualCipherListsAreAccepted(_ list: String) {
        #expect(error { $0.cipherList = list } == nil)
    }

    @Test(arguments: [
        ("TLS_AES_128_GCM_SHA256:TLS_NOPE", "TLS_NOPE"), ("TLS_NOPE", "TLS_NOPE"), ("", ""),
        ("TLS_AES_128_GCM_SHA256:", ""), ("AES128-SHA", "AES128-SHA"),
    ])
    func unknownCipherSuitesAreRefused(_ list: String, _ name: String) {
        #expect(error { $0.cipherSuites = list } == .configuration(.cipherSuite(name)))
    }

    @Test(arguments: ["X25519:NOPE", "", "nope"])
    func malformedGroupListsAreRefused(_ list: String) {
        #expect(error { $0.groups = list } == .configuration(.groups(list)))
    }

    @Test func aMinimumVersionAboveTheMaximumIsRefused() {
        let found = error {
            $0.minimumVersion = .v1_3
            $0.maximumVersion = .v1_2
        }
        #expect(found == .configuration(.noVersion(minimum: .v1_3, maximum: .v1_2)))
    }

    @Test(arguments: ["", String(repeating: "p", count: 256)])
    func malformedProtocolNamesAreRefused(_ name: String) {
        #expect(error { $0.applicationProtocols = [name] } == .configuration(.applicationProtocol(name)))
        #expect(error { $0.applicationProtocols = [String(repeating: "p", count: 255)] } == nil)
    }

    @Test func aServerNeedsAnIdentity() {
        #expect(throws: TLSError.configuration(.noIdentity)) {
            _ = try TLSServerContext(TLSServerConfiguration(identities: []))
        }
    }

    @Test(arguments: TLSVersion.tested)
    func secretsAreWrittenToTheKeyLog(_ version: TLSVersion) throws {
        var name = Array("/tmp/lupine-keylog-XXXXXX".utf8CString)
        let made = unsafe mkdtemp(&name) != nil
        try #require(made)
        let folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = folder + "/keys"
        defer {
            _ = unsafe unlink(path)
            _ = unsafe rmdir(folder)
        }
        var configuration = TLSConfiguration.test(version)
        configuration.keyLogPath = path
        let pair = try EnginePair(configuration)
        pair.runHandshakes()
        try #require(pair.clientIsDone)
        var status = stat()
        let fileExists = unsafe stat(path, &status) == 0
        #expect(fileExists)
        #expect(status.st_mode & 0o777 == 0o600)
        let stream = unsafe try #require(fopen(path, "r"))
        defer { unsafe fclose(stream) }
        var line = [CChar](repeating: 0, count: 1024)
        var labels: [String] = []
        while unsafe fgets(&line, 1024, stream) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            #expect(text.hasSuffix("\n") && text.split(separator: " ").count == 3)
            labels.append(String(text.prefix { $0 != " " }))
        }
        #expect(labels.contains(version == .v1_3 ? "CLIENT_TRAFFIC_SECRET_0" : "CLIENT_RANDOM"))
        #expect(
            error { $0.keyLogPath = folder + "/no/such" }
                == .configuration(.keyLog(path: folder + "/no/such", errno: ENOENT)))
    }
}
