// SPDX-License-Identifier: MIT

public import LupineTransport

extension TransportError {
    /// Whether it is that time-out, however long it took.
    public func isTimeOut(of host: String, _ timeout: TransferTimeout) -> Bool {
        if case .timedOut(host, _, timeout, _) = self { true } else { false }
    }

    /// The error with port 0, where a table is made before its origin has a port.
    public var withoutPort: TransportError {
        switch self {
        case .http(let host, _, let error): .http(host: host, port: 0, error)
        case .connectionLost(let host, _, let error): .connectionLost(host: host, port: 0, error)
        default: self
        }
    }
}
