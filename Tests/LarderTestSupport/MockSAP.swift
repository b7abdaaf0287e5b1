import Foundation
public import Testing

/// `mock-sap` 0.22.0: SAP Gateway shapes, V2 and V4 on one set of data, deterministic by seed and clock.
public final class MockSAP: SharedService {
  /// `.mockSAP()`.
  public static let trait = ".mockSAP()"

  /// The service's process: stop it, restart it, read what it printed.
  public let process: ServiceProcess

  /// Starts one with seed 42 and the clock pinned at 2026-01-15 10:00 UTC, plus the given arguments
  /// (`--require-if-match`, `--auth USER:PASSWORD`, `--oauth ID:SECRET`, `--latency-ms N` …; a later one wins).
  public init(_ arguments: [String] = []) throws(ServiceStartError) {
    process = try ServiceProcess(
      .init(
        module: "mocksap", arguments: ["-q", "--seed", "42", "--clock", "2026-01-15T10:00"] + arguments,
        readyText: "listening on", probe: "/_mock/health"))
  }

  /// The port.
  public var port: Int { process.port }
  /// `http://127.0.0.1:PORT`.
  public var origin: String { "http://127.0.0.1:\(process.port)" }
  /// The sales order service, V2: `A_SalesOrder`, `A_SalesOrderItem`; entities carry ETags.
  public var salesOrdersV2: String { origin + "/sap/opu/odata/sap/API_SALES_ORDER_SRV" }
  /// The business partner service, V2.
  public var businessPartnersV2: String { origin + "/sap/opu/odata/sap/API_BUSINESS_PARTNER_SRV" }
  /// The product service, V2.
  public var productsV2: String { origin + "/sap/opu/odata/sap/API_PRODUCT_SRV" }
  /// The Gateway demo service, V2, with complex types.
  public var gatewaySample: String { origin + "/sap/opu/odata/IWBEP/GWSAMPLE_BASIC" }
  /// The sales order service, V4: `SalesOrder`, `SalesOrderItem`.
  public var salesOrdersV4: String { origin + Self.v4("salesorder") }
  /// The business partner service, V4.
  public var businessPartnersV4: String { origin + Self.v4("businesspartner") }
  /// The product service, V4: `Product`.
  public var productsV4: String { origin + Self.v4("product") }

  private static func v4(_ name: String) -> String {
    "/sap/opu/odata4/sap/api_\(name)/srvd_a2x/sap/api_\(name)/0001"
  }

  /// Stops the server: connections are lost, and the port rejects new ones.
  public func stop() { process.stop() }
  /// Starts it again on its port, with fresh data.
  public func restart() throws(ServiceStartError) { try process.restart() }
}

extension Trait where Self == SharedServiceTrait<MockSAP> {
  /// One `mock-sap` for all tests of the suite, as `MockSAP.ofSuite`; the suite fails where it cannot start.
  public static func mockSAP(_ arguments: String...) -> Self { Self(arguments: arguments) }
}
