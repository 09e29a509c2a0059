// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport
import Testing

@testable import LupineLoading

struct SessionSettingsTests {
    static func settings(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> SessionSettings {
        let configuration = URLSessionConfiguration.ephemeral
        change(configuration)
        return SessionSettings(configuration)
    }

    private static let url = URL(fileURLWithPath: "/")

    @Test("[U-3.2] later changes of the configuration have no effect")
    func settingsAreACopy() {
        let configuration = URLSessionConfiguration.ephemeral
        let settings = SessionSettings(configuration)
        configuration.waitsForConnectivity = true
        configuration.httpCookieStorage = nil
        #expect(!settings.waitsForConnectivity)
        #expect(settings.cookieStorage != nil)
    }

    @Test("[U-14.1] the request's time-out applies, also one of 60 s; else the configuration's")
    func idleTimeout() {
        let settings = Self.settings { $0.timeoutIntervalForRequest = 5 }
        var request = URLRequest(url: Self.url)
        #expect(settings.idleTimeout(for: request) == .seconds(5))
        request.timeoutInterval = 60
        #expect(settings.idleTimeout(for: request) == .seconds(60))
        request.timeoutInterval = 0.01
        #expect(settings.idleTimeout(for: request) == .milliseconds(10))
        let initialised = URLRequest(url: Self.url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 7)
        #expect(settings.idleTimeout(for: initialised) == .seconds(7))
        let left = URLRequest(url: Self.url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
        #expect(settings.idleTimeout(for: left) == .seconds(5))
    }

    @Test("[U-14.5] an invalid time-out means the default, infinity none")
    func oddTimeouts() {
        let rows: [(TimeInterval, Interval?, Interval?)] = [
            (0, .seconds(60), .seconds(604_800)), (-3, .seconds(60), .seconds(604_800)),
            (-.infinity, .seconds(60), .seconds(604_800)), (.nan, .seconds(60), .seconds(604_800)),
            (.infinity, nil, nil), (1e300, nil, nil), (0.25, .milliseconds(250), .milliseconds(250)),
            (1e-12, Interval(nanoseconds: 1), Interval(nanoseconds: 1)),
        ]
        for (seconds, idle, resource) in rows {
            let settings = Self.settings {
                $0.timeoutIntervalForRequest = seconds
                $0.timeoutIntervalForResource = seconds
            }
            #expect(settings.idleTimeout == idle, "\(seconds)")
            #expect(settings.resourceTimeout == resource, "\(seconds)")
            var request = URLRequest(url: Self.url)
            request.timeoutInterval = seconds
            #expect(settings.idleTimeout(for: request) == idle, "\(seconds)")
        }
    }

    @Test("[U-3.3] additional fields are added if the request lacks them, values by their description")
    func additionalHeaders() {
        let settings = Self.settings {
            $0.httpAdditionalHeaders = [
                "X-Number": 12, "accept": "text/plain", "X-Flag": true,
                AnyHashable("Authorization"): "Basic eA==",
            ]
        }
        var request = URLRequest(url: Self.url)
        request.setValue("*/*", forHTTPHeaderField: "Accept")
        let sent = settings.addingHeaders(to: request)
        #expect(
            sent.headerList.fields.map { "\($0.name): \($0.value)" } == [
                "Accept: */*", "Authorization: Basic eA==", "X-Flag: true", "X-Number: 12",
            ])
        #expect(request.allHTTPHeaderFields?.count == 1, "[U-1.1] the caller's request stays as it is")
        #expect(settings.addingHeaders(to: sent).headerList.fields == sent.headerList.fields)
    }

    @Test("[U-3.3] names that differ only in case are one field, always the same")
    func sameNames() {
        let settings = Self.settings { $0.httpAdditionalHeaders = ["x-a": "2", "X-A": "1", "X-a": "3"] }
        #expect(settings.additionalHeaders.fields.map(\.value) == ["1"])
    }

    @Test("[U-1.4] an invalid value is kept, so that the task can name it in its error")
    func illegalValue() throws {
        let settings = Self.settings { $0.httpAdditionalHeaders = ["X-A": "1\r\nX-B: 2"] }
        let request = settings.addingHeaders(to: URLRequest(url: Self.url))
        #expect(throws: URLRequestError.invalidFieldValue(name: "X-A")) {
            try request.checkFields()
        }
    }

    @Test func aRequestsPolicyWinsUnlessItIsTheDefault() {
        let settings = Self.settings { $0.requestCachePolicy = .returnCacheDataElseLoad }
        var request = URLRequest(url: Self.url)
        #expect(settings.cachePolicy(for: request) == .returnCacheDataElseLoad)
        request.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(settings.cachePolicy(for: request) == .reloadIgnoringLocalCacheData)
    }

    @Test("[U-9.14] a limit below one connection per host means one")
    func connectionLimit() {
        for (given, meant) in [(0, 1), (-5, 1), (1, 1), (6, 6), (.max, .max)] {
            #expect(
                Self.settings { $0.httpMaximumConnectionsPerHost = given }.maximumConnectionsPerHost == meant)
        }
    }

    @Test func versionsComeFromTheConfigurationUnlessTheOptionsSayMore() {
        let plain = Self.settings().tls
        #expect(plain.minimumVersion == .v1_2 && plain.maximumVersion == .v1_3 && plain.roots == .system)
        let settings = Self.settings {
            $0.tlsMinimumSupportedProtocolVersion = .TLSv13
            $0.tlsMaximumSupportedProtocolVersion = .DTLSv12
            $0.lupine.tls.maximumVersion = .v1_2
            $0.lupine.tls.keyLogPath = "/tmp/keys"
            $0.lupine.tls.cipherSuites = "TLS_AES_128_GCM_SHA256"
        }
        #expect(settings.tls.minimumVersion == .v1_3 && settings.tls.maximumVersion == .v1_2)
        #expect(settings.tls.keyLogPath == "/tmp/keys")
        #expect(settings.tls.cipherSuites == "TLS_AES_128_GCM_SHA256")
    }
}
