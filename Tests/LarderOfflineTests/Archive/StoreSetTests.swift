import Foundation
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("The queue and the error archive are entity sets", .timeLimit(.minutes(1)))
struct StoreSetTests {
  /// In the archive: 1, which was rejected, and 2, which is held for it. In the queue: 3, and 4, which depends on 3.
  static func rig(_ behavior: UploadService.Behavior = .init()) async throws -> UploadRig {
    let rig = try await UploadRig(behavior)
    var request = QueuedRequest(.create, QueuedTarget(nil, "Orders"))
    let number = try await rig.open.write { snapshot in try snapshot.connection.takeIdentities(1) }
    let row = RowReference("Orders", number)
    request.entity = row
    request.customTag = "first"
    request.headers = [QueuedHeader(name: "X-A", value: "1"), QueuedHeader(name: "X-B", value: "2")]
    request.body = .entity(
      QueuedEntity(row: row, properties: [QueuedProperty(name: "Name", value: QueuedValue(.string("poison")))]))
    try await rig.record(
      request, [Effect(.insert, "Orders", number, cells: EntityCells(["ID": .integer(-7), "Name": .text("poison")]))])
    try await rig.update(row, ["Total": .int32(3)])
    _ = try await rig.store.upload()
    let (id, created) = try await rig.create("Orders", key: -9, ["Name": .string("new")])
    try await rig.create("Items", key: -10, ["Text": .string("t")], order: created, orderKey: -9, after: [id])
    return rig
  }

  private func read(_ rig: UploadRig, _ path: String, _ metadata: OfflineODataResultOptions.Metadata = .none)
    async throws -> String
  {
    var options = OfflineODataResultOptions(version: .v4)
    options.metadata = metadata
    return try await rig.store.readJSON(path, options: options).text
  }

