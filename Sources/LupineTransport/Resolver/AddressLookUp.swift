// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// Calls `getaddrinfo`. The call may block for any time, so it is made only on threads of `WorkerPool`.
enum AddressLookUp {
    /// Returns the addresses of `host`, with port 0 and without duplicates, in the system's order of preference.
    static func addresses(
        of host: String, _ family: AddressFamily
    ) throws(ResolutionError) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        switch family {
        case .any: unsafe hints.ai_family = AF_UNSPEC
        case .ipv4: unsafe hints.ai_family = AF_INET
        case .ipv6: unsafe hints.ai_family = AF_INET6
        }
        var list: UnsafeMutablePointer<addrinfo>?
        // `errno` is cleared, because `getaddrinfo` sets it only for some errors.
        errno = 0
        let code = unsafe getaddrinfo(host, nil, &hints, &list)
        let systemError = errno
        guard code == 0 else { throw error(code, system: systemError) }
        defer { unsafe freeaddrinfo(list) }

        var addresses: [SocketAddress] = []
        // The entry to convert next in the linked list.
        var nextEntry = unsafe list
        while let entry = unsafe nextEntry, addresses.count < addressLimit {
            if let native = unsafe entry.pointee.ai_addr,
                let address = unsafe SocketAddress(native, length: Int(entry.pointee.ai_addrlen)),
                !addresses.contains(address)
            {
                addresses.append(address)
            }
            unsafe nextEntry = entry.pointee.ai_next
        }
        guard !addresses.isEmpty else { throw .noAddress }
        return addresses
    }

    /// The maximum number of addresses of a name that are returned, and so tried. An answer may list thousands of addresses that
    /// accept no connection.
    private static let addressLimit = 64

    /// Converts an error code of `getaddrinfo`. `system` is `errno` after the call.
    private static func error(_ code: Int32, system: Int32) -> ResolutionError {
        switch code {
        // `getaddrinfo` returns `EAI_NONAME` also if it could open neither a file nor a socket for the look-up.
        case EAI_NONAME where Errno(rawValue: system).isOutOfDescriptors:
            .resolverFailed(code: code, system: Errno(rawValue: system))
        case EAI_NONAME: .nameNotFound
        case lupine_eai_nodata, lupine_eai_addrfamily: .noAddress
        case EAI_AGAIN: .resolverUnavailable
        case EAI_SYSTEM: .resolverFailed(code: code, system: Errno(rawValue: system))
        default: .resolverFailed(code: code, system: nil)
        }
    }
}
