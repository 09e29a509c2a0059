// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import Testing

@testable import LupineLoading

struct URLSessionConfigurationTests {
    /// One property: its default, a change, and a check of the change.
    struct Property: Sendable, CustomTestStringConvertible {
        let name: String
        let isDefault: @Sendable (URLSessionConfiguration) -> Bool
        let change: @Sendable (URLSessionConfiguration) -> Void
        let isChanged: @Sendable (URLSessionConfiguration) -> Bool

        var testDescription: String { name }

        init<Value: Equatable & Sendable>(
            _ name: String, _ path: any ReferenceWritableKeyPath<URLSessionConfiguration, Value> & Sendable,
            _ standard: Value, _ other: Value
        ) {
            self.name = name
            isDefault = { $0[keyPath: path] == standard }
            change = { $0[keyPath: path] = other }
            isChanged = { $0[keyPath: path] == other }
        }

        static let all: [Property] = [
            Property(
                "requestCachePolicy", \.requestCachePolicy, .useProtocolCachePolicy, .returnCacheDataDontLoad),
            Property("timeoutIntervalForRequest", \.timeoutIntervalForRequest, 60, 0.5),
            Property("timeoutIntervalForResource", \.timeoutIntervalForResource, 604_800, 9),
            Property("networkServiceType", \.networkServiceType, .default, .video),
            Property("allowsCellularAccess", \.allowsCellularAccess, true, false),
            Property("allowsExpensiveNetworkAccess", \.allowsExpensiveNetworkAccess, true, false),
            Property("allowsConstrainedNetworkAccess", \.allowsConstrainedNetworkAccess, true, false),
            Property("requiresDNSSECValidation", \.requiresDNSSECValidation, false, true),
            Property("waitsForConnectivity", \.waitsForConnectivity, false, true),
            Property("isDiscretionary", \.isDiscretionary, false, true),
            Property("sessionSendsLaunchEvents", \.sessionSendsLaunchEvents, false, true),
            Property("sharedContainerIdentifier", \.sharedContainerIdentifier, nil, "group"),
            Property(
                "shouldUseExtendedBackgroundIdleMode", \.shouldUseExtendedBackgroundIdleMode, false, true),
            Property(
                "tlsMinimumSupportedProtocolVersion", \.tlsMinimumSupportedProtocolVersion, .TLSv12, .TLSv13),
            Property(
                "tlsMaximumSupportedProtocolVersion", \.tlsMaximumSupportedProtocolVersion, .TLSv13, .TLSv12),
            Property("httpShouldUsePipelining", \.httpShouldUsePipelining, false, true),
            Property("httpShouldSetCookies", \.httpShouldSetCookies, true, false),
            Property("httpCookieAcceptPolicy", \.httpCookieAcceptPolicy, .onlyFromMainDocumentDomain, .never),
            Property("httpMaximumConnectionsPerHost", \.httpMaximumConnectionsPerHost, 6, 2),
            Property("httpCookieStorage", \.httpCookieStorage, .shared, nil),
            Property("urlCache", \.urlCache, .shared, nil),
            Property("urlCredentialStorage", \.urlCredentialStorage, .shared, nil),
            Property("multipathServiceType", \.multipathServiceType, .none, .handover),
            Property("usesClassicLoadingMode", \.usesClassicLoadingMode, true, false),
            Property("lupine.decodesContent", \.lupine.decodesContent, true, false),
            Property("lupine.collectedBodyLimit", \.lupine.collectedBodyLimit, 1 << 30, 5),
            Property("lupine.tls", \.lupine.tls.cipherList, nil, "HIGH"),
        ]
    }

    @Test(
        "[U-3.2] each property has its default, accepts a value, and is copied",
        arguments: Property.all)
    func everyProperty(_ property: Property) throws {
        for configuration in [URLSessionConfiguration(), .default] {
            #expect(property.isDefault(configuration))
            property.change(configuration)
            #expect(property.isChanged(configuration))
            #expect(property.isDefault(.default), "another configuration is not touched")
            let copy = try #require(configuration.copy() as? URLSessionConfiguration)
            #expect(property.isChanged(copy))
            let original = try #require(URLSessionConfiguration.default.copy() as? URLSessionConfiguration)
            property.change(original)
            #expect(property.isDefault(.default), "a change of a copy stays there")
        }
    }

    @Test func dictionariesAreKept() {
        let configuration = URLSessionConfiguration.default
        #expect(configuration.httpAdditionalHeaders == nil && configuration.connectionProxyDictionary == nil)
        #expect(configuration.identifier == nil)
        configuration.httpAdditionalHeaders = ["X-A": 1]
        configuration.connectionProxyDictionary = [:]
        configuration.protocolClasses = [NSObject.self]
        let copy = configuration.copy() as? URLSessionConfiguration
        #expect(copy?.httpAdditionalHeaders?["X-A"] as? Int == 1)
        #expect(copy?.connectionProxyDictionary?.isEmpty == true)
        #expect(copy?.protocolClasses?.first == NSObject.self)
    }

    @Test("[U-3.1] the default configuration uses shared stores, each ephemeral one its own in memory")
    func stores() {
        let first = URLSessionConfiguration.default
        let second = URLSessionConfiguration.default
        #expect(first !== second)
        #expect(first.httpCookieStorage === HTTPCookieStorage.shared)
        #expect(first.urlCredentialStorage === URLCredentialStorage.shared)
        let one = URLSessionConfiguration.ephemeral
        let other = URLSessionConfiguration.ephemeral
        #expect(one !== other)
        #expect(one.httpCookieStorage != nil && one.httpCookieStorage !== other.httpCookieStorage)
        #expect(one.httpCookieStorage !== HTTPCookieStorage.shared && one.httpCookieStorage?.hasFile == false)
        #expect(one.urlCredentialStorage != nil && one.urlCredentialStorage !== other.urlCredentialStorage)
        #expect(one.urlCredentialStorage !== URLCredentialStorage.shared)
        #expect(first.urlCache === URLCache.shared)
        #expect(one.urlCache != nil && one.urlCache !== other.urlCache && one.urlCache !== URLCache.shared)
        #expect(one.urlCache?.diskCapacity == 0 && one.urlCache?.memoryCapacity == 4 << 20)
        let copy = one.copy() as? URLSessionConfiguration
        #expect(copy?.urlCache === one.urlCache)
        #expect(copy?.httpCookieStorage === one.httpCookieStorage, "[U-3.2] a copy shares the stores")
    }

    @Test("[U-3.4] a background configuration has its identifier, and is otherwise the default")
    func background() {
        let configuration = URLSessionConfiguration.background(withIdentifier: "org.example.loads")
        #expect(configuration.identifier == "org.example.loads")
        #expect(configuration.sessionSendsLaunchEvents)
        #expect((configuration.copy() as? URLSessionConfiguration)?.identifier == "org.example.loads")
        for property in Property.all where property.name != "sessionSendsLaunchEvents" {
            #expect(property.isDefault(configuration), "\(property.name)")
        }
    }

    @Test func versionsHaveTheirWireNumbers() {
        let numbers: [(tls_protocol_version_t, UInt16, TLSVersion?)] = [
            (.TLSv10, 0x0301, .v1_0), (.TLSv11, 0x0302, .v1_1), (.TLSv12, 0x0303, .v1_2),
            (.TLSv13, 0x0304, .v1_3), (.DTLSv10, 0xFEFF, nil), (.DTLSv12, 0xFEFD, nil),
        ]
        for (name, number, version) in numbers {
            #expect(name.rawValue == number && name.version == version)
            if let version { #expect(tls_protocol_version_t(version) == name) }
        }
    }
}
