//! The content cache: values, lifetimes, errors, users, encryption, and removing content.

import Foundation
import Larder

struct Article: Decodable, Sendable {
  var title: String
}

// snippet.hide
func show(_ articles: [Article]) { print(articles.map(\.title)) }
// snippet.show

func open(_ url: URL) async throws {
  let cache = TieredCache(memory: MemoryCache(), disk: try FileCache(path: "/var/cache/myapp"))
  let manager = ContentManager(cache: cache, transport: try PlatformTransport())

  let response = try await manager.content(of: ContentQuery<String>(url))
  print(response.value, response.origin)
}

func readLines(_ manager: ContentManager, _ url: URL) async throws -> [Substring] {
  let query = ContentQuery(url) { data in String(decoding: data, as: UTF8.self).split(separator: "\n") }
  return try await manager.content(of: query).value
}

func follow(_ manager: ContentManager, _ url: URL) async throws {
  var query = ContentQuery<[Article]>.json(url)
  query.softTTL = .seconds(60)
  query.ttl = .seconds(86_400)
  for try await response in manager.responses(to: query) { show(response.value) }
}

func load(_ manager: ContentManager, _ url: URL) async {
  do {
    show(try await manager.content(of: ContentQuery<[Article]>.json(url)).value)
  } catch {
    if error.isNoConnectionError { print("offline") } else { print(error.localizedDescription) }
  }
}

func showAge(_ manager: ContentManager, _ url: URL) async throws {
  var query = ContentQuery<[Article]>.json(url)
  query.policy = .staleWhenUnreachable
  let articles = try await manager.content(of: query)
  print(articles.age.map { "\($0) old" } ?? "new")
}

func openWithoutNetwork(_ cache: FileCache, isOnline: Bool) throws -> ContentManager {
  let transport: any HTTPTransport = isOnline ? try PlatformTransport() : NotModifiedTransport()
  return ContentManager(cache: cache, transport: transport)
}

func separateUsers() -> HTTPCacheOptions {
  var options = HTTPCacheOptions()
  options.credentialFields.insert("X-Tenant")
  options.credentialFields.remove("X-Build-Key")
  return options
}

func openEncrypted(_ passphrase: String) throws -> FileCache {
  let key = try StorageKey(passphrase: passphrase.utf8)
  let disk = try FileCache(path: "/var/cache/myapp", encryptionKey: key)
  return disk
}
