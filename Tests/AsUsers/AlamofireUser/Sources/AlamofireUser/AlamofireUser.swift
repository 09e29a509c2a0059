// SPDX-License-Identifier: MIT

import Alamofire
import Lupine

/// Asks the server of its argument for flowers. Both modules are imported here: each name is there once.
@main
enum AlamofireUser {
    static func main() async {
        let base = CommandLine.arguments.dropFirst().first ?? ""
        let client = Client(
            base: base, session: .init(user: "alice"), network: Alamofire.AF, interceptor: Again())
        do {
            let flowers = try await client.load(Flowers(colour: "blue"))
            print("\(flowers.map(\.name)), \(Alamofire.Session.self == Lupine.Session.self)")
            let missing = await AF.request(base + "/missing").validate().serializingData().response
            print(missing.error?.status ?? 0)
        } catch { print(error) }
    }
}
