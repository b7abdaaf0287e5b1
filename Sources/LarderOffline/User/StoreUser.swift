@_spi(Stores) import LarderCore
import LarderStorage

/// The user of a store. Files contain a digest of the user's name, never the name.
struct StoreUser: Sendable, Hashable {
  /// The digest, 32 hexadecimal digits.
  let digest: String

  /// The user with a name. Names are compared by their bytes: two spellings are two users.
  init(_ name: String) {
    let bytes = Digest.sha256(Array("larder user\0".utf8) + Array(name.utf8))
    digest = Hexadecimal.text(bytes.prefix(16))
  }

  /// The user with a stored digest; nil if the bytes are not a digest.
  init?(digest bytes: [UInt8]) {
    guard bytes.count == Self.length, bytes.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    digest = String(decoding: bytes, as: UTF8.self)
  }

  /// The length of a digest in bytes.
  static let length = 32

  /// The file to which the user's store is moved while another user's store is in place.
  func aside(of store: String) -> DatabaseFile { DatabaseFile(store + "-user-" + digest) }
}

/// The number of changes of a store's user that the service has not applied.
struct PendingChangeCounts: Sendable, Hashable {
  /// Changes that are queued, or were sent and have no response.
  var queued = 0
  /// Requests in the error archive, with those that depend on them.
  var archived = 0

  var isNone: Bool { queued == 0 && archived == 0 }

  /// A description in words.
  var text: String {
    if isNone { return "no pending changes" }
    let queue = queued == 1 ? "1 pending change" : "\(queued) pending changes"
    if archived == 0 { return queue }
    let archive = archived == 1 ? "1 request is in the error archive" : "\(archived) requests are in the error archive"
    return queued == 0 ? archive : "\(queue), \(archive)"
  }
}

extension Replica {
  /// The user that the store belongs to; nil if it has none.
  func user() async throws(StorageError) -> StoreUser? {
    try await database.read { (connection) throws(StorageError) in try connection.user() }
  }

  /// Makes the user the owner of the store if it has none. Returns the owner.
  func claim(_ user: StoreUser) async throws(StorageError) -> StoreUser {
    try await database.write { (connection) throws(StorageError) in
      if let ownership = try connection.user() { return ownership }
      try connection.set(Connection.userSetting, to: .text(user.digest))
      return user
    }
  }

  /// The number of changes that the service has not applied yet.
  func pendingChanges() async throws(StorageError) -> PendingChangeCounts {
    let counts = """
      SELECT count(*) FILTER (WHERE state IN (0, 1)), count(*) FILTER (WHERE state IN (2, 3)) FROM larder_request
      """
    return try await database.read { (connection) throws(StorageError) in
      try connection.first(counts) { (row) throws(StorageError) in
        PendingChangeCounts(queued: Int(try row.int64(0)), archived: Int(try row.int64(1)))
      } ?? PendingChangeCounts()
    }
  }
}

extension Connection {
  /// The name of the setting that stores the user.
  fileprivate static let userSetting = "user"

  fileprivate func user() throws(StorageError) -> StoreUser? {
    guard let value = try setting(Self.userSetting) else { return nil }
    guard case .text(let text) = value, let user = StoreUser(digest: Array(text.utf8)) else {
      throw .damaged(file ?? "", "The store's user cannot be read")
    }
    return user
  }
}
