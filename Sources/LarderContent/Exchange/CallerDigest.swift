import LarderCore
import LarderHTTP
import LarderStorage

/// Tells callers apart in keys without writing what they are known by: a digest under a salt that lies in the cache.
///
/// The salt is made once a cache and found again under a key of its own; where it has been lost, what was stored for
/// callers is not found any more, and fetched again. It is read once a process, and so would be among the first that a
/// full cache drops: it is put there again after every so much that is stored.
final class CallerDigest: Sendable {
  private static let saltKey = " #salt"
  private static let memoryLimit = 64
  /// What is added to a key where clients share the cache and a request says nothing of its caller. What a cache of one user keeps
  /// without it may be that user's alone.
  private static let sharedSuffix = " #shared"

  /// How many entries, and how many bytes, are stored before the salt is put into the cache again.
  private static let renewalCount = 32
  private static let renewalBytes = 4 << 20

  /// What the digests are made with.
  struct Salt {
    let bytes: [UInt8]
    /// False where it is for this process alone, because the cache failed.
    let isKept: Bool
  }

  private struct State {
    var salt: Salt?
    /// What was stored since the salt was put into the cache.
    var storedCount = 0
    var storedBytes = 0
    /// Digests of callers seen lately.
    var known: [[String]: String] = [:]
  }

  private let credentials: CredentialFields
  private let isShared: Bool
  private let state = Locked(State())

  init(_ credentials: CredentialFields, isShared: Bool = false) {
    self.credentials = credentials
    self.isShared = isShared
  }

  /// True for a request whose credentials tell its caller from others.
  func tellsApart(_ fields: HTTPFields) -> Bool { fields.contains { credentials.contains($0.name) } }

  /// The suffix where it is known without asking the cache; nil where ``suffix(for:identity:salt:)`` has to make it.
  func known(_ fields: HTTPFields, identity: String) -> String? {
    if identity.isEmpty, !tellsApart(fields) { return isShared ? CallerDigest.sharedSuffix : "" }
    let said = statements(fields, identity)
    return state.withLock { $0.known[said] }
  }

  /// What is added to the key of a request's resource; empty where the request says nothing of its caller.
  func suffix(
    for fields: HTTPFields, identity: String, salt: () async -> Salt
  ) async -> String {
    let said = statements(fields, identity)
    if said.isEmpty { return isShared ? CallerDigest.sharedSuffix : "" }
    if let known = state.withLock({ $0.known[said] }) { return known }
    var bytes: [UInt8] = []
    for text in said {
      bytes += Array(String(text.utf8.count).utf8) + [UInt8(ascii: ":")]
      bytes += Array(text.utf8)
    }
    let key = await self.salt(salt).bytes
    let suffix = " #" + Digest.hexadecimal(Digest.hmac(bytes, key: key))
    state.withLock { state in
      if state.known.count >= CallerDigest.memoryLimit { state.known.removeAll() }
      state.known[said] = suffix
    }
    return suffix
  }

  /// Each name with its value, in the order of the names; values of one name in their own order.
  private func statements(_ fields: HTTPFields, _ identity: String) -> [String] {
    var said: [String] = []
    if !identity.isEmpty { said = ["", identity] }
    guard tellsApart(fields) else {
      if isShared, !said.isEmpty { said += ["", CallerDigest.sharedSuffix] }
      return said
    }
    let statements = fields.filter { credentials.contains($0.name) }.enumerated().sorted {
      ($0.element.name.canonicalName, $0.offset) < ($1.element.name.canonicalName, $1.offset)
    }
    for (_, field) in statements { said += [field.name.canonicalName, field.value] }
    return said
  }

  /// The cache holds no salt any more; the next one is put there anew.
  func forgetSalt() { state.withLock { $0 = State() } }

  /// The first salt that is there stays, whoever brings another one.
  private func salt(_ load: () async -> Salt) async -> Salt {
    if let salt = state.withLock({ $0.salt }) { return salt }
    let loaded = await load()
    return state.withLock { state in
      if let salt = state.salt { return salt }
      state.salt = loaded
      return loaded
    }
  }

  /// Counts what has been stored; the salt where it is to be put into the cache again (``store(_:in:now:)``).
  func saltToRenew(afterStoring bytes: Int) -> Salt? {
    state.withLock { state in
      guard let salt = state.salt, salt.isKept else { return nil }
      state.storedCount += 1
      state.storedBytes = min(CallerDigest.renewalBytes, state.storedBytes) + min(CallerDigest.renewalBytes, bytes)
      guard state.storedCount >= CallerDigest.renewalCount || state.storedBytes >= CallerDigest.renewalBytes else {
        return nil
      }
      (state.storedCount, state.storedBytes) = (0, 0)
      return salt
    }
  }

  /// The cache's salt; where it has none, one is put there. What is there afterwards counts: another process may have
  /// been faster.
  static func salt(in cache: any Cache, now: Int64) async throws(CacheError) -> Salt {
    if let salt = try await stored(in: cache) { return Salt(bytes: salt, isKept: true) }
    let made = Salt(bytes: Digest.randomBytes(Digest.byteCount), isKept: true)
    try await store(made, in: cache, now: now)
    return try await stored(in: cache).map { Salt(bytes: $0, isKept: true) } ?? made
  }

  /// Puts a salt into a cache.
  static func store(_ salt: Salt, in cache: any Cache, now: Int64) async throws(CacheError) {
    let metadata = CacheMetadata(url: "", status: 0, requestTime: now, responseTime: now)
    try await cache.store(CacheEntry(metadata: metadata, bytes: salt.bytes), forKey: saltKey)
  }

  /// A salt for this process alone, where the cache keeps none.
  static func passingSalt() -> Salt { Salt(bytes: Digest.randomBytes(Digest.byteCount), isKept: false) }

  private static func stored(in cache: any Cache) async throws(CacheError) -> [UInt8]? {
    guard let entry = try await cache.entry(forKey: saltKey), entry.length == Digest.byteCount else { return nil }
    return try await entry.read(0..<Digest.byteCount)
  }
}
