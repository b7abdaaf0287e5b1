//! An image: what is known of it at once, the new one when the server has answered.

import Foundation
import Larder

/// Stands for what an application makes of the bytes; anything that is no PNG is an error of the parser.
struct Image: Sendable {
  struct NoImage: Error {}

  let width: Int
  let height: Int

  init(_ data: Data) throws {
    let bytes = [UInt8](data.prefix(24))
    guard bytes.count == 24, bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { throw NoImage() }
    width = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
    height = bytes[20..<24].reduce(0) { $0 << 8 | Int($1) }
  }
}

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
  print("usage: Images URL CACHE-FOLDER")
  exit(2)
}
let cache = TieredCache(memory: MemoryCache(), disk: try FileCache(path: CommandLine.arguments[2]))
let manager = ContentManager(cache: cache, transport: try CurlTransport())

var query = ContentQuery(url) { data in try Image(data) }
// For a minute the image is taken as it is; for a day it is shown while the server is asked.
query.softTTL = .seconds(60)
query.ttl = .seconds(86_400)
do {
  for try await response in manager.responses(to: query) {
    let size = "\(response.value.width) x \(response.value.height)"
    print(response.isIntermediate ? "known:" : "now:", size, "from", response.origin)
  }
} catch {
  // What was shown stays on the screen.
  print(error.isNetworkError ? "not refreshed:" : "failed:", error)
}
await manager.close()