  @Test("Queries in V4")
  func queries() async throws {
    let rig = try await Self.rig()
    #expect(
      try await read(
        rig,
        "ErrorArchive?$orderby=RequestID&$select=RequestID,CustomTag,HTTPStatusCode,Code,Message,Held,Reason")
          == """
          {"value":[{"RequestID":1,"CustomTag":"first","HTTPStatusCode":400,"Code":"E","Message":"poison","Held":false,"Reason":"Rejected"},{"RequestID":2,"CustomTag":null,"HTTPStatusCode":null,"Code":null,"Message":"Held until these requests, which it depends on, are sent: 1.","Held":true,"Reason":"Held"}]}
          """)
    #expect(
      try await read(rig, "ErrorArchive(1)?$select=RequestMethod,RequestURL,RequestBody,Domain,InnerError")
        == """
        {"InnerError":null,"Domain":"odata","RequestMethod":"POST","RequestURL":"Orders","RequestBody":"{\\"Name\\":\\"poison\\"}"}
        """)
    #expect(
      try await read(rig, "ErrorArchive(2)?$select=RequestMethod,RequestURL,RequestBody")
        == """
        {"RequestMethod":"PATCH","RequestURL":"Orders({\(try await rig.row("Orders", -7).row)})","RequestBody":"{\\"Total\\":3}"}
        """)
    let created = try await rig.row("Orders", -9).row
    #expect(
      try await read(rig, "RequestQueue?$orderby=RequestID")
        == """
        {"value":[{"RequestID":3,"Status":"Queued","RequestMethod":"POST","RequestURL":"Orders","RequestBody":"{\\"Name\\":\\"new\\"}","CustomTag":null,"Category":null,"TransactionID":3,"Conflict":false,"EntityPath":"Orders(-9)","ETag":null},{"RequestID":4,"Status":"Queued","RequestMethod":"POST","RequestURL":"Items","RequestBody":"{\\"Text\\":\\"t\\",\\"Order@odata.bind\\":\\"http://h/s/Orders({\(created)})\\"}","CustomTag":null,"Category":null,"TransactionID":4,"Conflict":false,"EntityPath":"Items(-10)","ETag":null}]}
        """)
    #expect(try await read(rig, "ErrorArchive/$count") == "2")
    #expect(
      try await read(rig, "RequestQueue/$count?$filter=RequestMethod eq 'POST' and contains(RequestURL,'Item')") == "1")
    #expect(
      try await read(rig, "ErrorArchive?$filter=HTTPStatusCode eq 400&$select=RequestID&$count=true")
        == "{\"@odata.count\":1,\"value\":[{\"RequestID\":1}]}")
    #expect(
      try await read(rig, "ErrorArchive?$orderby=RequestID desc&$top=1&$select=RequestID")
        == "{\"value\":[{\"RequestID\":2}]}")
    #expect(
      try await read(rig, "ErrorArchive?$orderby=RequestID&$skip=1&$select=RequestID")
        == "{\"value\":[{\"RequestID\":2}]}")
    #expect(try await read(rig, "ErrorArchive?$search=poison&$select=RequestID") == "{\"value\":[{\"RequestID\":1}]}")
    #expect(try await read(rig, "ErrorArchive(1)/Message/$value") == "poison")
    await #expect(throws: OfflineODataError.self) { try await read(rig, "ErrorArchive(3)") }
    await #expect(throws: OfflineODataError.self) { try await read(rig, "RequestQueue(1)") }
  }

  @Test("Their model describes them")
  func model() throws {
    let model = OfflineODataProvider.ownModel
    let archive = try #require(model.entitySet("ErrorArchive"))
    let names = Set(model.structure(archive.entityType)?.properties.map(\.name) ?? [])
    #expect(
      names.isSuperset(of: [
        "RequestID", "CustomTag", "HTTPStatusCode", "Code", "Message", "InnerError", "Domain", "RequestMethod",
        "RequestURL", "RequestBody",
      ]))
    let queue = try #require(model.entitySet("RequestQueue"))
    let other = Set(model.structure(queue.entityType)?.properties.map(\.name) ?? [])
    #expect(other.isSuperset(of: ["RequestID", "Status", "CustomTag"]))
    // Properties of both have the same name.
    let shared = Set([
      "RequestID", "RequestMethod", "RequestURL", "RequestBody", "CustomTag", "Category", "TransactionID", "Conflict",
      "EntityPath", "ETag",
    ])
    #expect(names.isSuperset(of: shared) && names.intersection(other) == shared)
    for type in [archive.entityType, queue.entityType] {
      let navigations = model.navigationProperties(of: type)
      #expect(navigations.first { $0.name == "AffectedEntity" }?.type == .abstract(.entityType))
      #expect(navigations.contains { $0.name == "DependentRequests" && $0.isCollection })
    }
  }

  @Test("The requests that depend on them, and the headers that the caller set")
  func navigation() async throws {
    let rig = try await Self.rig()
    #expect(
      try await read(rig, "ErrorArchive(1)/DependentRequests?$select=RequestID") == "{\"value\":[{\"RequestID\":2}]}")
    #expect(
      try await read(
        rig, "RequestQueue?$select=RequestID&$expand=DependentRequests($select=RequestID)&$orderby=RequestID")
          == """
          {"value":[{"RequestID":3,"DependentRequests":[{"RequestID":4}]},{"RequestID":4,"DependentRequests":[]}]}
          """)
    #expect(
      try await read(rig, "ErrorArchive?$select=RequestID&$expand=CustomHeaders&$orderby=RequestID")
        == """
        {"value":[{"RequestID":1,"CustomHeaders":[{"Position":1,"Name":"X-A","Value":"1"},{"Position":2,"Name":"X-B","Value":"2"}]},{"RequestID":2,"CustomHeaders":[]}]}
        """)
    #expect(
      try await read(rig, "ErrorArchive(1)/CustomHeaders?$filter=Name eq 'X-B'&$select=Value")
        == "{\"value\":[{\"Value\":\"2\"}]}")
    #expect(
      try await read(rig, "ErrorArchive?$filter=CustomHeaders/any(h:h/Name eq 'X-A')&$select=RequestID")
        == "{\"value\":[{\"RequestID\":1}]}")
  }

  @Test("The affected entity of a request, of any type, describes itself")
  func affected() async throws {
    let rig = try await Self.rig()
    #expect(
      try await read(rig, "RequestQueue?$select=RequestID&$expand=AffectedEntity&$orderby=RequestID", .minimal)
        == """
        {"@odata.context":"http://h/s/$metadata#RequestQueue(RequestID)","value":[{"RequestID":3,"AffectedEntity":{"@odata.context":"http://h/s/$metadata#Orders/$entity","@odata.type":"#N.Order","@odata.id":"Orders(-9)",\(try await etag(rig, "Orders", -9))"@sap.isLocal":true,"@sap.hasPendingChanges":true,"ID":-9,"Name":"new","Note":null,"Total":null}},{"RequestID":4,"AffectedEntity":{"@odata.context":"http://h/s/$metadata#Items/$entity","@odata.type":"#N.Item","@odata.id":"Items(-10)",\(try await etag(rig, "Items", -10))"@sap.isLocal":true,"@sap.hasPendingChanges":true,"ID":-10,"Order_ID":-9,"Text":"t"}}]}
        """)
    #expect(
      try await read(rig, "ErrorArchive(1)/AffectedEntity")
        == "{\"ID\":-7,\"Name\":\"poison\",\"Note\":null,\"Total\":3}")
    #expect(try await read(rig, "ErrorArchive(1)/AffectedEntity?$select=Name") == "{\"Name\":\"poison\"}")
    #expect(try await read(rig, "ErrorArchive(1)/AffectedEntity/Name") == "{\"value\":\"poison\"}")
    #expect(try await read(rig, "RequestQueue(4)/AffectedEntity/Order?$select=Name") == "{\"Name\":\"new\"}")
    await #expect(throws: OfflineODataError.self) { try await read(rig, "ErrorArchive(9)/AffectedEntity") }
    // A locally deleted entity is absent.
    try await rig.delete(try await rig.row("Orders", 1))
    #expect(
      try await read(rig, "RequestQueue(5)?$select=RequestID&$expand=AffectedEntity")
        == "{\"RequestID\":5,\"AffectedEntity\":null}")
    #expect(try await read(rig, "RequestQueue(5)/EntityPath/$value") == "Orders(1)")
    let gone = try await rig.store.execute(single: ODataSingleRequest(.read, "RequestQueue(5)/AffectedEntity"))
    #expect(gone.httpStatus == 204)
  }

  @Test("The affected entity of a request shows whether the last download has changed it, as elsewhere")
  func marked() async throws {
    let rig = try await Self.rig()
    try await rig.update(try await rig.row("Orders", 1), ["Total": .int32(9)])
    let path = "RequestQueue?$filter=EntityPath eq 'Orders(1)'&$expand=AffectedEntity".replacing(" ", with: "%20")
    for (path, isMarked) in [
      ("RequestQueue(5)/AffectedEntity", true), ("ErrorArchive(1)/AffectedEntity", false), (path, true),
    ] {
      let full = try await read(rig, path, .full)
      #expect(full.contains("\"@sap.upsertedLastDownload\":true") == isMarked, "\(path): \(full)")
      #expect(try await !read(rig, path, .minimal).contains("upsertedLastDownload"), "\(path)")
    }
  }

  private func etag(_ rig: UploadRig, _ table: String, _ key: Int) async throws -> String {
    let etag = try await rig.rows("SELECT \"@etag\" FROM {\(table)} WHERE ID = \(key)").first ?? ""
    return "\"@odata.etag\":\"\(etag.replacing("\"", with: "\\\""))\","
  }

  @Test("Results in V2, for queries in V2 or V4")
  func v2() async throws {
    let rig = try await Self.rig(.init(isV2: true))
    let plain = try await rig.store.readJSON("ErrorArchive(1)?$select=RequestID,HTTPStatusCode&$expand=AffectedEntity")
      .text
    #expect(
      plain.hasPrefix(
        "{\"d\":{\"__metadata\":{\"id\":\"http://h/s/ErrorArchive(1L)\",\"uri\":\"http://h/s/ErrorArchive(1L)\",\"type\":\"Larder.ArchivedRequest\"}"
      ))
    #expect(plain.contains("\"RequestID\":\"1\",\"HTTPStatusCode\":400"))
    #expect(
      plain.contains(
        "\"AffectedEntity\":{\"__metadata\":{\"id\":\"http://h/s/Orders(-7)\",\"uri\":\"http://h/s/Orders(-7)\",\"type\":\"N.Order\""
      ))
    let counted = try await rig.store.readJSON(
      "RequestQueue?$inlinecount=allpages&$filter=substringof('Item',RequestURL)&$select=RequestMethod"
    ).text
    #expect(counted.contains("\"__count\":\"1\"") && counted.contains("\"RequestMethod\":\"POST\""))
    #expect(try await rig.store.readJSON("ErrorArchive(1L)/Message/$value").text == "poison")
    try await rig.store.delete("ErrorArchive(1L)")
    #expect(try await rig.store.readJSON("ErrorArchive/$count").text == "0")
  }

  struct Row: Decodable, Sendable {
    struct Entity: Decodable, Sendable {
      let name: String?
      enum CodingKeys: String, CodingKey { case name = "Name" }
    }
    let id: Int64
    let entity: Entity?
    enum CodingKeys: String, CodingKey { case id = "RequestID", entity = "AffectedEntity" }
  }

  @Test("As Swift values, as entities, and in pieces")
  func forms() async throws {
    let rig = try await Self.rig()
    let rows = try #require(
      try await rig.store.read([Row].self, "ErrorArchive?$expand=AffectedEntity&$orderby=RequestID"))
    #expect(rows.map(\.id) == [1, 2] && rows.map { $0.entity?.name } == ["poison", "poison"])
    let entities = try await rig.store.readEntitySet("ErrorArchive?$expand=AffectedEntity&$orderby=RequestID").entities
    #expect(entities.first?["RequestID"] == .int64(1))
    let affected = try #require(entities.first?.navigationLink("AffectedEntity")?.entity)
    #expect(affected["Name"] == .string("poison") && affected["Total"] == .int32(3) && affected.inErrorState)
    #expect(affected.typeName == "N.Order")
    var bytes: [UInt8] = []
    for try await piece in try await rig.store.streamJSON("ErrorArchive?$select=RequestID") { bytes += piece }
    #expect(String(decoding: bytes, as: UTF8.self).hasSuffix("\"value\":[{\"RequestID\":1},{\"RequestID\":2}]}"))
  }

  @Test("Live results follow every change of the queue and the archive")
  func live() async throws {
    let rig = try await UploadRig()
    struct Request: Decodable, Sendable {
      let id: Int64
      enum CodingKeys: String, CodingKey { case id = "RequestID" }
    }
    let queued = try rig.store.live([Request].self, "RequestQueue?$orderby=RequestID").makeAsyncIterator()
    let failed = try rig.store.live([Row].self, "ErrorArchive?$expand=AffectedEntity").makeAsyncIterator()
    var (queue, archive) = (queued, failed)
    #expect(try await queue.next()?.count == 0)
    #expect(try await archive.next()?.count == 0)
    try await rig.update(try await rig.row("Orders", 1), ["Name": .string("poison")])
    #expect(try await queue.next()?.map(\.id) == [1])
    _ = try await rig.store.upload()
    #expect(try await archive.next()?.map { $0.entity?.name } == ["poison"])
    #expect(try await queue.next()?.count == 0)
    try await rig.store.retryAll()
    #expect(try await archive.next()?.count == 0)
    #expect(try await queue.next()?.map(\.id) == [1])
  }
}

extension OfflineODataResult {
  fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}
