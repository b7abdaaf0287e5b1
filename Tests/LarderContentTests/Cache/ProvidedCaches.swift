import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderContent
@testable import LarderCrashRig

/// The caches that the conformance tests run over.
enum ProvidedCache: String, CaseIterable, CustomTestStringConvertible, Sendable {
  case memory
  case tiered
  case dictionary
  case files
  case tieredFiles

  var testDescription: String { rawValue }

  /// An empty cache, and what must live as long as it.
  func make() async throws -> Rig {
    switch self {
    case .memory: Rig(cache: MemoryCache())
    case .tiered: Rig(cache: TieredCache(memory: MemoryCache(byteLimit: 2 << 20), disk: MemoryCache()))
    case .dictionary: Rig(cache: DictionaryCache())
    case .files: try files { $0 }
    case .tieredFiles: try files { TieredCache(memory: MemoryCache(byteLimit: 1 << 20), disk: $0) }
    }
  }

  private func files(_ wrap: (FileCache) -> any Cache) throws -> Rig {
    let folder = try TemporaryFolder()
    return Rig(
      cache: wrap(try FileCache(path: folder.file("cache"), encryptionKey: try RigKey.fromEnvironment())),
      folder: folder)
  }

  struct Rig: Sendable {
    let cache: any Cache
    var folder: TemporaryFolder?
  }
}

/// A cache as a user writes one: three functions over a dictionary, which reads into memory what it is given.
final class DictionaryCache: Cache {
  private let entries = Mutex<[String: CacheEntry]>([:])

  func entry(forKey key: String) async throws(CacheError) -> CacheEntry? { entries.withLock { $0[key] } }

  func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    let bytes = try await entry.read(0..<entry.length)
    let stored = CacheEntry(metadata: entry.metadata, bytes: bytes)
    entries.withLock { $0[key] = stored }
  }

  func removeEntry(forKey key: String) async throws(CacheError) { entries.withLock { $0[key] = nil } }

  func removeAll() async throws(CacheError) { entries.withLock { $0 = [:] } }
}

/// A cache that lets other tasks run before and after each of its steps, and fails if configured to.
final class RestlessCache: Cache {
  private let inner: any Cache
  private let state: Mutex<State>

  private struct State {
    var generator: PrintedSeed
    var failure: CacheError?
  }

  init(_ inner: any Cache = DictionaryCache(), seed: UInt64 = 1) {
    self.inner = inner
    state = Mutex(State(generator: PrintedSeed(seed: seed)))
  }

  /// Every change fails with this from now on.
  func fail(_ error: CacheError?) { state.withLock { $0.failure = error } }

  private func pause() async {
    for _ in 0..<state.withLock({ Int.random(in: 0...3, using: &$0.generator) }) { await Task.yield() }
  }

  private func checkFailure() throws(CacheError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  func entry(forKey key: String) async throws(CacheError) -> CacheEntry? {
    await pause()
    let stored = try await inner.entry(forKey: key)
    await pause()
    return stored
  }

  func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    await pause()
    try checkFailure()
    try await inner.store(entry, forKey: key)
    await pause()
  }

  func removeEntry(forKey key: String) async throws(CacheError) {
    await pause()
    try checkFailure()
    try await inner.removeEntry(forKey: key)
    await pause()
  }

  func removeAll() async throws(CacheError) {
    await pause()
    try checkFailure()
    try await inner.removeAll()
    await pause()
  }

  func update(_ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String) async throws(CacheError) {
    await pause()
    try checkFailure()
    try await inner.update(entry, to: metadata, forKey: key)
    await pause()
  }
}
