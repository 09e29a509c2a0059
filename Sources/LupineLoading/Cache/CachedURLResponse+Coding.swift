// SPDX-License-Identifier: MIT

public import Foundation

/// Archives the response, the content, the policy, and the `userInfo` if a property list can hold it. A response of a program's
/// class archives itself.
extension CachedURLResponse: NSSecureCoding {
    /// Whether the class supports secure coding: yes.
    public static var supportsSecureCoding: Bool { true }

    /// Decodes an archived response; returns nil if the archive contains something else.
    public convenience init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding, coder.containsValue(forKey: "storagePolicy"),
            let response = coder.decodeObject(of: URLResponse.self, forKey: "response"),
            let data = coder.decodeObject(of: NSData.self, forKey: "data"),
            let number = UInt(exactly: coder.decodeInt64(forKey: "storagePolicy")),
            let policy = URLCache.StoragePolicy(rawValue: number)
        else { return nil }
        var userInfo: [AnyHashable: Any]?
        if coder.containsValue(forKey: "userInfo") {
            guard let stored = coder.decodeObject(of: NSData.self, forKey: "userInfo"),
                let members = Self.members(Array(stored as Data))
            else { return nil }
            userInfo = members
        }
        self.init(response: response, data: data as Data, userInfo: userInfo, storagePolicy: policy)
    }

    /// Archives the response.
    public func encode(with coder: NSCoder) {
        coder.encode(response, forKey: "response")
        coder.encode(data as NSData, forKey: "data")
        coder.encode(Int64(storagePolicy.rawValue), forKey: "storagePolicy")
        guard let userInfo, let stored = StorableValue(userInfo) else { return }
        var writer = OctetWriter()
        stored.write(to: &writer)
        coder.encode(Data(writer.octets) as NSData, forKey: "userInfo")
    }

    /// Decodes the members of a `userInfo`; returns nil if the octets are damaged.
    private static func members(_ octets: [UInt8]) -> [AnyHashable: Any]? {
        var reader = OctetReader(octets, in: 0..<octets.count)
        guard case .dictionary(let members)? = try? StorableValue(from: &reader), reader.isAtEnd else {
            return nil
        }
        return members.mapValues(\.value)
    }
}
