//! An image: shows the cached one at once, then the one of the server.

import Foundation
import Larder

/// A placeholder for the decoded image of an application. The parser throws for bytes that are not a PNG.
struct Image: Sendable {
  struct NotPNG: Error {}

  let width: Int
  let height: Int

  init(_ data: Data) throws {
    let bytes = [UInt8](data.prefix(24))
    guard bytes.count == 24, bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { throw NotPNG() }
    width = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
    height = bytes[20..<24].reduce(0) { $0 << 8 | Int($1) }
  }
}

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
  print("usage: Images URL CACHE-FOLDER")
  exit(2)
}
let cache = TieredCache(memory: MemoryCache(), disk: try FileCache(path: CommandLine.arguments[2]))
let manager = ContentManager(cache: cache, transport: try PlatformTransport())

var query = ContentQuery(url) { data in try Image(data) }
// For a minute, the cached image is used without a request. For a day, it is shown while a new one is requested.
query.softTTL = .seconds(60)
query.ttl = .seconds(86_400)
do {
  for try await response in manager.responses(to: query) {
    let size = "\(response.value.width) x \(response.value.height)"
    print(response.isIntermediate ? "cached:" : "current:", size, "from", response.origin)
  }
} catch {
  // The cached image stays on the screen.
  print(error.isNetworkError ? "not refreshed:" : "failed:", error)
}
await manager.close()
