import Foundation
import LarderHTTP
import LarderOffline
import LarderService
import LarderStorage
import Synchronization

/// Puts one user's store in the place of another's, and ends itself meanwhile.
enum UserCrashRig {
  /// What is done.
  enum Switch: String, CaseIterable, Sendable {
    /// The other's store is set aside; plain ones get a key.
    case aside
    /// One in which nothing waits is removed.
    case remove
    /// Nothing is changed: the store is held open until the process is killed.
    case hold
    /// Ada and Bob take turns until the process is killed.
    case turns
  }

  /// A user's key; that of no one else.
  static func key(of user: String) throws(StorageError) -> StorageKey {
    let bytes = Array(user.utf8)
    return try StorageKey(bytes: (0..<32).map { bytes[$0 % bytes.count] })
  }

  static func parameters(_ folder: String, _ user: String, _ userSwitch: OfflineODataUserSwitch) throws
    -> OfflineODataParameters
  {
    OfflineODataParameters(
      path: folder, encryptionKey: try key(of: user), currentUser: user, onUserSwitch: userSwitch)
  }

  /// `last`: after how many steps the process ends as the system would end it; 0 for none. Says "done" at the end.
  static func run(_ userSwitch: Switch, _ folder: String, _ user: String, last: Int) async throws {
    switch userSwitch {
    case .aside:
      let key = try key(of: user == "ada" ? "bob" : "ada")
      try await change(try parameters(folder, user, .setAside(encryptionKey: key)), last)
    case .remove: try await change(try parameters(folder, user, .uploadFirst()), last)
    case .hold:
      guard let root = URL(string: "http://h/s/") else { return }
      let store = try OfflineODataProvider(
        serviceRoot: root, transport: Nowhere(), parameters: try parameters(folder, user, .reject))
      try await store.open()
      say("open")
      while true { try await Task.sleep(for: .seconds(60)) }
    case .turns:
      while true {
        for user in ["ada", "bob"] {
          try await UserOpening(try parameters(folder, user, .setAside()), in: folder, user: user).change()
          say(user)
        }
      }
    }
  }

  private static func change(_ parameters: OfflineODataParameters, _ last: Int) async throws {
    let done = Counter()
    try await UserOpening(parameters, in: parameters.path ?? "", user: parameters.currentUser ?? "") { step in
      say("\(step)")
      if done.next() == last { kill(getpid(), SIGKILL) }
    }.change()
    say("done")
  }

  private final class Counter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }

  /// No service is in reach.
  private struct Nowhere: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      throw .cannotConnect(host: "", reason: "there is no network")
    }
  }

  /// One write a line: the reader never sees half of one.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
