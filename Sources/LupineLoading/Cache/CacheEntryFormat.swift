// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineCoding
internal import LupineHTTP
internal import LupineTLS

/// The format of a stored response, an entry, in a segment file of the cache's folder.
///
/// An entry consists of a head of fixed length, metadata, and content. The head has a magic number, the version, a checksum of
/// all octets after it, the stored time and the lengths. The metadata has the address under which the entry is stored, and
/// describes the response and the request on which it depends. Entries whose octets were truncated, extended or changed are
/// rejected (U-12.16), except with a probability of 2⁻⁶⁴. The checksum is not a signature: it detects accidents, but anyone who
/// can write to the cache's folder can forge responses.
package enum CacheEntryFormat {
    /// The parsed head of an entry.
    private struct Head: Sendable {
        /// When the entry was stored.
        var storedTime: Date
        /// The length of the metadata in octets.
        var metadataLength: Int
        /// The length of the content in octets.
        var contentLength: Int
    }

    private static let magic = Array("LupCache".utf8)
    private static let version: UInt32 = 4
    /// The largest number of keys of a certificate chain in a provenance.
    private static let maxKeyCount = 32
    /// The largest length, in octets, of a text in a provenance.
    private static let maxTextLength = 1_024
    /// The position of the octets that the checksum covers: after magic number, version and checksum.
    private static let coveredStart = 8 + 4 + 8
    /// The length of the head in octets. After the checksum it has the stored time and the two lengths.
    static let headLength = coveredStart + 8 + 8 + 8
    /// A typical number of octets of an entry that `CacheEntry.size` does not count: the head, the address, and the times,
    /// lengths and provenance in the metadata.
    static let typicalOverhead = 512

    /// How a field's value is stored; the raw values are those in the files.
    private enum FieldKind: UInt8 {
        case absent = 0
        case plain = 1
        case concealed = 2
    }

    /// The source in a provenance; the raw values are those in the files.
    private enum SourceKind: UInt8 {
        case program = 0
        case plain = 1
        case secure = 2
    }

    /// How the client identified itself to the server (`PeerEvidence.ClientIdentity`); the raw values are those in the files.
    private enum IdentityKind: UInt8 {
        case notAsked = 0
        case noCertificate = 1
        case certificate = 2
    }

    /// How a response is stored; the raw values are those in the files.
    private enum ResponseKind: UInt8 {
        /// A response that is not HTTP.
        case other = 0
        /// An HTTP response with its fields as received.
        case receivedFields = 1
        /// An HTTP response that the program has made, with its fields by name.
        case dictionary = 2
    }

    // MARK: writing

    /// Returns the octets of an entry that is stored under this address. Returns nil for an entry that may not be written, and
    /// for a response of a program's class. `hash` is the hash of the folder.
    package static func octets(of entry: CacheEntry, address: String, hash: KeyedHash) -> [UInt8]? {
        guard let terms = CacheTerms(entry, hash: hash) else { return nil }
        var writer = OctetWriter(capacity: entry.size + typicalOverhead)
        return write(entry, terms: terms, address: address, to: &writer) ? writer.octets : nil
    }

    /// Appends the octets of an entry with these terms, which is stored under this address. Returns false, and writes nothing, if
    /// the entry cannot be written.
    static func write(
        _ entry: CacheEntry, terms: CacheTerms, address: String, to writer: inout OctetWriter
    ) -> Bool {
        let data = entry.response.data
        return write(content: data.span, storedTime: entry.storedTime, to: &writer) { writer in
            writer.write(address)
            writer.write(entry.requestTime.timeIntervalSinceReferenceDate)
            writer.write(entry.responseTime.timeIntervalSinceReferenceDate)
            guard write(entry.response.response, to: &writer) else { return false }
            // The terms are the `VaryKey` and the provenance, encoded already.
            writer.write(octets: terms.octets)
            writer.write(entry.writtenInfo != nil)
            entry.writtenInfo?.write(to: &writer)
            return true
        }
    }

    /// Writes the part of the request on which the response depends. The fields are sorted, so that equal keys have equal octets.
    /// Returns false, and writes nothing, for a key that must be concealed first.
    static func write(_ vary: VaryKey, to writer: inout OctetWriter) -> Bool {
        if vary.mustBeConcealed { return false }
        writer.write(vary.audience != nil)
        if let audience = vary.audience {
            writer.write(audience.fieldsDigest)
            writer.write(audience.user.text)
        }
        let values = vary.values.sorted { $0.key < $1.key }
        writer.write(UInt32(truncatingIfNeeded: values.count))
        for (name, value) in values {
            writer.write(name)
            switch value {
            case .absent: writer.write(octet: FieldKind.absent.rawValue)
            case .plain(let text):
                writer.write(octet: FieldKind.plain.rawValue)
                writer.write(text)
            case .concealed(let hash):
                writer.write(octet: FieldKind.concealed.rawValue)
                writer.write(hash)
            }
        }
        return true
    }

    /// Writes a provenance. Returns false if it may not be written, or exceeds the limits of the reader.
    static func write(_ provenance: CacheProvenance, to writer: inout OctetWriter) -> Bool {
        guard provenance.mayBeWritten else { return false }
        switch provenance.source {
        case .program: writer.write(octet: SourceKind.program.rawValue)
        case .plain(let route):
            guard (route?.name.utf8.count ?? 0) <= maxTextLength else { return false }
            writer.write(octet: SourceKind.plain.rawValue)
            writer.write(route?.name)
        case .secure(let connection):
            guard connection.keys.count <= maxKeyCount, (connection.roots?.utf8.count ?? 0) <= maxTextLength
            else { return false }
            writer.write(octet: SourceKind.secure.rawValue)
            switch connection.identity {
            case .notAsked: writer.write(octet: IdentityKind.notAsked.rawValue)
            case .noCertificate: writer.write(octet: IdentityKind.noCertificate.rawValue)
            case .certificate(let digest):
                writer.write(octet: IdentityKind.certificate.rawValue)
                writer.write(octets: digest.bytes)
            }
            writer.write(connection.roots)
            let keys = connection.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            writer.write(octet: UInt8(truncatingIfNeeded: keys.count))
            for key in keys { writer.write(octets: key.bytes) }
        }
        return true
    }

    /// Writes a response without its content. Returns false for a response of a program's class or without a URL.
    private static func write(_ response: URLResponse, to writer: inout OctetWriter) -> Bool {
        // The storage queue serves the whole process, so it must not call a program's class.
        guard response.isLibraryClass else { return false }
        // Removes user information, which the URL of a response that the program has made may contain.
        guard let url = response.url?.splitAtUserInfo.address else { return false }
        if let response = response as? HTTPURLResponse {
            guard HTTPURLResponse.isPossible(response.statusCode) else { return false }
            guard let fields = response.fields else {
                writer.write(octet: ResponseKind.dictionary.rawValue)
                writer.write(url)
                writer.write(Int64(response.statusCode))
                let named = (response.allHeaderFields as? [String: String] ?? [:]).sorted { $0.key < $1.key }
                writer.write(UInt32(truncatingIfNeeded: named.count))
                for (name, value) in named {
                    writer.write(name)
                    writer.write(value)
                }
                return true
            }
            writer.write(octet: ResponseKind.receivedFields.rawValue)
            writer.write(url)
            writer.write(Int64(response.statusCode))
            // Whether a content coding was removed. `Content-Length` then is not the length of the content.
            writer.write(response.expectedContentLength < 0)
            writer.write(lengthPrefixed: fields.lines.span)
            return true
        }
        writer.write(octet: ResponseKind.other.rawValue)
        writer.write(url)
        writer.write(response.mimeType)
        writer.write(response.expectedContentLength)
        writer.write(response.textEncodingName)
        return true
    }

    /// For tests: returns an entry with a correct checksum and these parts, which may be invalid.
    package static func sealed(
        metadata: [UInt8], content: [UInt8], storedTime: Date
    ) -> [UInt8] {
        var writer = OctetWriter(capacity: headLength + metadata.count + content.count)
        // Never fails, because the closure returns true.
        _ = write(content: content.span, storedTime: storedTime, to: &writer) { writer in
            writer.write(octets: metadata)
            return true
        }
        return writer.octets
    }

    /// Appends an entry. The length of the metadata and the checksum in its head are filled in at the end. Returns false, and
    /// appends nothing, if the metadata cannot be written.
    ///
    /// - Parameters:
    ///   - content: The content of the response.
    ///   - storedTime: When the entry was stored.
    ///   - writer: Receives the octets.
    ///   - writeMetadata: Writes the metadata; returns false to undo the whole entry.
    private static func write(
        content: Span<UInt8>, storedTime: Date, to writer: inout OctetWriter,
        metadata writeMetadata: (inout OctetWriter) -> Bool
    ) -> Bool {
        let start = writer.count
        writer.write(octets: magic)
        writer.write(version)
        // A zero holds the place of the checksum, which is known at the end; so does the zero of the length below.
        let checksumOffset = writer.count
        writer.write(UInt64(0))
        writer.write(storedTime.timeIntervalSinceReferenceDate)
        let metadataLengthOffset = writer.count
        writer.write(UInt64(0))
        writer.write(UInt64(content.count))
        let metadataOffset = writer.count
        guard writeMetadata(&writer) else {
            // Removes what was written since `start`.
            writer.remove(from: start)
            return false
        }
        writer.replace(at: metadataLengthOffset, with: UInt64(writer.count - metadataOffset))
        writer.write(octets: content)
        let checksum = writer.withOctets(from: start + coveredStart) { XXHash64.hash(of: $0) }
        writer.replace(at: checksumOffset, with: checksum)
        return true
    }

    // MARK: reading

    /// Reads the head of an entry. Throws if the magic number, the version or the checksum differs.
    private static func readHead(_ octets: [UInt8]) throws(OctetReader.Damage) -> Head {
        // The reader throws if there are fewer octets.
        var reader = OctetReader(octets, in: 0..<headLength)
        guard try reader.octets(magic.count).elementsEqual(magic), try reader.number() == version,
            try reader.longNumber() == XXHash64.hash(of: octets.span.extracting(coveredStart...))
        else { throw OctetReader.Damage() }
        let storedTime = Date(timeIntervalSinceReferenceDate: try reader.double())
        guard let metadataLength = Int(exactly: try reader.longNumber()),
            let contentLength = Int(exactly: try reader.longNumber())
        else { throw OctetReader.Damage() }
        return Head(storedTime: storedTime, metadataLength: metadataLength, contentLength: contentLength)
    }

    /// Returns the entry in these octets; nil if they are damaged or are stored under another address. `url` is a URL that the
    /// response is likely to have, which is then not parsed again.
    package static func entry(_ octets: [UInt8], address: String, url: URL? = nil) -> CacheEntry? {
        try? readEntry(octets, address: address, url: url)
    }

    /// Returns the entry in these octets; throws if they are damaged or are stored under another address.
    private static func readEntry(
        _ octets: [UInt8], address: String, url: URL?
    ) throws(OctetReader.Damage) -> CacheEntry {
        let head = try readHead(octets)
        // Always true after the head was read; without it the subtraction could be negative.
        guard octets.count >= headLength else { throw OctetReader.Damage() }
        let remaining = octets.count - headLength
        guard head.metadataLength <= remaining, head.contentLength == remaining - head.metadataLength else {
            throw OctetReader.Damage()
        }
        let contentOffset = headLength + head.metadataLength
        var reader = OctetReader(octets, in: headLength..<contentOffset)
        guard try reader.text().hasSameOctets(as: address) else { throw OctetReader.Damage() }
        let requestTime = Date(timeIntervalSinceReferenceDate: try reader.double())
        let responseTime = Date(timeIntervalSinceReferenceDate: try reader.double())
        let response = try readResponse(&reader, likely: url)
        let vary = try readVary(&reader)
        let provenance = try readProvenance(&reader)
        var userInfo: [AnyHashable: Any]?
        let writtenInfo = try reader.flag() ? try StorableValue(from: &reader) : nil
        if let writtenInfo {
            guard case .dictionary(let members) = writtenInfo else { throw OctetReader.Damage() }
            userInfo = members.mapValues(\.value)
        }
        guard reader.isAtEnd else { throw OctetReader.Damage() }
        return CacheEntry(
            response: CachedURLResponse(
                response: response, data: Data(octets[contentOffset...]), userInfo: userInfo,
                storagePolicy: .allowed),
            http: response as? HTTPURLResponse, requestTime: requestTime, responseTime: responseTime,
            storedTime: head.storedTime,
            vary: vary, provenance: provenance, writtenInfo: writtenInfo)
    }

    /// Reads what `write(_ vary:)` has written.
    static func readVary(_ reader: inout OctetReader) throws(OctetReader.Damage) -> VaryKey {
        var audience: VaryKey.Audience?
        if try reader.flag() {
            let fieldsDigest = try reader.text()
            let user = try reader.optionalText().map { VaryKey.Value.concealed($0) }
            audience = VaryKey.Audience(fieldsDigest: fieldsDigest, user: user ?? .absent)
        }
        var values: [String: VaryKey.Value] = [:]
        for _ in 0..<(try reader.number()) {
            let name = try reader.text()
            switch FieldKind(rawValue: try reader.octet()) {
            case .absent?: values[name] = .absent
            case .plain?: values[name] = .plain(try reader.text())
            case .concealed?: values[name] = .concealed(try reader.text())
            case nil: throw OctetReader.Damage()
            }
        }
        return VaryKey(values: values, audience: audience)
    }

    /// Reads what `write(_ provenance:)` has written.
    static func readProvenance(
        _ reader: inout OctetReader
    ) throws(OctetReader.Damage) -> CacheProvenance {
        switch SourceKind(rawValue: try reader.octet()) {
        case .program?: return .program
        case .plain?: return CacheProvenance(.plain(route: try readShortText(&reader).map { CacheRoute($0) }))
        case .secure?:
            let identity: PeerEvidence.ClientIdentity
            switch IdentityKind(rawValue: try reader.octet()) {
            case .notAsked?: identity = .notAsked
            case .noCertificate?: identity = .noCertificate
            case .certificate?: identity = .certificate(try readDigest(&reader))
            case nil: throw OctetReader.Damage()
            }
            let roots = try readShortText(&reader)
            let count = Int(try reader.octet())
            guard count <= maxKeyCount else { throw OctetReader.Damage() }
            var keys: Set<SHA256Digest> = []
            for _ in 0..<count { keys.insert(try readDigest(&reader)) }
            // An unchecked provenance is never written, and a judge has no meaning in another process.
            return CacheProvenance(
                .secure(
                    CacheProvenance.Connection(
                        identity: identity, roots: roots, keys: keys, judge: nil, isChainChecked: true)))
        case nil: throw OctetReader.Damage()
        }
    }

    /// Reads a text that may be nil; throws if it is longer than `maxTextLength`.
    private static func readShortText(_ reader: inout OctetReader) throws(OctetReader.Damage) -> String? {
        let text = try reader.optionalText()
        guard (text?.utf8.count ?? 0) <= maxTextLength else { throw OctetReader.Damage() }
        return text
    }

    /// Reads a digest, which is written without its length.
    private static func readDigest(_ reader: inout OctetReader) throws(OctetReader.Damage) -> SHA256Digest {
        guard let digest = SHA256Digest(bytes: Array(try reader.octets(SHA256Digest.byteCount))) else {
            throw OctetReader.Damage()
        }
        return digest
    }

    /// Reads the status of an HTTP response; throws if no server can send it.
    private static func readStatus(_ reader: inout OctetReader) throws(OctetReader.Damage) -> Int {
        guard let status = Int(exactly: try reader.signedNumber()), HTTPURLResponse.isPossible(status) else {
            throw OctetReader.Damage()
        }
        return status
    }

    /// Reads a URL. `likely` is a URL that it probably is.
    private static func readURL(
        _ reader: inout OctetReader, likely: URL?
    ) throws(OctetReader.Damage) -> URL {
        let text = try reader.text()
        let isLikely = likely.map { $0.baseURL == nil && $0.absoluteString.hasSameOctets(as: text) } ?? false
        // Rejects user information, which is never written.
        guard let url = isLikely ? likely : URL(string: text), url.splitAtUserInfo.address == text else {
            throw OctetReader.Damage()
        }
        return url
    }

    /// Reads a response without its content. `url` is a URL that it probably has.
    private static func readResponse(
        _ reader: inout OctetReader, likely url: URL?
    ) throws(OctetReader.Damage) -> URLResponse {
        guard let kind = ResponseKind(rawValue: try reader.octet()) else { throw OctetReader.Damage() }
        let url = try readURL(&reader, likely: url)
        switch kind {
        case .other:
            let mimeType = try reader.optionalText()
            guard let length = Int(exactly: try reader.signedNumber()) else { throw OctetReader.Damage() }
            return URLResponse(
                url: url, mimeType: mimeType, expectedContentLength: length,
                textEncodingName: try reader.optionalText())
        case .receivedFields:
            let status = try readStatus(&reader)
            let isDecoded = try reader.flag()
            guard let fields = Fields(lines: try reader.lengthPrefixedOctets()) else {
                throw OctetReader.Damage()
            }
            let head = ResponseHead(status: Status(status), fields: fields)
            return HTTPURLResponse(url: url, head: head, isDecoded: isDecoded)
        case .dictionary:
            let status = try readStatus(&reader)
            var named: [String: String] = [:]
            for _ in 0..<(try reader.number()) {
                let name = try reader.text()
                named[name] = try reader.text()
            }
            guard
                let response = HTTPURLResponse(
                    url: url, statusCode: status, httpVersion: nil, headerFields: named)
            else { throw OctetReader.Damage() }
            return response
        }
    }
}
