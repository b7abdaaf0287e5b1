public import LarderContent
public import LarderHTTP
public import LarderObjects
public import LarderOffline
public import LarderOnline
import LarderService

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Stores for tests. Their files are in a folder of their own, which is removed with the store. Close each store at the end
// of its test, as an application does: an open store has some ten files open. Requests are never repeated, so that a
// failure reaches the test at once.

extension OnlineODataStore {
  /// Opens a store with a cache for a test.
  ///
  /// - Parameters:
  ///   - serviceRoot: the root of the service.
  ///   - transport: the network, such as a ``LarderTesting/ScriptedTransport``.
  ///   - clock: the clock of the store.
  ///   - configure: changes the options of the store.
  public static func forTests(
    serviceRoot: URL, transport: any HTTPTransport, clock: LarderTestClock = LarderTestClock(),
    configure: (inout OnlineStoreOptions) -> Void = { _ in }
  ) async throws -> OnlineODataStore {
    let folder = try LarderTestFolder()
    // Stores of one name exclude each other, wherever their files are, and tests run in parallel.
    var options = OnlineStoreOptions(useCache: true, path: folder.path, storeName: folder.name)
    options.conversation.retry = .never
    options.conversation.environment = clock.environment
    configure(&options)
    let store = try OnlineODataStore(
      serviceRoot: serviceRoot, transport: folder.retained(by: transport), options: options)
    try await store.open()
    return store
  }
}

extension OfflineODataProvider {
  /// Opens a store for a test, and downloads the rows of its defining queries.
  ///
  /// - Parameters:
  ///   - serviceRoot: the root of the service.
  ///   - transport: the network, such as a ``LarderTesting/ScriptedTransport``.
  ///   - queries: the defining queries: `Orders`, `Items?$filter=Price gt 10`. Each is also the query's name.
  ///   - clock: the clock of the store.
  ///   - configure: changes the parameters of the store.
  public static func forTests(
    serviceRoot: URL, transport: any HTTPTransport, queries: [String], clock: LarderTestClock = LarderTestClock(),
    configure: (inout OfflineODataParameters) -> Void = { _ in }
  ) async throws -> OfflineODataProvider {
    try await forTests(
      serviceRoot: serviceRoot, transport: transport, definingQueries: queries.map(definingQuery), clock: clock,
      configure: configure)
  }

  /// A defining query whose name is its text.
  static func definingQuery(_ query: String) -> OfflineODataDefiningQuery {
    OfflineODataDefiningQuery(String(query.prefix(100)), query)
  }

  static func forTests(
    serviceRoot: URL, transport: any HTTPTransport, definingQueries: [OfflineODataDefiningQuery],
    clock: LarderTestClock,
    configure: (inout OfflineODataParameters) -> Void
  ) async throws -> OfflineODataProvider {
    let folder = try LarderTestFolder()
    var parameters = OfflineODataParameters(path: folder.path)
    parameters.conversation.retry = .never
    parameters.conversation.environment = clock.environment
    configure(&parameters)
    let store = try OfflineODataProvider(
      serviceRoot: serviceRoot, transport: folder.retained(by: transport), parameters: parameters)
    for query in definingQueries { try await store.add(query) }
    try await store.open()
    return store
  }
}

extension ContentManager {
  /// Creates a content manager with a cache in memory for a test.
  ///
  /// - Parameters:
  ///   - transport: the network, such as a ``LarderTesting/ScriptedTransport``.
  ///   - clock: the clock that decides what is fresh.
  ///   - configure: changes the options of the cache.
  public static func forTests(
    transport: any HTTPTransport, clock: LarderTestClock = LarderTestClock(),
    configure: (inout HTTPCacheOptions) -> Void = { _ in }
  ) -> ContentManager {
    var options = HTTPCacheOptions()
    options.environment = clock.environment
    configure(&options)
    return ContentManager(cache: MemoryCache(), transport: transport, options: options)
  }
}

extension ObjectStore {
  /// Opens an empty object store for a test. Its file is removed when the store is closed and released.
  ///
  /// - Parameters:
  ///   - clock: the clock that decides what has expired.
  ///   - options: the options of the store.
  public static func forTests(
    clock: LarderTestClock = LarderTestClock(), options: ObjectStoreOptions = ObjectStoreOptions()
  ) async throws -> ObjectStore {
    let folder = try LarderTestFolder()
    return try await ObjectStore(
      path: folder.file("objects.larder"), options: options, environment: folder.retained(by: clock.environment))
  }
}
