// SPDX-License-Identifier: MIT

public import LupineTransport

extension TransportError {
    /// Returns whether the error is this time-out for this host, with any port and duration.
    public func isTimeOut(of host: String, _ timeout: TransferTimeout) -> Bool {
        if case .timedOut(host, _, timeout, _) = self { true } else { false }
    }

    /// The error with port 0, for tables that are made before their origin has a port.
    public var withoutPort: TransportError {
        switch self {
        case .http(let host, _, let error): .http(host: host, port: 0, error)
        case .connectionLost(let host, _, let error): .connectionLost(host: host, port: 0, error)
        default: self
        }
    }
}
