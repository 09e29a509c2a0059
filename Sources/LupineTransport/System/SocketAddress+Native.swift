// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// Converts to and from the kernel's form of an address, `sockaddr`. A Unix-domain name that does not fit is an error.
extension SocketAddress {
    /// The first argument of the call `socket` that creates a socket for this address.
    var domain: Int32 {
        switch self {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix, .unixAbstract, .unixUnnamed: AF_UNIX
        }
    }

    /// Calls `body` with the address as a `sockaddr`.
    func withNative<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        var storage = sockaddr_storage()
        let length = try fill(&storage)
        return try unsafe Self.borrow(&storage) { pointer throws(Errno) in
            try unsafe body(UnsafePointer(pointer), length)
        }
    }

    /// Converts the address that `fill` writes; nil if the family is not supported.
    init?(_ fill: (UnsafeMutablePointer<sockaddr>, inout socklen_t) throws(Errno) -> Void) throws(Errno) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        try unsafe Self.borrow(&storage) { pointer throws(Errno) in try unsafe fill(pointer, &length) }
        self.init(storage, length: Int(length))
    }

    /// Converts a `sockaddr` of `length` bytes; nil if it is truncated or the family is not supported.
    init?(_ native: UnsafePointer<sockaddr>, length: Int) {
        var storage = sockaddr_storage()
        guard length >= 0, length <= MemoryLayout<sockaddr_storage>.size else { return nil }
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: native, count: length))
        }
        self.init(storage, length: length)
    }

    /// Returns the index of the interface called `name` on this machine.
    static func interfaceIndex(named name: String) -> UInt32? {
        let index = unsafe if_nametoindex(name)
        return index == 0 ? nil : index
    }

    /// Calls `body` with a pointer to the storage as the kernel's general address type.
    private static func borrow<Result>(
        _ storage: inout sockaddr_storage,
        _ body: (UnsafeMutablePointer<sockaddr>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try unsafe withUnsafeMutablePointer(to: &storage) { pointer throws(Errno) in
            try unsafe body(UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self))
        }
    }

    /// Converts the first `length` bytes of the storage; nil if the address is truncated or the family is not supported.
    private init?(_ storage: sockaddr_storage, length: Int) {
        var storage = storage
        let family = Int32(storage.ss_family)
        let address: SocketAddress? = unsafe withUnsafeBytes(of: &storage) { bytes in
            switch family {
            case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
                let native = unsafe bytes.load(as: sockaddr_in.self)
                return .ipv4(
                    IPv4Address(rawValue: UInt32(bigEndian: native.sin_addr.s_addr)),
                    port: UInt16(bigEndian: native.sin_port))
            case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
                let native = unsafe bytes.load(as: sockaddr_in6.self)
                // The offset is never nil; 8 is its value on Linux.
                let offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8
                let high = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let low = unsafe bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
                return .ipv6(
                    IPv6Address(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low)),
                    port: UInt16(bigEndian: native.sin6_port), zone: native.sin6_scope_id)
            case AF_UNIX:
                let offset = unixPathOffset
                // The length may exceed the structure by one: the kernel adds a NUL after a name that fills the structure.
                guard length > offset, length <= MemoryLayout<sockaddr_un>.size + 1 else {
                    return .unixUnnamed
                }
                let name = unsafe bytes[offset..<length]
                // An abstract name begins with a NUL.
                if unsafe name.first == 0 { return unsafe .unixAbstract(name: Array(name.dropFirst())) }
                return unsafe .unix(path: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
            default:
                return nil
            }
        }
        guard let address else { return nil }
        self = address
    }

    /// Writes the address as a `sockaddr` and returns its length.
    private func fill(_ storage: inout sockaddr_storage) throws(Errno) -> socklen_t {
        switch self {
        case .ipv4(let address, let port):
            var native = sockaddr_in()
            native.sin_family = sa_family_t(AF_INET)
            native.sin_port = port.bigEndian
            native.sin_addr.s_addr = address.rawValue.bigEndian
            unsafe withUnsafeMutableBytes(of: &storage) {
                unsafe $0.storeBytes(of: native, as: sockaddr_in.self)
            }
            return socklen_t(MemoryLayout<sockaddr_in>.size)
        case .ipv6(let address, let port, let zone):
            var native = sockaddr_in6()
            native.sin6_family = sa_family_t(AF_INET6)
            native.sin6_port = port.bigEndian
            native.sin6_scope_id = zone
            // As above, the offset is never nil.
            let offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8
            unsafe withUnsafeMutableBytes(of: &storage) {
                unsafe $0.storeBytes(of: native, as: sockaddr_in6.self)
                unsafe $0.storeBytes(of: address.high.bigEndian, toByteOffset: offset, as: UInt64.self)
                unsafe $0.storeBytes(of: address.low.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
            }
            return socklen_t(MemoryLayout<sockaddr_in6>.size)
        case .unix(let path):
            let bytes = Array(path.utf8)
            guard !bytes.isEmpty, !bytes.contains(0) else { throw .invalidArgument }
            // A path ends with a NUL, and an abstract name begins with one.
            return try Self.fillUnix(&storage, bytes + [0])
        case .unixAbstract(let name):
            return try Self.fillUnix(&storage, [0] + name)
        case .unixUnnamed:
            return try Self.fillUnix(&storage, [])
        }
    }

    /// Writes a Unix-domain address with this name, and returns the length. Throws `nameTooLong` if the name does not fit.
    private static func fillUnix(_ storage: inout sockaddr_storage, _ name: [UInt8]) throws(Errno)
        -> socklen_t
    {
        let offset = unixPathOffset
        guard offset + name.count <= MemoryLayout<sockaddr_un>.size else { throw .nameTooLong }
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe bytes.storeBytes(of: sa_family_t(AF_UNIX), as: sa_family_t.self)
            for (index, byte) in name.enumerated() { unsafe bytes[offset + index] = byte }
        }
        return socklen_t(offset + name.count)
    }
}

/// The offset of the name in a `sockaddr_un`.
private let unixPathOffset = MemoryLayout<sa_family_t>.size
