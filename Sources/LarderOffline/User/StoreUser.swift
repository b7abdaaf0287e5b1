import LarderStorage

/// A user of a store as its files know one: by a digest of the name, never by the name.
struct StoreUser: Sendable, Hashable {
  /// 32 hexadecimal digits.
  let digest: String

  /// The user of a name: two spellings in bytes are two users.
  init(_ name: String) {
    let bytes = Digest.sha256(Array("larder user\0".utf8) + Array(name.utf8))
    digest = Digest.hexadecimal(bytes.prefix(16))
  }

  /// The user of a digest as it is kept; nil for anything else.
  init?(digest bytes: [UInt8]) {
    guard bytes.count == Self.length, bytes.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    digest = String(decoding: bytes, as: UTF8.self)
  }

  /// The bytes of a digest.
  static let length = 32

  /// Where the user's store lies while another's is at its place.
  func aside(of store: String) -> DatabaseFile { DatabaseFile(store + "-user-" + digest) }
}

/// How many changes of a store's user are not with the service.
struct WaitingChanges: Sendable, Hashable {
  /// Queued, or sent and not answered.
  var queued = 0
  /// In the error archive, with what depends on them.
  var archived = 0

  var isNone: Bool { queued == 0 && archived == 0 }

  /// In words.
  var text: String {
    if isNone { return "nothing waits to be sent" }
    let queue = queued == 1 ? "1 change waits to be sent" : "\(queued) changes wait to be sent"
    if archived == 0 { return queue }
    let archive = archived == 1 ? "1 request is in the error archive" : "\(archived) requests are in the error archive"
    return queued == 0 ? archive : "\(queue), \(archive)"
  }
}

extension Replica {
  /// Whose the store is; nil where it was never said.
  func user() async throws(StorageError) -> StoreUser? {
    try await database.read { (connection) throws(StorageError) in try connection.user() }
  }

  /// Makes the store a user's where it is nobody's; answers whose it is then.
  func claim(_ user: StoreUser) async throws(StorageError) -> StoreUser {
    try await database.write { (connection) throws(StorageError) in
      if let found = try connection.user() { return found }
      try connection.set(Connection.userSetting, to: .text(user.digest))
      return user
    }
  }

  /// What is not with the service yet.
  func waiting() async throws(StorageError) -> WaitingChanges {
    let counts = """
      SELECT count(*) FILTER (WHERE state IN (0, 1)), count(*) FILTER (WHERE state IN (2, 3)) FROM larder_request
      """
    return try await database.read { (connection) throws(StorageError) in
      try connection.first(counts) { (row) throws(StorageError) in
        WaitingChanges(queued: Int(try row.int64(0)), archived: Int(try row.int64(1)))
      } ?? WaitingChanges()
    }
  }
}

extension Connection {
  /// The name under which a store's user is kept.
  fileprivate static let userSetting = "user"

  fileprivate func user() throws(StorageError) -> StoreUser? {
    guard let value = try setting(Self.userSetting) else { return nil }
    guard case .text(let text) = value, let user = StoreUser(digest: Array(text.utf8)) else {
      throw .damaged(file ?? "", "The store's user cannot be read")
    }
    return user
  }
}
