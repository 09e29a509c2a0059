// SPDX-License-Identifier: MIT
import LupineTransport

/// The smallest program on the product LupineTransport.
@main
struct EmbeddingLupineTransport {
    static func main() {
        print("linked with LupineTransport")
    }
}
