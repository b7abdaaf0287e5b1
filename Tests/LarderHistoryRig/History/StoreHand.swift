@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderOffline
import LarderService
import LarderTestSupport
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One store of a history: its file, its connection, and the copy of the file that a crash leaves.
final class StoreHand {
  let name: String
  let transport: FaultyTransport
  private(set) var provider: OfflineODataProvider
  private var folder: TemporaryFolder
  private let copies = Mutex<TemporaryFolder?>(nil)
  private let kind: ModelKind
  private let seed: UInt64
  /// Which change made the entity at a local path.
  var locals: [String: Int] = [:]

  init(_ name: String, _ model: SharedModel, seed: UInt64) throws {
    (self.name, self.seed) = (name, seed)
    kind = model.service.kind
    transport = FaultyTransport(model, actor: name)
    folder = try TemporaryFolder()
    provider = try StoreHand.provider(folder, transport, seed: seed)
  }

  private static func provider(
    _ folder: TemporaryFolder, _ transport: FaultyTransport, seed: UInt64
  ) throws -> OfflineODataProvider {
    var parameters = OfflineODataParameters(storeName: "store", path: folder.path, parallelQueries: 1)
    parameters.conversation.retry = .never
    parameters.conversation.csrf = .never
    parameters.conversation.environment = environment(seed)
    guard let root = URL(string: ModelService.root) else { throw OfflineODataError(.invalidServiceRoot) }
    return try OfflineODataProvider(serviceRoot: root, transport: transport, parameters: parameters)
  }

  /// Time that passes by a second with each reading, and waits that take none.
  private static func environment(_ seed: UInt64) -> LarderEnvironment {
    let state = Mutex((seconds: Int64(1_800_000_000), random: PrintedSeed(seed: seed)))
    var environment = LarderEnvironment.system
    environment.uptime = { .seconds(state.withLock { $0.seconds }) }
    environment.now = {
      let seconds = state.withLock { state in
        state.seconds += 1
        return state.seconds
      }
      return Date(timeIntervalSince1970: Double(seconds))
    }
    environment.sleep = { wait in
      guard wait >= .seconds(1) else { return try await Task.sleep(for: wait) }
      state.withLock { $0.seconds += wait.components.seconds }
    }
    environment.random = { state.withLock { $0.random.next() } }
    return environment
  }

  func open() async throws {
    for (name, query) in kind.definingQueries { try await provider.add(OfflineODataDefiningQuery(name, query)) }
    try await provider.open()
  }

  func reopen() async throws {
    try await provider.close()
    provider = try StoreHand.provider(folder, transport, seed: seed)
    try await provider.open()
  }

  /// Copies the files as they are: what is left of the store when its process ends now.
  @Sendable private static func copy(_ path: String) throws -> TemporaryFolder {
    let copy = try TemporaryFolder()
    for file in ["store.larder", "store.larder-wal"] where FileManager.default.fileExists(atPath: "\(path)/\(file)") {
      try FileManager.default.copyItem(atPath: "\(path)/\(file)", toPath: copy.file(file))
    }
    return copy
  }

  /// What copies the files at the time of a crash.
  var crash: @Sendable () -> Void {
    let path = folder.path
    let keep = SavedCopy()
    pending = keep
    return { keep.value.withLock { $0 = try? StoreHand.copy(path) } }
  }
  private var pending: SavedCopy?

  private final class SavedCopy: Sendable {
    let value = Mutex<TemporaryFolder?>(nil)
  }

  /// Opens what a crash has left; false where there was none.
  func reviveAfterCrash() async throws -> Bool {
    guard transport.takeCrash() else { return false }
    guard let copy = pending?.value.withLock({ $0.take() }) else { throw OfflineODataError(.fileFailed) }
    try await revive(copy)
    return true
  }

  /// Ends the process between two requests, and opens what is left.
  func crashNow() async throws { try await revive(try StoreHand.copy(folder.path)) }

  private func revive(_ copy: TemporaryFolder) async throws {
    try? await provider.close()
    folder = copy
    provider = try StoreHand.provider(copy, transport, seed: seed)
    try await provider.open()
  }

  // MARK: What is pending

  /// A request of the queue or of the archive.
  struct Waiting {
    let id: Int64
    let mark: String
    let path: String?
    var reason: String?
    var status: Int?
    var isHeld = false
  }

  func queue() async throws -> [Waiting] { try await waiting("RequestQueue") }
  func archive() async throws -> [Waiting] { try await waiting("ErrorArchive") }

  private func waiting(_ set: String) async throws -> [Waiting] {
    try await provider.readEntitySet("\(set)?$orderby=RequestID").entities.map { row in
      var waiting = Waiting(
        id: Int64(row["RequestID"]?.plain ?? "") ?? 0, mark: row["CustomTag"]?.plain ?? "",
        path: row["EntityPath"].flatMap { $0 == .null ? nil : $0.plain })
      waiting.reason = row["Reason"]?.plain
      waiting.status = row["HTTPStatusCode"].flatMap { Int($0.plain) }
      waiting.isHeld = row["Held"] == .boolean(true)
      return waiting
    }
  }
}

extension ODataValue {
  /// A value as the oracle compares it.
  var plain: String {
    switch self {
    case .null: "null"
    case .string(let text): text
    case .int32(let number): String(number)
    case .int64(let number): String(number)
    case .boolean(let flag): flag ? "true" : "false"
    case .complex(let value):
      "{" + value.properties.map { "\"\($0.name)\":\"\($0.value.plain)\"" }.joined(separator: ",") + "}"
    default: "\(self)"
    }
  }
}
