// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

extension HopLoadFactory {
    /// Loads with the classes in the configuration's `protocolClasses`, then with the built-in loads.
    static let standard = HopLoadFactory(
        make: { request, context, task, client in
            ProtocolSelection.load(
                request, classes: context.settings.protocolClasses ?? [], context: context, task: task,
                client: client)
        },
        mayCallProgram: { $0.settings.protocolClasses?.isEmpty == false })

    /// Loads for the shared session: with the classes registered at the time of the request, then with the built-in ones.
    static let shared = HopLoadFactory(
        make: { request, context, task, client in
            ProtocolSelection.load(
                request, classes: ProtocolRegistry.classes, context: context, task: task, client: client)
        },
        mayCallProgram: { _ in !ProtocolRegistry.classes.isEmpty })
}
