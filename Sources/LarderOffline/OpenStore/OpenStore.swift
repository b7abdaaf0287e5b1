@_spi(Stores) import LarderCore
@_spi(Stores) import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The parts of an open store: the local copy, the conversation with the service, and caches for queries and changes.
final class OpenStore: Sendable {
  let replica: Replica
  let conversation: ODataConversation
  var environment: LarderEnvironment { conversation.options.environment }
  let root: ODataServiceRoot
  let settings: OpenStoreSettings
  /// The beginning of links, which is the service's root.
  let rootText: String

  private let binding = Locked<Binding?>(nil)
  private let context = Locked<ChangeContext?>(nil)
  private let covered = Locked<Covered?>(nil)
  let prepared = Locked(PreparedQueries())
  /// The service's model merged with the store's own, and the table that identifies the model it was created from.
  let whole = Locked<(first: EntityTable?, model: EdmModel)?>(nil)
  /// What uploads have learned about the service.
  let upload = Locked(UploadMemory())
  /// The entity sets that the service has answered during the current upload or download.
  let presence = ServicePresence()
  /// Whether all defining queries are known to have been downloaded.
  let isComplete = Atomic(false)
  /// Running look-ups of uncertain requests; nil after the store has ended.
  let lookUps = Locked<Set<Task<Void, any Error>>?>([])
  /// The task that removes unused data in slices after opening.
  let sweeping = Locked<Task<Void, Never>?>(nil)

  /// A binder, and the first table of the model that it binds to.
  private struct Binding {
    let first: EntityTable?
    let binder: ODataBinder
  }

  /// The data covered by the defining queries, and these queries.
  private struct Covered {
    let first: EntityTable?
    let queries: [KnownQuery]
    let coverage: Coverage
  }

  init(
    replica: Replica, conversation: ODataConversation, root: ODataServiceRoot, settings: OpenStoreSettings
  ) {
    self.replica = replica
    self.conversation = conversation
    self.root = root
    self.settings = settings
    rootText = root.url.absoluteString
  }

  /// Returns an error with the status 404 or 410 as foreign if the response does not come from the service. Throws only
  /// if the caller cancels.
  ///
  /// - Parameter path: the path of the resource; nil for that of the request.
  func attributed(
    _ error: ODataServiceError, path: String? = nil
  ) async throws(ODataServiceError) -> ODataServiceError {
    let path = path ?? error.response.flatMap { root.relative($0.url) } ?? ""
    let first = path.prefix { !"(/?".contains($0) }
    let sets = replica.plan.tables.compactMap { table -> String? in
      switch table.place {
      case .entitySet(let name), .singleton(let name): PercentEncoding.encode(name)
      case .containment, .type: nil
      }
    }
    // An action, `$batch` and `$metadata` are no sets, so that another set is read.
    let set = sets.first { $0 == first } ?? sets.first ?? ""
    return try await conversation.attributed(error, presence: presence, set: set)
  }

  /// Calls the hook for diagnostics.
  func report(_ diagnostic: LarderDiagnostic) { diagnostic.report(to: settings.onDiagnostic) }

  /// The binder for a plan's model. It is created once for each model. Throws `neverDownloaded` if no model was
  /// downloaded yet.
  func binder(_ plan: ReplicaPlan) throws(OfflineODataError) -> ODataBinder {
    guard !plan.tables.isEmpty else { throw OfflineODataError(.neverDownloaded) }
    return cachedBinder(plan)
  }

  private func cachedBinder(_ plan: ReplicaPlan) -> ODataBinder {
    if let cached = binding.withLock({ $0 }), cached.first === plan.tables.first { return cached.binder }
    let created = ODataBinder(model: plan.model)
    binding.withLock { $0 = Binding(first: plan.tables.first, binder: created) }
    return created
  }

  /// The data covered by the defining queries. It is computed once for each state of the queries.
  func coverage(_ snapshot: ReplicaSnapshot) -> Coverage {
    let (plan, queries) = (snapshot.plan, snapshot.state.queries)
    if let cached = covered.withLock({ $0 }), cached.first === plan.tables.first, cached.queries == queries {
      return cached.coverage
    }
    let created = Coverage(queries, plan: plan, binder: cachedBinder(plan))
    covered.withLock { $0 = Covered(first: plan.tables.first, queries: queries, coverage: created) }
    return created
  }

  /// What changes need of a plan's model. It is created once for each model. Throws `neverDownloaded` if no model was
  /// downloaded yet.
  func changing(_ plan: ReplicaPlan) throws(OfflineODataError) -> ChangeContext {
    if let cached = context.withLock({ $0 }), cached.plan.tables.first === plan.tables.first { return cached }
    let created = ChangeContext(plan, try binder(plan), root)
    context.withLock { $0 = created }
    return created
  }

  /// Runs `body` in a read transaction. Errors of any kind are passed on.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (ReplicaSnapshot) throws -> Value
  ) async throws(OfflineODataError) -> Value {
    do {
      return try await replica.read { (snapshot) throws(StorageError) in Result { try body(snapshot) } }.get()
    } catch { throw OfflineODataError(below: error) }
  }

  /// Throws `storeReadOnly` if the file is read-only, and `diskFull` if that is for lack of disk space, before anything
  /// is sent.
  func checkWritable() throws(OfflineODataError) {
    if replica.database.isFull { throw OfflineODataError(.diskFull, replica.database.path) }
    if replica.isReadOnly { throw OfflineODataError(.storeReadOnly, replica.database.path) }
  }

  /// Throws `fileMoved` if the file is no longer at its path: data written to a file that can no longer be opened is
  /// lost.
  func checkInPlace() throws(OfflineODataError) {
    guard replica.database.isInPlace else { throw OfflineODataError(.fileMoved, replica.database.path) }
  }

  /// The text of a query, relative to the service's root.
  ///
  /// Throws `invalidInput` for an invalid URL, and for one of another service.
  func relative(_ path: String) throws(OfflineODataError) -> String {
    guard let text = root.relative(try root.absolute(path)) else {
      throw OfflineODataError(.malformedURL, "'\(path.prefix { $0 != "?" })' is not a resource of the service")
    }
    return text
  }
}
