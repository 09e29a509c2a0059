// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import Testing

@testable import LupineLoading

struct URLRequestTests {
    let url: URL
    let request: URLRequest

    init() throws {
        url = try #require(URL(string: "http://example.org/a?b=c"))
        request = URLRequest(url: url)
    }

    @Test func aNewRequestHasTheDefaults() {
        #expect(request.url == url)
        #expect(request.cachePolicy == .useProtocolCachePolicy)
        #expect(request.timeoutInterval == 60)
        #expect(request.mainDocumentURL == nil)
        #expect(request.networkServiceType == .default)
        #expect(request.allowsCellularAccess && request.allowsExpensiveNetworkAccess)
        #expect(request.allowsConstrainedNetworkAccess)
        #expect(!request.assumesHTTP3Capable && !request.requiresDNSSECValidation)
        #expect(request.attribution == .developer)
        #expect(request.httpMethod == "GET")
        #expect(request.allHTTPHeaderFields == nil)
        #expect(request.httpBody == nil && request.httpBodyStream == nil)
        #expect(request.httpShouldHandleCookies)
        #expect(!request.httpShouldUsePipelining)
        #expect(request.description == "http://example.org/a?b=c")
        #expect(request.customMirror.children.contains { $0.label == "httpMethod" })
    }

    @Test("[U-1.8] an initializer makes the URL absolute; a URL that is set keeps base and relative string")
    func relativeAddresses() throws {
        let relative = try #require(URL(string: "x", relativeTo: url))
        #expect(URLRequest(url: relative).url?.baseURL == nil)
        #expect(NSURLRequest(url: relative).url?.baseURL == nil)
        var request = request
        request.url = relative
        let mutable = NSMutableURLRequest(url: url)
        mutable.url = relative
        for kept in [request.url, mutable.url, (mutable.copy() as? NSURLRequest)?.url] {
            #expect(kept?.absoluteString == "http://example.org/x")
            #expect(kept?.baseURL == url && kept?.relativeString == "x")
        }
        #expect(request.contents.value.scheme == .http)
        request.url = nil
        #expect(request.description == "url: nil")
    }

