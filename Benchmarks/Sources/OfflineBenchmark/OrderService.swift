import Foundation
import LarderHTTP
import LarderOffline

/// A service of orders in this process. It accepts batches, assigns keys, and stores nothing.
final class OrderService: HTTPTransport {
  let identity = "orders"

  static func provider(_ folder: String) throws -> OfflineODataProvider {
    guard let url = URL(string: "http://orders.invalid/service/") else { throw BenchmarkError("no URL") }
    var parameters = OfflineODataParameters(path: folder)
    parameters.conversation.csrf = .never
    return try OfflineODataProvider(serviceRoot: url, transport: OrderService(), parameters: parameters)
  }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let path = request.url.absoluteString
    if path.hasSuffix("$metadata") { return response(to: request, 200, "application/xml", OrderService.metadata) }
    guard path.hasSuffix("$batch") else {
      return response(to: request, 200, "application/json", "{\"@odata.context\":\"$metadata#Orders\",\"value\":[]}")
    }
    guard case .bytes(let bytes) = request.body else { return response(to: request, 400, "text/plain", "") }
    return response(to: request, 200, "multipart/mixed; boundary=b", batch(String(decoding: bytes, as: UTF8.self)))
  }

  /// The response to a batch: for each request 201 with its Content-ID as the key, or 204.
  private func batch(_ text: String) -> String {
    var result = ""
    var name = ""
    for line in text.split(separator: "\r\n") {
      if line.lowercased().hasPrefix("content-id:") { name = line.dropFirst(11).trimmingCharacters(in: .whitespaces) }
      let isCreation = line.hasPrefix("POST ")
      guard isCreation || line.hasPrefix("PATCH ") else { continue }
      let body = isCreation ? "{\"ID\":\(name)}" : ""
      result +=
        "--b\r\nContent-Type: application/http\r\nContent-ID: \(name)\r\n\r\nHTTP/1.1 \(isCreation ? 201 : 204) Done\r\n"
      result +=
        "Content-Type: application/json\r\nOData-Version: 4.0\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)\r\n"
    }
    return result + "--b--\r\n"
  }

  private func response(to request: HTTPRequest, _ status: Int, _ type: String, _ body: String) -> HTTPResponse {
    HTTPResponse(
      status: status, fields: [.contentType: type, "OData-Version": "4.0"], url: request.url,
      body: HTTPBodyStream(Array(body.utf8)))
  }

  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Order">
    <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int64" Nullable="false"/>
    <Property Name="Name" Type="Edm.String" MaxLength="40"/><Property Name="Total" Type="Edm.Decimal" Scale="2"/>
    <Property Name="At" Type="Edm.DateTimeOffset"/><Property Name="Note" Type="Edm.String"/>
    <Property Name="Count" Type="Edm.Int32"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="N.Order"/></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """
}
