// SPDX-License-Identifier: MIT

internal import Foundation

/// Encodes and decodes the archived form of an `NSURLRequest`.
///
/// The archive is one sequence of octets, which a strict reader decodes or rejects as a whole. So an untrusted archive does not
/// reach Foundation's decoders of URLs and dictionaries.
///
/// The archive omits a body stream, because a stream can be read only once, and `URLProtocol` properties that a property list
/// cannot contain. It contains all header fields, so it may contain secrets such as passwords.
package enum RequestArchive {
    /// The version of the format, with which an archive begins.
    private static let version: UInt32 = 1
    /// The Boolean properties, in the order in which they are written.
    private static var flags: [WritableKeyPath<URLRequest.Contents, Bool>] {
        [
            \.allowsCellularAccess, \.allowsExpensiveNetworkAccess, \.allowsConstrainedNetworkAccess,
            \.assumesHTTP3Capable, \.requiresDNSSECValidation, \.httpShouldHandleCookies,
            \.httpShouldUsePipelining,
        ]
    }

    // MARK: writing

    /// Encodes a request.
    package static func octets(of request: URLRequest) -> [UInt8] {
        let contents = request.contents.value
        var writer = OctetWriter()
        writer.write(version)
        writer.write(contents.url)
        writer.write(contents.mainDocumentURL)
        writer.write(UInt64(contents.cachePolicy.rawValue))
        writer.write(UInt64(contents.networkServiceType.rawValue))
        writer.write(UInt64(contents.attribution.rawValue))
        writer.write(contents.timeout != nil)
        if let timeout = contents.timeout { writer.write(timeout) }
        for flag in flags { writer.write(contents[keyPath: flag]) }
        writer.write(contents.httpMethod)
        writer.write(UInt32(truncatingIfNeeded: contents.headers.fields.count))
        for field in contents.headers.fields {
            writer.write(field.name)
            writer.write(field.value)
        }
        writer.write(request.httpBody != nil)
        if let body = request.httpBody { writer.write(lengthPrefixed: body.span) }
        properties(contents).write(to: &writer)
        return writer.octets
    }

    /// Returns the `URLProtocol` properties that a property list can contain.
    ///
    /// Wraps each property in a dictionary before the conversion. `StorableValue` limits the nesting, and the archive adds one
    /// level: it contains the properties as members of a dictionary.
    private static func properties(_ contents: URLRequest.Contents) -> StorableValue {
        var storable: [String: StorableValue] = [:]
        for (key, property) in contents.protocolProperties {
            guard case .dictionary(let member)? = StorableValue([key: property.value]) else { continue }
            storable.merge(member) { _, added in added }
        }
        return .dictionary(storable)
    }

    // MARK: reading

    /// Decodes a request; returns nil if the octets are not an archived request.
    package static func request(_ octets: [UInt8]) -> URLRequest? {
        var reader = OctetReader(octets, in: 0..<octets.count)
        guard let contents = try? read(&reader), reader.isAtEnd else { return nil }
        return URLRequest(contents)
    }

    /// Reads what `octets(of:)` has written, in the same order.
    private static func read(_ reader: inout OctetReader) throws(OctetReader.Damage) -> URLRequest.Contents {
        guard try reader.number() == version else { throw OctetReader.Damage() }
        let url = try reader.url()
        let mainDocumentURL = try reader.url()
        guard let cachePolicy = URLRequest.CachePolicy(rawValue: try readUInt(&reader)),
            let service = URLRequest.NetworkServiceType(rawValue: try readUInt(&reader)),
            let attribution = URLRequest.Attribution(rawValue: try readUInt(&reader))
        else { throw OctetReader.Damage() }
        // Does not use `OctetReader.double()`, which rejects infinity: an infinite time-out means no limit.
        let timeout = try reader.flag() ? Double(bitPattern: try reader.longNumber()) : nil
        var contents = URLRequest.Contents(url: url, cachePolicy: cachePolicy, timeout: timeout)
        contents.mainDocumentURL = mainDocumentURL
        contents.networkServiceType = service
        contents.attribution = attribution
        for flag in flags { contents[keyPath: flag] = try reader.flag() }
        contents.httpMethod = try reader.text()
        var fields: [HeaderList.Field] = []
        for _ in 0..<(try reader.number()) {
            fields.append(HeaderList.Field(name: try reader.text(), value: try reader.text()))
        }
        contents.headers = HeaderList(fields)
        if try reader.flag() { contents.body = .data(Data(try reader.lengthPrefixedOctets())) }
        guard case .dictionary(let properties) = try StorableValue(from: &reader) else {
            throw OctetReader.Damage()
        }
        contents.protocolProperties = properties.mapValues { UncheckedSendable($0.value) }
        return contents
    }

    /// Reads the raw value of an enumeration.
    private static func readUInt(_ reader: inout OctetReader) throws(OctetReader.Damage) -> UInt {
        guard let number = UInt(exactly: try reader.longNumber()) else { throw OctetReader.Damage() }
        return number
    }
}
