// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

extension HopLoadFactory {
    /// For sessions that the program creates: uses the classes in the configuration's `protocolClasses`. A request that none of
    /// them can load is loaded by a built-in load.
    static let standard = HopLoadFactory(
        make: { request, context, task, client in
            ProtocolSelection.load(
                request, classes: context.settings.protocolClasses ?? [], context: context, task: task,
                client: client)
        },
        mayCallProgram: { $0.settings.protocolClasses?.isEmpty == false })

    /// For the shared session: uses the classes that are registered at the time of the request. A request that none of them can
    /// load is loaded by a built-in load.
    static let shared = HopLoadFactory(
        make: { request, context, task, client in
            ProtocolSelection.load(
                request, classes: ProtocolRegistry.classes, context: context, task: task, client: client)
        },
        mayCallProgram: { _ in !ProtocolRegistry.classes.isEmpty })
}
