// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTransport
import Testing

/// The snippets of `Proxies.md`. The origin acts as the proxy: it accepts a request in absolute form as its own.
@Suite(.timeLimit(.minutes(10))) struct ProxySnippets {
    @Test func byVariables() async throws {
        try await API.serve { api in
            let proxy = "127.0.0.1:\(api.origin.port)"
            let configuration = URLSessionConfiguration.af.default
            configuration.lupine.proxies = [
                "http_proxy": "http://lupin:secret@\(proxy)",
                "https_proxy": "http://lupin:secret@\(proxy)",
                "no_proxy": ".internal.example.com,10.0.0.0/8",
            ]
            let session = Session(configuration: configuration)
            let response = await session.request("http://api.example.com/get").serializingData().response
            print(response.metrics?.transactionMetrics.last?.isProxyConnection ?? false)
            #expect(response.error == nil)
            #expect(response.metrics?.transactionMetrics.last?.isProxyConnection == true)
        }
    }

    @Test func none() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.connectionProxyDictionary = [:]
            let direct = Session(configuration: configuration)
            let response = await direct.request("\(api)/get").serializingData().response
            #expect(response.metrics?.transactionMetrics.last?.isProxyConnection == false)
        }
    }

    @Test func byTheDictionary() async throws {
        try await API.serve { api in
            let port = Int(api.origin.port)
            let configuration = URLSessionConfiguration.af.default
            configuration.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": port,
                "kCFProxyUsernameKey": "lupin", "kCFProxyPasswordKey": "secret",
                "ExceptionsList": ["internal.example.com"],
            ]
            let session = Session(configuration: configuration)
            let response = await session.request("http://api.example.com/get").serializingData().response
            #expect(response.error == nil)
            #expect(response.metrics?.transactionMetrics.last?.isProxyConnection == true)
        }
    }

    @Test func ofTheTransport() async throws {
        try await API.serve { api in
            let proxy = "127.0.0.1:\(api.origin.port)"
            var configuration = HTTPClient.Configuration()
            configuration.proxy = .url("http://\(proxy)", except: "localhost,127.0.0.0/8,::1")
            let client = HTTPClient(configuration: configuration)
            let response = try await client.get("http://api.example.com/get")
            await client.shutdown()
            #expect(response.status.code == 200)
        }
    }
}
