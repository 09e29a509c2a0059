// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineLoading

/// Archives of the types that Apple archives; an archive of anything else yields nothing.
struct ArchiveTests {
    static let url = someURL("/a?b#c")

    // MARK: the table

    /// Each type of the URL loading system that is `NSSecureCoding` on Apple's platforms.
    enum Coded: CaseIterable, Sendable {
        case request, mutableRequest, response, httpResponse, cachedResponse, credential, space, challenge

        func example() throws -> any NSObject & NSSecureCoding {
            let space = CredentialTests.space()
            let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
            switch self {
            case .request: return NSURLRequest(ArchiveTests.request())
            case .mutableRequest: return NSMutableURLRequest(ArchiveTests.request())
            case .response:
                return URLResponse(
                    url: url, mimeType: "text/plain", expectedContentLength: 3, textEncodingName: "utf-8")
            case .httpResponse: return try http()
            case .cachedResponse: return try ArchiveTests.cachedResponse()
            case .credential: return credential
            case .space: return space
            case .challenge: return try ArchiveTests.challenge()
            }
        }

        /// The keys under which it archives.
        var keys: [String] {
            let response = ["address", "mimeType", "expectedContentLength", "textEncodingName"]
            return switch self {
            case .request, .mutableRequest: ["request"]
            case .response: response
            case .httpResponse: response + ["statusCode", "headerFields"]
            case .cachedResponse: ["response", "data", "storagePolicy", "userInfo"]
            case .credential: ["user", "password", "persistence"]
            case .space:
                ["host", "port", "protocol", "realm", "method", "isProxy", "proxyType", "distinguishedNames"]
            case .challenge:
                [
                    "protectionSpace", "proposedCredential", "previousFailureCount", "failureResponse",
                    "errorDomain", "errorCode", "errorDescription",
                ]
            }
        }
    }

    static func cachedResponse() throws -> CachedURLResponse {
        CachedURLResponse(
            response: try http(), data: Data("abc".utf8),
            userInfo: ["a": 1, "b": ["c": Data([1]), "d": Date(timeIntervalSince1970: 5)] as [String: Any]],
            storagePolicy: .allowedInMemoryOnly)
    }

