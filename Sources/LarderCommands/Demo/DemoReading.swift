internal import LarderHTTP
internal import LarderOData
internal import LarderOnline
internal import LarderService

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The two halves of the demonstration: an application's reads, with the times at which its listener is called.
struct DemoReading {
  private let context: CommandContext
  private let orders: OnlineODataStore
  private let products: OnlineODataStore

  private static let orderService = "sap/opu/odata/sap/API_SALES_ORDER_SRV/"
  private static let productService = "sap/opu/odata4/sap/api_product/srvd_a2x/sap/api_product/0001/"
  private static let orderPath = "A_SalesOrder?$top=20"
  private static let productPath = "Product?$top=20"

  private init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
    self.context = context
    var base = try arguments.required(DemoOptions.base)
    if !base.hasSuffix("/") { base += "/" }
    let transport = try context.connect(ConnectionSettings())
    let options = OnlineStoreOptions(
      useCache: true, path: context.path(try arguments.required(DemoOptions.cache)), storeName: "demo",
      conversation: ODataConversationOptions(retry: .never))
    func store(_ path: String) throws -> OnlineODataStore {
      guard let root = URL(string: base + path) else { throw arguments.usage("--service-base is not a URL") }
      return try OnlineODataStore(serviceRoot: root, transport: transport, options: options)
    }
    orders = try store(Self.orderService)
    products = try store(Self.productService)
  }

  /// Runs the reads while the server is available, each twice.
  @Sendable static func run(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let demo = try DemoReading(arguments, context)
    return try await demo.withOpenStores {
      var rows: [[String]] = []
      let key = try await demo.orderKey()
      for resource in demo.resources(key) {
        let first = try await resource.read()
        let second = try await resource.read()
        rows.append([resource.title] + first.cells + second.cells + [second.saved])
      }
      try context.output.line(
        "Each resource is read twice. Times are from the call to the listener's callback, in milliseconds.\n")
      let headings = ["", "1st cache", "1st server", "2nd cache", "2nd server", "a 304 saved"]
      try context.output.write(Self.table(headings: headings, rows: rows, context.output.style))
      return .done
    }
  }

  /// Runs the reads without the server: passive, then active.
  @Sendable static func runOffline(
    _ arguments: ParsedArguments, _ context: CommandContext
  ) async throws -> CommandStatus {
    let demo = try DemoReading(arguments, context)
    return try await demo.withOpenStores {
      try demo.setPassive(true)
      let key = try await demo.orderKey()
      var rows: [[String]] = []
      var failures: [String] = []
      for resource in demo.resources(key) {
        try demo.setPassive(true)
        let passive = try await resource.read()
        try demo.setPassive(false)
        let active = try await resource.read()
        rows.append([
          resource.title, passive.cache, passive.bytes.map { "\($0)" } ?? "nothing", active.cache, active.failed,
        ])
        if let failure = active.failure { failures.append(failure) }
      }
      try context.output.line("The server is stopped. The same reads in a new process:\n")
      let headings = ["", "passive, cache", "bytes", "active, cache", "failure"]
      try context.output.write(Self.table(headings: headings, rows: rows, context.output.style))
      if let failure = failures.first {
        try context.output.line("\nThe error of an active read:\n  \(failure)")
      }
      return .done
    }
  }

  private func withOpenStores(_ body: () async throws -> CommandStatus) async throws -> CommandStatus {
    do {
      try await orders.open()
      try await products.open()
      let status = try await body()
      try await orders.close()
      try await products.close()
      return status
    } catch {
      try? await orders.close()
      try? await products.close()
      throw error
    }
  }

  private func setPassive(_ passive: Bool) throws {
    try orders.setPassive(passive)
    try products.setPassive(passive)
  }

  /// The key of the first order, from a list that is not measured.
  private func orderKey() async throws -> String {
    let response = try await orders.execute(.read("A_SalesOrder?$top=1&$select=SalesOrder"))
    guard case .string(let key)? = try response.single?.payload().entities?.first?["SalesOrder"] else {
      throw CommandFailure(.network, "the service has no sales orders")
    }
    return key
  }

  private func resources(_ key: String) -> [DemoResource] {
    [
      DemoResource(title: "20 sales orders (V2)", store: orders, path: Self.orderPath),
      DemoResource(title: "20 products (V4)", store: products, path: Self.productPath),
      DemoResource(title: "one sales order (V2)", store: orders, path: "A_SalesOrder('\(key)')"),
    ]
  }

  private static func table(headings: [String], rows: [[String]], _ style: TextStyle) -> String {
    let widths = headings.indices.map { column in ([headings] + rows).map { $0[column].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
      cells.enumerated().map { column, cell in
        column == 0 ? Columns.pad(cell, widths[column]) : Columns.padLeft(cell, widths[column])
      }.joined(separator: "   ")
    }
    return style.bold(line(headings)) + "\n" + rows.map { line($0) + "\n" }.joined()
  }
}
