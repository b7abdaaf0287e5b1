import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Synchronization

@testable import LarderCrashRig
@testable import LarderOffline

/// A folder with one store, its users, and the service, to which each user connects with a separate name.
final class UserRig: Sendable {
  let service = UploadService()
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    service.change { state in
      for key in 1...2 {
        state.sets["Orders"]?[key] = .init(values: ["ID": "\(key)", "Name": "\"order \(key)\"", "Total": "\(key)"])
      }
    }
  }

  /// The connection of one user to the service: records what was sent on it, and as whom.
  final class RecordingTransport: HTTPTransport {
    private let service: UploadService
    private let requests = Mutex<[(line: String, credentials: String?, field: String?)]>([])

    init(_ service: UploadService) { self.service = service }

    /// The requests that were sent, other than reads.
    var changes: [String] {
      requests.withLock { $0.map(\.line).filter { !$0.hasPrefix("GET") && !$0.hasPrefix("HEAD") } }
    }
    var credentials: Set<String> { requests.withLock { Set($0.compactMap(\.credentials)) } }
    var fields: Set<String> { requests.withLock { Set($0.compactMap(\.field)) } }
    var count: Int { requests.withLock { $0.count } }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      requests.withLock {
        $0.append(("\(request.method) \(request.url.path())", request.fields[.authorization], request.fields["X-User"]))
      }
      return try await service.send(request)
    }
  }

  func line() -> RecordingTransport { RecordingTransport(service) }

  /// The provider of a user. It uses `key`, else the user's own key; none if `isPlain`.
  func provider(
    _ user: String?, _ userSwitch: OfflineODataUserSwitch = .reject, key: StorageKey? = nil, isPlain: Bool = false,
    in other: TemporaryFolder? = nil, createsStore: Bool = true, by line: RecordingTransport? = nil
  ) throws -> OfflineODataProvider {
    let name = user ?? "nobody"
    var storeKey = key
    if key == nil, !isPlain { storeKey = try UserCrashRig.key(of: name) }
    var parameters = OfflineODataParameters(
      path: (other ?? folder).path, createsStore: createsStore, customHeaders: ["X-User": name],
      encryptionKey: isPlain ? nil : storeKey, currentUser: user, onUserSwitch: userSwitch)
    parameters.conversation.retry = .never
    parameters.conversation.csrf = .never
    guard let root = URL(string: "http://h/s/") else { throw OfflineODataError(.invalidServiceRoot) }
    return try OfflineODataProvider(
      serviceRoot: root, transport: line ?? self.line(),
      authentication: try BasicAuthentication(user: name, password: "secret of \(name)"), parameters: parameters)
  }

  /// Opens a user's store, which is filled where it is new.
  @discardableResult
  func open(_ provider: OfflineODataProvider) async throws -> OfflineODataProvider {
    try await provider.add(OfflineODataDefiningQuery("orders", "Orders"))
    try await provider.open()
    return provider
  }

  /// A closed store of a user in which a change of an order waits, with the user's name.
  func makeStoreWithPendingChange(
    _ user: String?, _ userSwitch: OfflineODataUserSwitch = .reject, isPlain: Bool = false
  ) async throws {
    let store = try await open(try provider(user, userSwitch, isPlain: isPlain))
    try await store.rename("Orders(1)", to: "changed by \(user ?? "nobody")")
    try await store.close()
  }

  /// The files of the folder.
  var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

  /// The files that have content, with it.
  var contents: [String: Data] {
    Dictionary(
      files.map { ($0, (try? Data(contentsOf: URL(filePath: folder.file($0)))) ?? Data()) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The name of a user's store that is set aside.
  static func aside(_ user: String) -> String { "store.larder-user-" + StoreUser(user).digest }

  /// What a call throws.
  static func error(_ body: () async throws -> Void) async -> OfflineODataError? {
    do {
      try await body()
      return nil
    } catch { return OfflineODataError(below: error) }
  }
}

extension OfflineODataProvider {
  /// Gives an order another name.
  func rename(_ path: String, to name: String) async throws {
    try await update(path, to: ODataEntity(properties: [ODataProperty("Name", .string(name))]))
  }

  /// The names of all orders.
  func names() async throws -> [String] {
    try await readEntitySet("Orders?$orderby=ID").entities.map { entity in
      if case .string(let name)? = entity["Name"] { name } else { "-" }
    }
  }
}
