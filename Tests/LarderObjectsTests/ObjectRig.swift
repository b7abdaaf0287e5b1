import Foundation
@_spi(Stores) import LarderCore
import LarderObjects
import LarderStorage
import LarderTestSupport
import Synchronization

@testable import LarderCrashRig

/// A store in a temporary folder, with a clock that the test advances, and without automatic writes of counts.
final class ObjectRig: Sendable {
  let folder: TemporaryFolder
  let clock: ObjectClock
  let diagnostics = DiagnosticLog()
  private let isPlain: Bool
  let delayed = Mutex<[@Sendable () -> Void]>([])

  /// `isPlain`: whether its files are never encrypted.
  init(clock: ObjectClock = ObjectClock(), isPlain: Bool = false) throws {
    self.clock = clock
    self.isPlain = isPlain
    folder = try TemporaryFolder()
  }

  var path: String { folder.file("objects") }

  /// The key of every store that a rig opens in this process and in others.
  var key: StorageKey? { get throws { isPlain ? nil : try RigKey.fromEnvironment() } }

  func open(_ options: ObjectStoreOptions = ObjectStoreOptions()) async throws -> ObjectStore {
    try await ObjectStore(
      path: path, encryptionKey: try key, options: options, environment: environment,
      countsDelay: { [weak self] work in
        self?.delayed.withLock { $0.append(work) }
        return {}
      },
      onDiagnostic: { [diagnostics] in diagnostics.add($0) })
  }

  private var environment: LarderEnvironment {
    var environment = LarderEnvironment.system
    environment.now = { [clock] in clock.now }
    return environment
  }

  /// Runs the work that is scheduled for writing counts.
  func runDelayed() {
    let all = delayed.withLock { delayed in
      defer { delayed = [] }
      return delayed
    }
    for work in all { work() }
  }

  /// Opens a store, runs a closure with it, and closes it.
  func with<Result>(
    _ options: ObjectStoreOptions = ObjectStoreOptions(), _ body: (ObjectStore) async throws -> Result
  ) async throws -> Result {
    let store = try await open(options)
    let result = try await body(store)
    try await store.close()
    return result
  }
}

/// A clock that the test advances.
final class ObjectClock: Sendable {
  private let seconds = Mutex(1_000_000.0)

  var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

  func advance(_ by: Double) { seconds.withLock { $0 += by } }
}

/// A value of a social app.
struct Friend: Codable, Sendable, Hashable {
  var name: String
  var age: Int
  var met: Date?
}

/// A value with a custom coding.
struct Point: ByteStorable, Hashable {
  var x: UInt8
  var y: UInt8

  struct Wrong: Error {}

  init(_ x: UInt8, _ y: UInt8) { (self.x, self.y) = (x, y) }

  init(storedBytes bytes: [UInt8]) throws {
    guard bytes.count == 2 else { throw Wrong() }
    self.init(bytes[0], bytes[1])
  }

  func storedBytes() throws -> [UInt8] { [x, y] }
}

/// The reason of the error that `body` throws; nil if it throws none or another type.
func reason(_ body: () async throws -> Void) async -> ObjectStoreError? {
  do {
    try await body()
    return nil
  } catch { return error as? ObjectStoreError }
}
