import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store from outside: queries", .timeLimit(.minutes(1)))
struct EndToEndQueryTests {
  /// A copy of the staff's service, which is away from then on.
  private func copied(
    isV2: Bool = false, resultPageSize: Int? = nil
  ) async throws -> (store: OfflineODataProvider, root: String, rig: StoreRig) {
    let server = try EndToEndStaff(isV2: isV2, isPaged: true).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider(resultPageSize: resultPageSize)
    try await store.add(OfflineODataDefiningQuery("staff", "Staff"))
    try await store.add(OfflineODataDefiningQuery("departments", "Departments"))
    try await store.open()
    return (store, rig.root, rig)
  }

  private static let responses: KeyValuePairs<String, String> = [
    "Staff/$count": "5",
    "Staff/$count?$filter=ID gt 2": "3",
    "Departments(1)/Staff/$count": "2",
    "Staff(5)/Reports/$count": "0",
    "Staff(1)/Name/$value": "Ada",
    "Staff(1)/Pay/$value": "1000.50",
    "Staff(1)/Hired/$value": "2026-01-01T00:00:00Z",
    "Staff(1)/Boss": "",
    "Staff(1)/BossID": "",
    "Staff(2)/Boss/Name": #"{"@odata.context":"$metadata#Edm.String","value":"Ada"}"#,
    "Staff(1)/$ref": #"{"@odata.context":"$metadata#$ref","@odata.id":"Staff(1)"}"#,
    "Staff(2)/Boss/$ref": #"{"@odata.context":"$metadata#$ref","@odata.id":"Staff(1)"}"#,
    "Staff(1)/Reports/$ref":
      #"{"@odata.context":"$metadata#Collection($ref)","value":[{"@odata.id":"Staff(2)"},{"@odata.id":"Staff(3)"}]}"#,
    "Staff(1)?$select=ID&$expand=Reports($levels=2;$select=ID)":
      #"{"@odata.context":"$metadata#Staff(ID,Reports+(ID))/$entity","ID":1,"Reports":[{"ID":2,"Reports":[{"ID":4}]},"#
      + #"{"ID":3,"Reports":[]}]}"#,
    "Staff(5)?$select=ID&$expand=Boss($levels=max;$select=ID)":
      #"{"@odata.context":"$metadata#Staff(ID,Boss+(ID))/$entity","ID":5,"Boss":{"ID":4,"Boss":{"ID":2,"#
      + #""Boss":{"ID":1,"Boss":null}}}}"#,
    "$crossjoin(Staff,Departments)?$filter=Staff/DepartmentID eq Departments/ID and Staff/ID le 2"
      + "&$expand=Staff($select=ID),Departments($select=ID)&$orderby=Staff/ID desc&$count=true":
      #"{"@odata.context":"$metadata#Collection(Edm.ComplexType)","@odata.count":2,"value":[{"Staff":{"ID":2},"#
      + #""Departments":{"ID":1}},{"Staff":{"ID":1},"Departments":{"ID":2}}]}"#,
    "Staff?$search=ada&$select=ID": #"{"@odata.context":"$metadata#Staff(ID)","value":[{"ID":1}]}"#,
    "Staff?$search=\"ada\" OR (eve AND NOT dan)&$select=ID":
      #"{"@odata.context":"$metadata#Staff(ID)","value":[{"ID":1},{"ID":5}]}"#,
    "Departments?$expand=Staff/$count&$top=1":
      #"{"@odata.context":"$metadata#Departments","value":[{"ID":1,"Name":"Sales","Staff@odata.count":2}]}"#,
    "$entity?$id=Departments(2)": #"{"@odata.context":"$metadata#N.Department","ID":2,"Name":"Law"}"#,
    "Staff(@p)?@p=1&$select=ID&$format=application/json;odata.metadata=none": #"{"ID":1}"#,
  ]

