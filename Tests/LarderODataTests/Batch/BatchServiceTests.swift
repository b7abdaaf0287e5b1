import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Testing

@Suite("Batches are understood by real services", .timeLimit(.minutes(5)), .odataPy(), .mockSAP("--no-csrf"))
struct BatchServiceTests {
  private static func fields(_ response: PlainResponse) -> HTTPFields {
    HTTPFields(response.fields.map { HTTPField(name: HTTPFieldName($0.key), value: $0.value) })
  }

  private static let json: HTTPFields = ["Content-Type": "application/json", "Accept": "application/json"]

  private static let parts: [BatchRequestPart] = [
    .single(BatchRequest(url: "Products?$top=1", fields: ["Accept": "application/json"])),
    .changeSet([
      BatchRequest(id: "new", method: .post, url: "Categories", fields: json, body: Array(#"{"Name":"One"}"#.utf8)),
      BatchRequest(id: "other", method: .post, url: "Categories", fields: json, body: Array(#"{"Name":"Two"}"#.utf8)),
    ]), .single(BatchRequest(url: "Products(987654)", fields: ["Accept": "application/json"])),
  ]

  private static func check(_ outcome: BatchResults) {
    guard case .parts(let parts) = outcome, parts.count == 3 else {
      Issue.record("not three responses: \(outcome)")
      return
    }
    if case .single(let read) = parts[0] {
      #expect(read.status == 200 && String(decoding: read.body, as: UTF8.self).contains("\"value\""))
    } else {
      Issue.record("\(parts[0])")
    }
    if case .changeSet(let created) = parts[1] {
      #expect(created.map(\.status) == [201, 201])
      #expect(created.map { String(decoding: $0.body, as: UTF8.self).contains("One") } == [true, false])
    } else {
      Issue.record("\(parts[1])")
    }
    if case .single(let missing) = parts[2] { #expect(missing.status == 404) } else { Issue.record("\(parts[2])") }
  }

  @Test("Multipart, V4: a read, a change set of two, a read that fails")
  func multipartV4() throws {
    let service = try ODataPyService.ofSuite
    let (type, body) = try MultipartBatchWriter.write(Self.parts, boundary: "batch_7", contentIDs: .part)
    let response = try PlainHTTP.send(
      "POST", port: service.port, target: "/shop/$batch",
      fields: ["Content-Type": type, "OData-Version": "4.0", "Prefer": "continue-on-error"], body: body)
    Self.check(
      try BatchResults.read(
        status: response.status, fields: Self.fields(response), body: response.body, requests: Self.parts)
    )
  }

  @Test("JSON, 4.01: the same requests")
  func json() throws {
    let service = try ODataPyService.ofSuite
    let (body, parts) = try JSONBatchWriter.write(Self.parts)
    let response = try PlainHTTP.send(
      "POST", port: service.port, target: "/shop/$batch",
      fields: [
        "Content-Type": "application/json", "Accept": "application/json", "OData-Version": "4.01",
        "Prefer": "continue-on-error",
      ], body: body)
    Self.check(
      try BatchResults.read(
        status: response.status, fields: Self.fields(response), body: response.body, requests: parts))
  }

  @Test("Multipart, V2: a failed change set gets one error; the reads around it succeed")
  func multipartV2() throws {
    let service = try MockSAP.ofSuite
    let read = BatchRequest(url: "A_SalesOrder?$top=2", fields: ["Accept": "application/json"])
    let parts: [BatchRequestPart] = [
      .single(read),
      .changeSet([
        BatchRequest(id: "1", method: .delete, url: "A_SalesOrder('nope')"),
        BatchRequest(id: "2", method: .delete, url: "A_SalesOrder('no')"),
      ]),
      .single(read),
    ]
    let (type, body) = try MultipartBatchWriter.write(parts, boundary: "batch_8", contentIDs: .both)
    let response = try PlainHTTP.send(
      "POST", port: service.port, target: "/sap/opu/odata/sap/API_SALES_ORDER_SRV/$batch",
      fields: ["Content-Type": type, "Accept": "multipart/mixed"], body: body)
    let outcome = try BatchResults.read(
      status: response.status, fields: Self.fields(response), body: response.body, requests: parts)
    guard case .parts(let parts) = outcome, parts.count == 3, case .changeSetFailed(let error) = parts[1] else {
      Issue.record("\(response.status) \(response.text)")
      return
    }
    #expect(error.isError)
    for place in [0, 2] {
      guard case .single(let response) = parts[place] else {
        Issue.record("\(parts[place])")
        continue
      }
      // The declared length is that of the content, to the byte.
      #expect(response.status == 200 && response.fields[.contentLength] == String(response.body.count))
      #expect(try JSONSerialization.jsonObject(with: Data(response.body)) is [String: Any])
    }
  }
}