    static func challenge() throws -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(
            space: CredentialTests.space(),
            credential: URLCredential(user: "u", password: "p", persistence: .forSession), failures: 3,
            response: try http(),
            error: NSError(domain: "d", code: 4, userInfo: [NSLocalizedDescriptionKey: "words"]))
    }

    static func http() throws -> HTTPURLResponse {
        try #require(
            HTTPURLResponse(
                url: url, statusCode: 404, httpVersion: nil,
                headerFields: ["Content-Type": "text/html", "x-a": "b"]))
    }

    /// Returns a request whose properties all differ from the defaults.
    static func request() -> URLRequest {
        var request = URLRequest(url: url, cachePolicy: .returnCacheDataDontLoad, timeoutInterval: 2.5)
        request.url = URL(string: "d/../e?f", relativeTo: url)
        request.mainDocumentURL = someURL("/document")
        request.networkServiceType = .callSignaling
        request.attribution = .user
        request.allowsCellularAccess = false
        request.allowsExpensiveNetworkAccess = false
        request.allowsConstrainedNetworkAccess = false
        request.assumesHTTP3Capable = true
        request.requiresDNSSECValidation = true
        request.httpShouldHandleCookies = false
        request.httpShouldUsePipelining = true
        request.httpMethod = "propfind"
        request.setValue("é, 2", forHTTPHeaderField: "x-b")
        request.setValue("1", forHTTPHeaderField: "A")
        request.httpBody = Data([0, 255])
        request.setProtocolProperty(["k": [1, true, "x"] as [Any]], forKey: "p")
        return request
    }

    static func archive(_ object: any NSObject & NSSecureCoding) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    static func read<Object: NSObject & NSSecureCoding>(_ type: Object.Type, _ data: Data) -> Object? {
        (try? NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data)).flatMap { $0 }
    }

    @Test("[U-1.9, U-2.5, U-11.21, U-12.17] archived values are read unchanged", arguments: Coded.allCases)
    func roundTrips(_ coded: Coded) throws {
        func check<Object: NSObject & NSSecureCoding>(_ object: Object) throws {
            #expect(Object.supportsSecureCoding)
            let unarchived = try #require(Self.read(Object.self, try Self.archive(object)))
            #expect(type(of: unarchived) == type(of: object))
            if object is URLAuthenticationChallenge { return }
            #expect(unarchived == object && unarchived.hash == object.hash)
        }
        try check(try coded.example())
    }

    @Test(
        "[U-2.5] an archive with an impossible status is refused",
        arguments: [Int.min, -7, 0, 99, 1000, .max])
    func impossibleStatus(_ status: Int) throws {
        let response = try #require(
            HTTPURLResponse(url: Self.url, statusCode: status, httpVersion: nil, headerFields: nil))
        #expect(response.lupine.reason == "" && response.statusCode == status)
        #expect(!HTTPURLResponse.localizedString(forStatusCode: status).isEmpty)
        #expect(Self.read(HTTPURLResponse.self, try Self.archive(response)) == nil)
    }

    // MARK: requests

    @Test("[U-1.9] all of a request is archived")
    func requests() throws {
        let request = Self.request()
        let unarchived = try #require(Self.read(NSURLRequest.self, try Self.archive(NSURLRequest(request))))
            .asURLRequest
        #expect(RequestArchive.octets(of: unarchived) == RequestArchive.octets(of: request))
        #expect(unarchived.url?.relativeString == "d/../e?f" && unarchived.url?.baseURL == Self.url)
        #expect(
            unarchived.mainDocumentURL == request.mainDocumentURL
                && unarchived.cachePolicy == request.cachePolicy)
        #expect(unarchived.explicitTimeoutInterval == 2.5 && unarchived.networkServiceType == .callSignaling)
        #expect(
            unarchived.attribution == .user && !unarchived.allowsCellularAccess
                && !unarchived.allowsExpensiveNetworkAccess)
        #expect(!unarchived.allowsConstrainedNetworkAccess && unarchived.assumesHTTP3Capable)
        #expect(unarchived.requiresDNSSECValidation && !unarchived.httpShouldHandleCookies)
        #expect(unarchived.httpShouldUsePipelining && unarchived.httpMethod == "propfind")
        #expect(
            unarchived.headerList.fields == request.headerList.fields
                && unarchived.httpBody == request.httpBody)
        let property = unarchived.protocolProperty(forKey: "p") as? NSDictionary
        #expect(property == ["k": [1, true, "x"] as [Any]] as NSDictionary)
        let plain = try #require(
            Self.read(NSURLRequest.self, try Self.archive(NSURLRequest(url: someURL()))))
        #expect(plain.asURLRequest.explicitTimeoutInterval == nil && plain.timeoutInterval == 60)
        #expect(plain.httpBody == nil && plain.allHTTPHeaderFields == nil && plain.mainDocumentURL == nil)
    }

    static let addresses: [URL?] = [
        nil, URL(string: "x"), URL(string: "?q", relativeTo: url), URL(string: "//h/p", relativeTo: url),
        URL(filePath: "/tmp/a b"),
        URL(filePath: "a", relativeTo: URL(filePath: "/tmp/", directoryHint: .isDirectory)),
        URL(string: "http://u:p@h:1/%41?%C3%A4#f"), URL(string: "http://bücher.example/ä"),
        URL(string: "data:,x"),
        URL(string: "http://[fe80::1%25eth0]/"),
    ]

    @Test("[U-1.9] any address", arguments: addresses)
    func anyAddress(_ address: URL?) {
        var request = URLRequest(url: Self.url)
        request.url = address
        request.mainDocumentURL = address
        let unarchived = RequestArchive.request(RequestArchive.octets(of: request))
        #expect(unarchived?.url == address && unarchived?.url?.absoluteString == address?.absoluteString)
        #expect(unarchived?.mainDocumentURL == address)
    }

    @Test("[U-1.9] streams, and values that no property list can hold, are not archived")
    func leftBehind() throws {
        var request = URLRequest(url: Self.url)
        request.httpBodyStream = InputStream(data: Data([1]))
        request.timeoutInterval = .infinity
        request.setProtocolProperty(NSObject(), forKey: "object")
        var deep: [String: Any] = ["x": 1]
        for _ in 0..<29 { deep = ["x": deep] }
        request.setProtocolProperty(deep, forKey: "deep")
        request.setProtocolProperty(["x": deep], forKey: "deeper")
        request.setProtocolProperty("kept", forKey: "text")
        let unarchived = try #require(
            Self.read(NSMutableURLRequest.self, try Self.archive(NSMutableURLRequest(request))))
        #expect(
            unarchived.httpBodyStream == nil && unarchived.httpBody == nil
                && unarchived.timeoutInterval == .infinity)
        #expect(unarchived.protocolProperty(forKey: "object") == nil)
        #expect(unarchived.protocolProperty(forKey: "deep") != nil)
        #expect(unarchived.protocolProperty(forKey: "deeper") == nil)
        #expect(unarchived.protocolProperty(forKey: "text") as? String == "kept")
        unarchived.httpMethod = "PUT"
        #expect(unarchived.httpMethod == "PUT")
    }

    @Test("a cut or changed archive gives no request, or one that archives as itself")
    func damagedOctets() {
        let octets = RequestArchive.octets(of: Self.request())
        for count in 0..<octets.count { #expect(RequestArchive.request(Array(octets[..<count])) == nil) }
        #expect(RequestArchive.request(octets + [0]) == nil)
        for place in octets.indices {
            for change: UInt8 in [1, 0x80, 0xFF] {
                var damaged = octets
                damaged[place] ^= change
                guard let request = RequestArchive.request(damaged) else { continue }
                let again = RequestArchive.octets(of: request)
                #expect(RequestArchive.request(again).map(RequestArchive.octets) == again, "\(place)")
            }
        }
    }

    // MARK: the others

    @Test("a response of a subclass, and userInfo that no property list can hold")
    func cachedResponses() throws {
        let own = OwnResponse(url: Self.url, mimeType: "a/b", expectedContentLength: 1, textEncodingName: nil)
        let cached = CachedURLResponse(
            response: own, data: Data(), userInfo: ["object": NSObject()], storagePolicy: .notAllowed)
        let unarchived = try #require(Self.read(CachedURLResponse.self, try Self.archive(cached)))
        #expect(unarchived.response is OwnResponse && unarchived.response.mimeType == "a/b")
        #expect(
            unarchived.userInfo == nil && unarchived.storagePolicy == .notAllowed && unarchived.data.isEmpty)
        let http = try Self.cachedResponse()
        let second = try #require(Self.read(CachedURLResponse.self, try Self.archive(http)))
        #expect(second.response == http.response && second.storagePolicy == .allowedInMemoryOnly)
        #expect(second.userInfo as NSDictionary? == http.userInfo as NSDictionary?)
    }

    @Test("[U-11.21] a challenge is archived without its sender")
    func challenges() throws {
        let challenge = try Self.challenge()
        let unarchived = try #require(Self.read(URLAuthenticationChallenge.self, try Self.archive(challenge)))
        #expect(
            unarchived.protectionSpace == challenge.protectionSpace && unarchived.previousFailureCount == 3)
        #expect(unarchived.proposedCredential == challenge.proposedCredential && unarchived.sender == nil)
        #expect(unarchived.failureResponse == challenge.failureResponse)
        let error = try #require(unarchived.error as NSError?)
        #expect(error.domain == "d" && error.code == 4 && error.localizedDescription == "words")
        // A trust cannot be archived, nor can other values in the `userInfo` of an error.
        let trust = URLCredential(trust: try SecurityFixture.trust("good"))
        let bare = URLAuthenticationChallenge(
            space: challenge.protectionSpace, credential: trust, failures: 0, response: nil,
            error: NSError(domain: "d", code: 4, userInfo: ["object": NSObject()]))
        let again = try #require(Self.read(URLAuthenticationChallenge.self, try Self.archive(bare)))
        #expect(again.proposedCredential == nil && again.failureResponse == nil)
        #expect((again.error as NSError?)?.code == 4)
    }

    // MARK: damaged archives

    /// Values of wrong types. Objects of classes that are not requested are left out: Foundation's unarchiver traps on them.
    private static var strangers: [Any?] {
        [
            nil, "text" as NSString, NSNumber(value: 3), Int64.min, Int64.max, Int64(-1), Int64(1), true, 1.5,
            Double.nan, Data([1, 2, 3]) as NSData, Data() as NSData, "" as NSString,
        ]
    }

    @Test(
        "[U-1.9, U-2.5, U-11.21, U-12.17] an archive with wrong values gives nothing, or a complete object",
        arguments: Coded.allCases)
    func hostileValues(_ coded: Coded) throws {
        func check<Object: NSObject & NSSecureCoding>(_ object: Object) throws {
            func look(_ values: [String: Any?]) throws {
                guard let read = try Self.object(Object.self, of: values) else { return }
                _ = (read.hash, read.description)
                #expect(Self.read(Object.self, try Self.archive(read)) != nil)
            }
            let keys = coded.keys
            for stranger in Self.strangers {
                try look(Dictionary(uniqueKeysWithValues: keys.map { ($0, stranger) }))
            }
            let sound = Self.sound
            for key in keys {
                for stranger in Self.strangers {
                    var values: [String: Any?] = sound.filter { keys.contains($0.key) }
                    values[key] = .some(stranger)
                    try look(values)
                }
                var values: [String: Any?] = sound.filter { keys.contains($0.key) }
                values[key] = nil
                try look(values)
            }
        }
        try check(try coded.example())
    }

    /// Valid values for all keys.
    private static var sound: [String: Any?] {
        [
            "address": address("http://h/") as NSData, "mimeType": "a/b" as NSString,
            "expectedContentLength": Int64(1), "textEncodingName": "utf-8" as NSString,
            "statusCode": Int64(200), "headerFields": Data([1, 0, 0, 0] + run("A") + run("b")) as NSData,
            "response": URLResponse(url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil),
            "data": Data([1]) as NSData, "storagePolicy": Int64(0), "user": "u" as NSString,
            "password": "p" as NSString, "persistence": Int64(1), "host": "h" as NSString,
            "port": Int64(80), "protocol": "http" as NSString, "realm": "r" as NSString,
            "method": "m" as NSString, "isProxy": false, "protectionSpace": CredentialTests.space(),
            "previousFailureCount": Int64(1), "errorDomain": "d" as NSString, "errorCode": Int64(1),
            "errorDescription": "words" as NSString,
            "request": Data(RequestArchive.octets(of: request())) as NSData,
        ]
    }

    /// Returns the text as `OctetWriter` writes it.
    private static func run(_ text: String) -> [UInt8] {
        [UInt8(text.utf8.count), 0, 0, 0, 0, 0, 0, 0] + Array(text.utf8)
    }

    /// Returns the encoding of a URL without a base.
    private static func address(_ text: String) -> Data { Data([1] + run(text) + [0]) }

    private static let hostileResponseValues: [(String, Data)] = {
        let pair: [UInt8] = run("A") + run("b")
        let fields: [[UInt8]] = [
            [2, 0, 0, 0] + pair, [1, 0, 0, 0] + run("A"), [255, 255, 255, 255], [0, 0, 0, 0, 0],
        ]
        let addresses: [Data] = [address(""), address("http://["), Data([1]), address("/a") + [0]]
        return addresses.map { ("address", $0) } + fields.map { ("headerFields", Data($0)) }
    }()

    @Test(
        "[U-2.5] an invalid URL, and an odd list of fields, give no response",
        arguments: hostileResponseValues)
    func hostileResponses(_ key: String, _ value: Data) throws {
        var values = Self.sound.filter { Coded.httpResponse.keys.contains($0.key) }
        #expect(try Self.object(HTTPURLResponse.self, of: values)?.url?.absoluteString == "http://h/")
        values[key] = value as NSData
        #expect(try Self.object(HTTPURLResponse.self, of: values) == nil)
    }

    /// Returns the object that an archive of these values is read as.
    private static func object<Object: NSObject & NSSecureCoding>(
        _ type: Object.Type, of values: [String: Any?]
    ) throws -> Object? {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(ArchiveImpostor(values), forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        let reader = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        reader.requiresSecureCoding = true
        reader.decodingFailurePolicy = .setErrorAndReturn
        reader.setClass(type, forClassName: NSStringFromClass(ArchiveImpostor.self))
        return reader.decodeObject(of: type, forKey: NSKeyedArchiveRootObjectKey)
    }

    @Test("a cut archive gives nothing", arguments: Coded.allCases)
    func cutArchives(_ coded: Coded) throws {
        func check<Object: NSObject & NSSecureCoding>(_ object: Object) throws {
            let archive = try Self.archive(object)
            for count in stride(from: 0, to: archive.count, by: 7) {
                #expect(Self.read(Object.self, archive.prefix(count)) == nil)
            }
        }
        try check(try coded.example())
    }
}

/// A subclass that a program could define.
final class OwnResponse: URLResponse, @unchecked Sendable {}

/// Stands for a coded type in an archive, with values of the test's choice.
final class ArchiveImpostor: NSObject, NSSecureCoding {
    let values: [String: Any?]

    init(_ values: [String: Any?]) { self.values = values }
    required init?(coder: NSCoder) { nil }
    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        for (key, value) in values {
            switch value {
            case let number as Int64: coder.encode(number, forKey: key)
            case let flag as Bool: coder.encode(flag, forKey: key)
            case let number as Double: coder.encode(number, forKey: key)
            default: coder.encode(value, forKey: key)
            }
        }
    }
}