  @Test("counts, references, raw values, levels, cross joins, searches: as a service writes them")
  func responses() async throws {
    let (store, root, rig) = try await copied()
    for (query, response) in Self.responses {
      let text = try await store.text(query).replacingOccurrences(of: root, with: "")
      #expect(text == response, "\(query)")
      var streamed: [UInt8] = []
      for try await piece in try await store.streamJSON(query) { streamed += piece }
      #expect(String(decoding: streamed, as: UTF8.self).replacingOccurrences(of: root, with: "") == response)
    }
    #expect(try await store.readValue("Staff(1)/Pay/$value") == .string("1000.50"))
    #expect(try await store.readValue("Staff(1)/BossID") == .null)
    #expect(try await store.readCount("Staff?$search=NOT ada") == 4)
    #expect(try await store.readEntity("Staff(1)/Boss") == nil)
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("errors: the name, the place, and the nearest name of the model")
  func errors() async throws {
    let wrong: [(String, OfflineODataErrorName, String)] = [
      ("Stafff", .unfittingURL, "did you mean 'Staff'?"),
      ("staff", .unfittingURL, "did you mean 'Staff'?"),
      ("Nowhere", .unfittingURL, "'Nowhere'"),
      ("$crossjoin(Staff,Department)", .unfittingURL, "'Department'"),
      ("Staff(1)/Nam", .unfittingURL, "did you mean 'Name'?"),
      ("Staff?$filter=Nam eq 'a'", .unfittingURL, "did you mean 'Name'?"),
      ("Staff?$select=Nmae", .unfittingURL, "did you mean 'Name'?"),
      ("Staff?$expand=Reprots", .unfittingURL, "did you mean 'Reports'?"),
      ("Staff?$orderby=Bos/Name", .unfittingURL, "did you mean 'Boss'?"),
      ("Staff('x')", .unfittingURL, "Edm.Int32"),
      ("Staff(Name='x')", .missingKeyProperty, "(ID)"),
      ("Staff(1)/$value", .unfittingURL, "is not a media entity"),
      ("Staff(9)", .entityNotFound, "'Staff(9)'"),
      ("Staff(9)/Name", .entityNotFound, "'Staff(9)/Name'"),
      ("Staff(9)/Name/$value", .entityNotFound, "'Staff(9)/Name/$value'"),
      ("Staff(9)/Reports", .entityNotFound, "'Staff(9)/Reports'"),
      ("Staff(9)/Reports/$count", .entityNotFound, "'Staff(9)/Reports/$count'"),
      ("Staff(9)/Reports/$ref", .entityNotFound, "'Staff(9)/Reports/$ref'"),
      ("Staff(9)/$ref", .entityNotFound, "'Staff(9)/$ref'"),
      ("Staff?$format=atom", .unsupportedQuery, "$format=atom"),
      ("Staff?$schemaversion=3", .unsupportedQuery, "$schemaversion=3"),
      ("Staff?$deltatoken=3", .unsupportedQuery, "$deltatoken"),
      ("Staff?$skiptoken=none", .invalidSkipToken, "does not belong to this query"),
      ("Staff?$index=1", .unsupportedQuery, "$index"),
      ("$all", .unsupportedQuery, "$all"),
    ]
    let (store, _, rig) = try await copied()
    for (query, name, words) in wrong {
      let error = await #expect(throws: OfflineODataError.self, "\(query)") {
        try await store.readJSON(query)
      }
      #expect(error?.name == name && error?.errorMessage.contains(words) == true, "\(query): \(error as Any)")
      await #expect(throws: OfflineODataError.self) { try await store.streamJSON(query) }
      await #expect(throws: OfflineODataError.self) { try await store.execute(single: .read(query)) }
    }
    #expect(try await store.read(Int.self, "Staff(9)/Reports/$count") == nil)
    #expect(try await store.read([[String: Int]].self, "Staff(9)/Reports?$select=ID") == nil)
    #expect(try await store.read([[String: Int]].self, "Staff(5)/Reports?$select=ID") == [])
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("pages of rows that are alike in their order leave none out and give none twice", arguments: [false, true])
  func pages(isV2: Bool) async throws {
    let (store, _, rig) = try await copied(isV2: isV2, resultPageSize: 2)
    for (query, expected) in [
      ("Staff?$orderby=Hired", [1, 2, 3, 4, 5]), ("Staff?$orderby=Hired desc,BossID desc", [5, 4, 2, 3, 1]),
      ("Staff?$orderby=Hired&$top=3", [1, 2, 3]), ("Staff?$orderby=Department/Name,ID desc&$skip=1", [3, 1, 4, 2]),
    ] {
      var ids: [Int32] = []
      var sizes: [Int] = []
      var next: String? = query
      while let page = next, sizes.count < 9 {
        let response = try await store.readEntitySet(page)
        sizes.append(response.entities.count)
        for case .int32(let id)? in response.entities.map({ $0["ID"] }) { ids.append(id) }
        next = response.nextLink
      }
      #expect(ids.map(Int.init) == expected, "\(query)")
      #expect(sizes.allSatisfy { $0 <= 2 })
    }
    // An array cannot say that there is more: it is whole.
    #expect(try await store.read([EndToEndPerson].self, "Staff?$orderby=ID")?.map(\.id) == [1, 2, 3, 4, 5])
    var live = try store.live([EndToEndPerson].self, "Staff?$orderby=ID").makeAsyncIterator()
    #expect(try await live.next()?.count == 5)
    #expect(try await store.readEntitySet("Staff").entities.count == 2)
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("types of the application's, with what is expanded in them")
  func decoded() async throws {
    let (store, _, rig) = try await copied()
    let read = try await store.read(
      [EndToEndDepartment].self,
      "Departments?$orderby=ID&$expand=Staff($expand=Reports($expand=Department),Department)")
    let sales = try #require(read?.first)
    #expect(sales.staff?.map(\.name) == ["Ben", "Dan"])
    #expect(sales.staff?.first?.reports?.map(\.name) == ["Dan"])
    #expect(sales.staff?.first?.reports?.first?.department?.name == "Sales")
    #expect(sales.staff?.last?.reports?.first?.department?.name == "Law")
    #expect(sales.staff?.first?.pay == Decimal(string: "2000.50"))
    #expect(sales.staff?.first?.hired == Date(timeIntervalSince1970: 1_767_225_600))
    let chain = try await store.read(EndToEndPerson.self, "Staff(1)?$expand=Reports($levels=max)")
    #expect(chain?.reports?.first?.reports?.first?.reports?.map(\.name) == ["Eve"])
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("V2: results in its own format with next links, and in V4's if requested")
  func verbose() async throws {
    let (store, root, rig) = try await copied(isV2: true, resultPageSize: 2)
    func text(_ query: String) async throws -> String {
      try await store.text(query).replacingOccurrences(of: root, with: "")
    }
    let first = try await text("Staff?$select=ID&$inlinecount=allpages&$filter=substringof('e',Name)")
    #expect(
      first.hasPrefix(
        #"{"d":{"results":[{"__metadata":{"id":"Staff(2)","uri":"Staff(2)","type":"N.Person"},"ID":2},"#
          + #"{"__metadata":{"id":"Staff(3)","uri":"Staff(3)","type":"N.Person"},"ID":3}],"__count":"3","#
          + #""__next":"Staff?$filter=substringof('e',Name)&$inlinecount=allpages&$select=ID&$skiptoken="#))
    #expect(
      try await text("Staff(1)/$links/Reports") == #"{"d":{"results":[{"uri":"Staff(2)"},{"uri":"Staff(3)"}]}}"#)
    #expect(try await text("Staff(2)/$links/Boss") == #"{"d":{"uri":"Staff(1)"}}"#)
    #expect(try await text("Staff(1)/Hired") == #"{"d":{"Hired":"\/Date(1767225600000)\/"}}"#)
    #expect(try await text("Staff(2)/Pay/$value") == "2000.50")
    #expect(try await text("Staff/$count?$filter=Hired eq datetime'2026-01-01T00:00:00' and Pay gt 2000.5M") == "3")
    #expect(
      try await text("Staff(2)?$expand=Boss&$select=ID,Boss/Name&sap-client=100&$format=json")
        == #"{"d":{"__metadata":{"id":"Staff(2)","uri":"Staff(2)","type":"N.Person"},"ID":2,"#
        + #""Boss":{"__metadata":{"id":"Staff(1)","uri":"Staff(1)","type":"N.Person"},"Name":"Ada"}}}"#)
    let v4 = try await store.readJSON("Staff(2)?$select=Hired,Pay", options: .init(version: .v4, metadata: .none))
    #expect(String(decoding: v4.bytes, as: UTF8.self) == #"{"Hired":"2026-01-01T00:00:00Z","Pay":2000.50}"#)
    await #expect(throws: OfflineODataError.self) { try await store.readJSON("Staff?$count=true") }
    let response = try await store.execute(single: .read("Staff(1)"))
    #expect(response.fields[.dataServiceVersion] == "2.0")
    #expect(response.version == .v2)
    try await store.close()
    withExtendedLifetime(rig) {}
  }
}
