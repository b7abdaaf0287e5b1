//! The content cache for those who know OkHttp's cache or Nuke's pipeline.

import Foundation
import Larder

/// A client with a cache of 50 MB, as `OkHttpClient.Builder().cache(Cache(directory, 50 MB))`.
func makeManager(folder: String) throws -> ContentManager {
  let disk = try FileCache(path: folder, byteLimit: 50 << 20)
  return ContentManager(
    cache: TieredCache(memory: MemoryCache(byteLimit: 16 << 20), disk: disk), transport: try PlatformTransport())
}

/// The policies that correspond to OkHttp's `CacheControl`.
func read(_ url: URL, _ manager: ContentManager) async throws {
  var query = ContentQuery<String>(url)
  query.policy = .standard  // no CacheControl: the rules of HTTP
  print(try await manager.content(of: query).origin)

  query.policy = .reload  // CacheControl.FORCE_NETWORK
  print(try await manager.content(of: query).origin)

  query.policy = .cacheOnly  // CacheControl.FORCE_CACHE
  do {
    print(try await manager.content(of: query).value)
  } catch let error {
    // OkHttp's 504 (Unsatisfiable Request)
    if case .notCached = error.category { print("nothing is cached") } else { throw error }
  }

  query.policy = .standard
  query.fields[.cacheControl] = "max-stale=3600"  // CacheControl.Builder().maxStale(1, HOURS)
  print(try await manager.content(of: query).age ?? .zero)
}

/// The decoded image, such as `UIImage`.
struct Picture: Sendable {
  let bytes: Int
  init(decoding data: Data) throws { bytes = data.count }
}

/// Loads pictures, and keeps decoded ones in memory, as Nuke's `ImageCache` does.
actor PictureLoader {
  private let manager: ContentManager
  private var decoded: [URL: Picture] = [:]

  init(_ manager: ContentManager) { self.manager = manager }

  /// `ImagePipeline.shared.image(for: url)`
  func picture(for url: URL) async throws -> Picture {
    if let picture = decoded[url] { return picture }
    var query = ContentQuery(url) { data in try Picture(decoding: data) }
    query.ttl = .seconds(7 * 86_400)  // as a DataCache, whatever the server's Cache-Control says
    let picture = try await manager.content(of: query).value
    if decoded.count >= 100 { decoded.removeAll() }
    decoded[url] = picture
    return picture
  }

  /// `ImagePrefetcher.startPrefetching(with:)`; cancel the task to stop.
  func prefetch(_ urls: [URL]) async {
    await withTaskGroup { group in
      for url in urls {
        group.addTask { [manager] in try? await manager.prefetch(ContentQuery<Data>(url)) }
      }
    }
  }
}
