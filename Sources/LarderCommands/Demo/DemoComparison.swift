internal import LarderOData
internal import LarderOffline
internal import LarderOnline
internal import LarderService

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The end of the demonstration: reads the server's and the clone's data and compares them.
enum DemoComparison {
  private static let set = "A_SalesOrder"
  private static let key = "SalesOrder"

  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let orderNumbers = arguments.values(DemoOptions.orders)
    return try await OfflineAccess.withoutNetwork(arguments, context) { access in
      let clone = try await entities(access.provider)
      let server = try await serverEntities(access.folder, context)
      let names = clone.values.first?.properties.map(\.name) ?? []
      let differingCount = server.count { number, entity in
        guard let copy = clone[number] else { return false }
        return names.contains { entity[$0] != copy[$0] }
      }
      for order in orderNumbers {
        let values = [server[order], clone[order]].map { $0?["PurchaseOrderByCustomer"].map(text) ?? "no such order" }
        try context.output.line(
          "order \(order), customer's number: \(values[0]) at the service, \(values[1]) in the clone")
      }
      let oneSidedCount = Set(clone.keys).symmetricDifference(server.keys).count
      try context.output.line(
        "\(server.count) orders at the service, \(clone.count) in the clone; \(oneSidedCount) on one side only, "
          + "\(differingCount) differ in at least one of \(names.count) properties")
      return oneSidedCount + differingCount == 0 ? .done : .negative
    }
  }

  /// The server's present data.
  private static func serverEntities(
    _ folder: CloneFolder, _ context: CommandContext
  ) async throws -> [String: ODataEntity] {
    guard let root = URL(string: folder.service) else {
      throw FileError(path: CloneFolder.settingsName, reason: CloneFolder.noServiceReason)
    }
    let store = try OnlineODataStore(
      serviceRoot: root, transport: try context.connect(ConnectionSettings()),
      options: OnlineStoreOptions(conversation: ODataConversationOptions(retry: .never)))
    try await store.open()
    let entitiesByKey = try await entities(store)
    try await store.close()
    return entitiesByKey
  }

  /// All orders of a store, read page by page, by their numbers.
  private static func entities(_ store: some ODataStore) async throws -> [String: ODataEntity] {
    var entitiesByKey: [String: ODataEntity] = [:]
    var next: String? = set
    while let path = next {
      let page = try await store.readEntitySet(path)
      for entity in page.entities {
        if case .string(let number)? = entity[key] { entitiesByKey[number] = entity }
      }
      next = page.nextLink
    }
    return entitiesByKey
  }

  private static func text(_ value: ODataValue) -> String {
    if case .string(let text) = value { "'\(TerminalText.line(text))'" } else { "null" }
  }
}
