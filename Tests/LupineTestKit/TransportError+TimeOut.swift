// SPDX-License-Identifier: MIT

public import LupineTransport

extension TransportError {
    /// Whether it is that time-out, however long it took.
    public func isTimeOut(of host: String, _ timeout: TransferTimeout) -> Bool {
        if case .timedOut(host, timeout, _) = self { true } else { false }
    }
}