    @Test func policiesHaveApplesNumbers() {
        let numbers: [(URLRequest.CachePolicy, UInt)] = [
            (.useProtocolCachePolicy, 0), (.reloadIgnoringLocalCacheData, 1), (.reloadIgnoringCacheData, 1),
            (.returnCacheDataElseLoad, 2), (.returnCacheDataDontLoad, 3),
            (.reloadIgnoringLocalAndRemoteCacheData, 4), (.reloadRevalidatingCacheData, 5),
        ]
        for (policy, number) in numbers { #expect(policy.rawValue == number) }
    }

    @Test("[U-1.1] copies are independent")
    func copiesAreIndependent() {
        var original = request
        original.setValue("1", forHTTPHeaderField: "A")
        var copy = original
        copy.setValue("2", forHTTPHeaderField: "A")
        copy.httpMethod = "PUT"
        copy.httpBody = Data([1])
        #expect(original.value(forHTTPHeaderField: "a") == "1")
        #expect(original.httpMethod == "GET" && original.httpBody == nil)
        original.setValue(nil, forHTTPHeaderField: "A")
        #expect(copy.value(forHTTPHeaderField: "a") == "2")
        // A request is one reference, whatever it contains.
        #expect(MemoryLayout<URLRequest>.size == MemoryLayout<AnyObject>.size)
    }

    static let methods: [(given: String?, kept: String?)] = [
        (nil, "GET"), ("get", "GET"), ("hEAD", "HEAD"), ("Post", "POST"), ("put", "PUT"),
        ("delete", "DELETE"), ("connect", "CONNECT"), ("patch", "patch"), ("Options", "Options"), ("x", "x"),
    ]

    @Test("[U-1.2] known methods are uppercased, others kept, nil restores GET", arguments: methods)
    func methodsAreCanonical(given: String?, kept: String?) throws {
        var request = request
        request.httpMethod = "PUT"
        request.httpMethod = given
        #expect(request.httpMethod == kept)
        #expect(try request.checkedMethod().rawValue == kept)
    }

    @Test("[U-1.2] a method that is no token cannot be sent", arguments: ["", "A B", "GET\r\nX: y", "é"])
    func methodsAreTokens(method: String) {
        var request = request
        request.httpMethod = method
        #expect(throws: URLRequestError.invalidMethod(method)) { try request.checkedMethod() }
    }

    @Test("[U-1.3] set replaces, add joins; names are canonical and found in any case")
    func headerFieldsAreKeptByName() {
        var request = request
        request.setValue("a", forHTTPHeaderField: "content-TYPE")
        request.addValue("1", forHTTPHeaderField: "x-custom")
        request.addValue("2", forHTTPHeaderField: "X-CUSTOM")
        #expect(request.allHTTPHeaderFields == ["Content-Type": "a", "X-Custom": "1,2"])
        request.setValue("b", forHTTPHeaderField: "Content-type")
        #expect(request.value(forHTTPHeaderField: "CONTENT-TYPE") == "b")
        #expect(request.headerList.fields.map(\.name) == ["Content-Type", "X-Custom"])
        request.setValue(nil, forHTTPHeaderField: "x-Custom")
        #expect(request.allHTTPHeaderFields == ["Content-Type": "b"])
        request.setValue(nil, forHTTPHeaderField: "content-type")
        #expect(request.allHTTPHeaderFields == nil)
    }

    @Test("[U-1.3] an assigned dictionary keeps its names; remaining fields keep their place")
    func dictionariesAreKept() {
        var request = request
        request.allHTTPHeaderFields = ["b-b": "1", "A": "2"]
        #expect(request.allHTTPHeaderFields == ["b-b": "1", "A": "2"])
        #expect(request.headerList.fields.map(\.name) == ["A", "b-b"])
        request.allHTTPHeaderFields?["0"] = "3"
        #expect(request.headerList.fields.map(\.name) == ["A", "b-b", "0"])
        request.allHTTPHeaderFields = ["a-a": "1", "A-A": "2"]
        request.setValue("3", forHTTPHeaderField: "A-a")
        #expect(request.allHTTPHeaderFields == ["A-A": "3"])
        request.allHTTPHeaderFields = nil
        #expect(request.allHTTPHeaderFields == nil)
    }

    @Test(
        "a value with a line break is refused", arguments: ["a\0b", "a\rb", "a\nb", "a\r\nb"])
    func valuesAreOneLine(value: String) throws {
        var request = request
        request.setValue("good", forHTTPHeaderField: "A")
        request.setValue(value, forHTTPHeaderField: "A")
        request.addValue(value, forHTTPHeaderField: "A")
        #expect(request.value(forHTTPHeaderField: "A") == "good")
        request.allHTTPHeaderFields = ["B": value]
        #expect(throws: URLRequestError.invalidFieldValue(name: "B")) {
            try request.checkFields()
        }
        request.allHTTPHeaderFields = ["B b": "c"]
        #expect(throws: URLRequestError.invalidFieldName("B b")) {
            try request.checkFields()
        }
        #expect(!URLRequestError.invalidFieldValue(name: "B").description.contains(value))
    }

    @Test("[U-1.5] the body is data or a stream")
    func bodiesExcludeEachOther() {
        var request = request
        request.httpBody = Data([1])
        request.httpBodyStream = InputStream(data: Data([2]))
        #expect(request.httpBody == nil && request.httpBodyStream != nil)
        request.httpBody = Data([3])
        #expect(request.httpBody == Data([3]) && request.httpBodyStream == nil)
        request.httpBodyStream = nil
        #expect(request.httpBody == nil)
    }

    @Test("[U-1.5] equality leaves out fields, data, time-out and service")
    func equalityIsThatOfACache() throws {
        let other = try #require(URL(string: "http://example.org/other"))
        let stream = InputStream(data: Data())
        let different: [(String, (inout URLRequest) -> Void)] = [
            ("url", { $0.url = other }), ("main document", { $0.mainDocumentURL = other }),
            ("method", { $0.httpMethod = "PUT" }), ("policy", { $0.cachePolicy = .returnCacheDataElseLoad }),
            ("stream", { $0.httpBodyStream = stream }), ("cellular", { $0.allowsCellularAccess = false }),
            ("cookies", { $0.httpShouldHandleCookies = false }),
        ]
        for (summary, change) in different {
            var changed = request
            change(&changed)
            #expect(changed != request, "\(summary)")
        }
        var alike = request
        alike.setValue("1", forHTTPHeaderField: "A")
        alike.httpBody = Data([1])
        alike.timeoutInterval = 5
        alike.networkServiceType = .video
        #expect(alike == request && alike.hashValue == request.hashValue)
    }

    @Test func aSetTimeoutDiffersFromTheDefault() {
        var request = request
        #expect(request.explicitTimeoutInterval == nil)
        #expect(URLRequest(url: url, timeoutInterval: 60).explicitTimeoutInterval == nil)
        #expect(URLRequest(url: url, timeoutInterval: 0.01).explicitTimeoutInterval == 0.01)
        request.timeoutInterval = 60
        #expect(request.explicitTimeoutInterval == 60)
    }

    @Test("fields that the loader sets are left out, others keep their order")
    func loaderOwnedFieldsAreLeftOut() throws {
        var request = request
        let names = [
            "Content-Length", "Transfer-Encoding", "Connection", "Proxy-Authorization", "Host",
            "Authorization",
            "User-Agent", "Accept-Encoding", "Cookie",
        ]
        for name in names { request.setValue("7", forHTTPHeaderField: name) }
        var fields = Fields()
        try request.headerList.add(to: &fields) { _ in false }
        #expect((0..<fields.count).map { fields.name(at: $0) } == Array(names.dropFirst(4)))
        var fewer = Fields()
        try request.headerList.add(to: &fewer) { $0 == .host }
        #expect((0..<fewer.count).map { fewer.name(at: $0) } == Array(names.dropFirst(5)))
    }

    @Test func protocolPropertiesSurviveCopiesAndReferences() throws {
        var request = request
        request.setProtocolProperty("seen", forKey: "k")
        let copy = request
        #expect(copy.protocolProperty(forKey: "k") as? String == "seen")
        let reference = try #require((copy as NSURLRequest).mutableCopy() as? NSMutableURLRequest)
        #expect(reference.protocolProperty(forKey: "k") as? String == "seen")
        reference.setProtocolProperty(7, forKey: "n")
        let bridgedCopy = try #require(reference.copy() as? NSURLRequest) as URLRequest
        #expect(bridgedCopy.protocolProperty(forKey: "n") as? Int == 7)
        #expect(request.protocolProperty(forKey: "n") == nil)
        reference.setProtocolProperty(nil, forKey: "k")
        #expect(reference.protocolProperty(forKey: "k") == nil)
    }

    @Test func theReferenceFormHasAllProperties() throws {
        let reference = NSMutableURLRequest(
            url: url, cachePolicy: .returnCacheDataElseLoad, timeoutInterval: 3)
        reference.httpMethod = "post"
        reference.httpBody = Data([1])
        reference.setValue("1", forHTTPHeaderField: "a")
        reference.addValue("2", forHTTPHeaderField: "A")
        reference.allowsCellularAccess = false
        let value = reference as URLRequest
        #expect(value.httpMethod == "POST" && value.httpBody == Data([1]) && value.timeoutInterval == 3)
        #expect(value.allHTTPHeaderFields == ["A": "1,2"] && !value.allowsCellularAccess)
        #expect(value.cachePolicy == .returnCacheDataElseLoad)
        let frozen = value as NSURLRequest
        #expect(frozen.isEqual(reference) && frozen.hash == reference.hash)
        reference.url = nil
        #expect(frozen.url == url)
    }
}
