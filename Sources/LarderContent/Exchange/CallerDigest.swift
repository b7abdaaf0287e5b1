@_spi(Stores) import LarderCore
import LarderHTTP
import LarderStorage

/// Distinguishes callers in keys without storing their credentials: it uses a digest with a salt that is stored in the
/// cache.
///
/// The salt is created once for each cache and stored under a key of its own. If it is lost, responses stored for
/// callers are not found any more, and are downloaded again. Each process reads the salt only once, so it would be
/// among the first entries that a full cache evicts. Therefore it is stored again after a certain number of stored
/// entries or bytes.
final class CallerDigest: Sendable {
  private static let saltKey = " #salt"
  private static let memoryLimit = 64
  /// The key suffix for requests that do not identify their caller, if clients share the cache. Entries that a single
  /// user's cache stored without this suffix may be private to that user.
  private static let sharedSuffix = " #shared"

  /// How many entries, and how many bytes, are stored before the salt is stored in the cache again.
  private static let renewalCount = 32
  private static let renewalBytes = 4 << 20

  /// The salt of the digests.
  struct Salt {
    let bytes: [UInt8]
    /// False if the salt is for this process alone, because the cache failed.
    let isStored: Bool
  }

  private struct State {
    var salt: Salt?
    /// The entries and bytes stored since the salt was last stored in the cache.
    var storedCount = 0
    var storedBytes = 0
    /// The digests of recent callers.
    var suffixes: [[String]: String] = [:]
  }

  private let credentials: CredentialFields
  private let isShared: Bool
  private let state = Locked(State())

  init(_ credentials: CredentialFields, isShared: Bool = false) {
    self.credentials = credentials
    self.isShared = isShared
  }

  /// True if a request has credentials that identify its caller.
  func hasCredentials(_ fields: HTTPFields) -> Bool { fields.contains { credentials.contains($0.name) } }

  /// The suffix if it is known without reading the cache; nil if ``suffix(for:identity:salt:)`` must compute it.
  func remembered(_ fields: HTTPFields, identity: String) -> String? {
    if identity.isEmpty, !hasCredentials(fields) { return isShared ? CallerDigest.sharedSuffix : "" }
    let identification = identification(fields, identity)
    return state.withLock { $0.suffixes[identification] }
  }

  /// The suffix for the key of a request's resource; empty if the request does not identify its caller.
  func suffix(
    for fields: HTTPFields, identity: String, salt: () async -> Salt
  ) async -> String {
    let identification = identification(fields, identity)
    if identification.isEmpty { return isShared ? CallerDigest.sharedSuffix : "" }
    if let suffix = state.withLock({ $0.suffixes[identification] }) { return suffix }
    var bytes: [UInt8] = []
    for text in identification {
      bytes += Array(String(text.utf8.count).utf8) + [UInt8(ascii: ":")]
      bytes += Array(text.utf8)
    }
    let key = await self.salt(salt).bytes
    let suffix = " #" + Hexadecimal.text(Digest.hmac(bytes, key: key))
    state.withLock { state in
      if state.suffixes.count >= CallerDigest.memoryLimit { state.suffixes.removeAll() }
      state.suffixes[identification] = suffix
    }
    return suffix
  }

  /// Each name with its value, in the order of the names; values of one name in their own order.
  private func identification(_ fields: HTTPFields, _ identity: String) -> [String] {
    var parts: [String] = []
    if !identity.isEmpty { parts = ["", identity] }
    guard hasCredentials(fields) else {
      if isShared, !parts.isEmpty { parts += ["", CallerDigest.sharedSuffix] }
      return parts
    }
    let credentialFields = fields.filter { credentials.contains($0.name) }.enumerated().sorted {
      ($0.element.name.canonicalName, $0.offset) < ($1.element.name.canonicalName, $1.offset)
    }
    for (_, field) in credentialFields { parts += [field.name.canonicalName, field.value] }
    return parts
  }

  /// Forgets the salt, because the cache no longer has one. The next salt is stored again.
  func forgetSalt() { state.withLock { $0 = State() } }

  /// The salt. The first one that is set stays, even if other tasks load another one.
  private func salt(_ load: () async -> Salt) async -> Salt {
    if let salt = state.withLock({ $0.salt }) { return salt }
    let loaded = await load()
    return state.withLock { state in
      if let salt = state.salt { return salt }
      state.salt = loaded
      return loaded
    }
  }

  /// Counts stored bytes. Returns the salt if it must be stored in the cache again (``store(_:in:now:)``).
  func saltToRenew(afterStoring bytes: Int) -> Salt? {
    state.withLock { state in
      guard let salt = state.salt, salt.isStored else { return nil }
      state.storedCount += 1
      state.storedBytes = min(CallerDigest.renewalBytes, state.storedBytes) + min(CallerDigest.renewalBytes, bytes)
      guard state.storedCount >= CallerDigest.renewalCount || state.storedBytes >= CallerDigest.renewalBytes else {
        return nil
      }
      (state.storedCount, state.storedBytes) = (0, 0)
      return salt
    }
  }

  /// The cache's salt. If there is none, a new one is stored. The salt that is read afterwards counts, because another
  /// process may have stored its own first.
  static func salt(in cache: any Cache, now: Int64) async throws(CacheError) -> Salt {
    if let salt = try await stored(in: cache) { return Salt(bytes: salt, isStored: true) }
    let newSalt = Salt(bytes: Digest.randomBytes(Digest.byteCount), isStored: true)
    try await store(newSalt, in: cache, now: now)
    return try await stored(in: cache).map { Salt(bytes: $0, isStored: true) } ?? newSalt
  }

  /// Stores a salt in a cache.
  static func store(_ salt: Salt, in cache: any Cache, now: Int64) async throws(CacheError) {
    let metadata = CacheMetadata(url: "", status: 0, requestTime: now, responseTime: now)
    try await cache.store(CacheEntry(metadata: metadata, bytes: salt.bytes), forKey: saltKey)
  }

  /// A salt for this process alone, if the cache cannot store one.
  static func temporarySalt() -> Salt { Salt(bytes: Digest.randomBytes(Digest.byteCount), isStored: false) }

  private static func stored(in cache: any Cache) async throws(CacheError) -> [UInt8]? {
    guard let entry = try await cache.entry(forKey: saltKey), entry.length == Digest.byteCount else { return nil }
    return try await entry.read(0..<Digest.byteCount)
  }
}
