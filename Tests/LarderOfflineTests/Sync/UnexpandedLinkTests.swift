import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

/// A service of parents with many items and one main item. It may ignore `$expand`.
private final class ParentService: Sendable {
  struct Content: Sendable {
    /// Members of the rows besides ID, in the service's order.
    var rows: [String]
    /// Responses to requests of single links, by path; everything else is 404.
    var links: [String: ScriptedServer.Response] = [:]
    /// The delta link in the response, and the response to it.
    var delta: String?
    var etag: String?
  }

  let isV2: Bool
  private let content: Mutex<Content>
  private let paths = Mutex<[String]>([])

  init(isV2: Bool, _ content: Content) {
    self.isV2 = isV2
    self.content = Mutex(content)
  }

  /// The requests besides those of the metadata and of the set.
  var linkRequests: [String] { paths.withLock { $0 }.filter { $0.hasPrefix("Ps(") } }

  func change(_ body: (inout Content) -> Void) { content.withLock { body(&$0) } }

  func serve() throws -> ScriptedServer {
    try OddService(metadata: isV2 ? Self.v2 : Self.v4) { [self] path, fields in
      let content = content.withLock { $0 }
      paths.withLock { $0.append(path) }
      if path.contains("delta"), let delta = content.delta { return json(delta) }
      if let link = content.links[path] { return link }
      guard path.prefix(while: { $0 != "?" }) == "Ps" else { return nil }
      if let etag = content.etag, fields[.ifNoneMatch] == etag { return .response(304) }
      return json(page(content.rows, hasDelta: content.delta != nil), etag: content.etag)
    }.serve()
  }

  func json(_ body: String, etag: String? = nil) -> ScriptedServer.Response {
    var fields: HTTPFields = [.contentType: "application/json"]
    fields[isV2 ? .dataServiceVersion : .odataVersion] = isV2 ? "2.0" : "4.0"
    if let etag { fields[.etag] = etag }
    return .response(200, fields: fields, body: body)
  }

  private func page(_ rows: [String], hasDelta: Bool) -> String {
    let entities = rows.enumerated().map { place, members in
      let id = place + 1
      let comma = members.isEmpty ? "" : ","
      return isV2
        ? #"{"__metadata":{"uri":"/s/Ps(\#(id))","type":"N.P"},"ID":\#(id)\#(comma)\#(members)}"#
        : #"{"ID":\#(id)\#(comma)\#(members)}"#
    }.joined(separator: ",")
    if isV2 { return #"{"d":{"results":[\#(entities)]}}"# }
    let link = hasDelta ? #","@odata.deltaLink":"Ps?delta=1""# : ""
    return #"{"@odata.context":"$metadata#Ps","value":[\#(entities)]\#(link)}"#
  }

  private static let entities = """
    <EntityType Name="I"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>%I
    </EntityType>
    <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="N" Type="Edm.String"/>%P</EntityType>
    """

  private static let v4 = OddService.v4(
    entities.replacingOccurrences(
      of: "%P",
      with: #"<NavigationProperty Name="Items" Type="Collection(N.I)"/><NavigationProperty Name="Main" Type="N.I"/>"#
    ).replacingOccurrences(of: "%I", with: #"<NavigationProperty Name="Maker" Type="N.I"/>"#)
      + """
      <EntityType Name="Q" BaseType="N.P"><NavigationProperty Name="Special" Type="N.I"/></EntityType>
      """,
    """
    <EntitySet Name="Ps" EntityType="N.P"><NavigationPropertyBinding Path="Items" Target="Is"/>
    <NavigationPropertyBinding Path="Main" Target="Is"/><NavigationPropertyBinding Path="N.Q/Special" Target="Is"/>
    </EntitySet><EntitySet Name="Is" EntityType="N.I"><NavigationPropertyBinding Path="Maker" Target="Is"/></EntitySet>
    """)

  private static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    """
    + entities.replacingOccurrences(
      of: "%P",
      with: #"<NavigationProperty Name="Items" Relationship="N.R" FromRole="p" ToRole="i"/>"#
        + #"<NavigationProperty Name="Main" Relationship="N.M" FromRole="p" ToRole="i"/>"#
    ).replacingOccurrences(of: "%I", with: "")
      + """
      <Association Name="R"><End Role="p" Type="N.P" Multiplicity="0..1"/><End Role="i" Type="N.I" Multiplicity="*"/>
      </Association><Association Name="M"><End Role="p" Type="N.P" Multiplicity="0..1"/>
      <End Role="i" Type="N.I" Multiplicity="0..1"/></Association>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Ps" EntityType="N.P"/>
      <EntitySet Name="Is" EntityType="N.I"/><AssociationSet Name="RS" Association="N.R"><End Role="p" EntitySet="Ps"/>
      <End Role="i" EntitySet="Is"/></AssociationSet><AssociationSet Name="MS" Association="N.M">
      <End Role="p" EntitySet="Ps"/><End Role="i" EntitySet="Is"/></AssociationSet></EntityContainer></Schema>
      </edmx:DataServices></edmx:Edmx>
      """
}

/// OData JSON Format 4.01 §8.1 and §8.3; OData V2 JSON Format, Deferred Content.
@Suite("Offline store: links that the service does not expand", .timeLimit(.minutes(1)))
struct UnexpandedLinkTests {
  /// What the one row link that is requested responds with.
  enum Link: String, Sendable, CaseIterable { case related, none, notFound, error }

  struct Form: Sendable, CustomStringConvertible {
    let isV2: Bool
    /// The members of each row, besides ID.
    let rows: [String]
    var link = Link.related
    /// The links that are not downloaded.
    let missing: [String]
    var requests: [String] = ["Ps(1)/Items", "Ps(1)/Main"]
    var description: String { "\(isV2 ? "V2" : "V4") \(rows) \(link): \(missing)" }
  }

  private static let all = ["Items", "Main"]
  private static let deferred =
    ##""Items":{"__deferred":{"uri":"/s/Ps(1)/Items"}},"Main":{"__deferred":{"uri":"/s/Ps(1)/Main"}}"##
  private static let item2 = ##"{"__metadata":{"uri":"/s/Is(1)","type":"N.I"},"No":1}"##

  static let forms: [Form] = [
    Form(isV2: false, rows: ["", ""], missing: all),
    Form(isV2: false, rows: [""], link: .notFound, missing: all),
    Form(isV2: false, rows: [""], link: .error, missing: all),
    // The single link leads nowhere; an expanded collection would be an array.
    Form(isV2: false, rows: [""], link: .none, missing: ["Items"]),
    Form(
      isV2: false,
      rows: [##""Items@odata.navigationLink":"Ps(1)/Items","Main@odata.navigationLink":"Ps(1)/Main""##], missing: all),
    Form(isV2: false, rows: [##""Items@odata.associationLink":"Ps(1)/Items/$ref""##], missing: all),
    Form(isV2: false, rows: [##""Items":null,"Main":null"##], missing: ["Items"], requests: ["Ps(1)/Items"]),
    Form(isV2: false, rows: ["", ##""Items":[],"Main":{"No":1}"##], missing: [], requests: []),
    Form(isV2: false, rows: [##""Items":[]"##], link: .none, missing: [], requests: ["Ps(1)/Main"]),
    Form(isV2: false, rows: [##""Items":[]"##], missing: ["Main"], requests: ["Ps(1)/Main"]),
    Form(isV2: false, rows: [##""Main":{"No":1}"##], link: .none, missing: [], requests: ["Ps(1)/Items"]),
    Form(isV2: false, rows: [], missing: [], requests: []),
    Form(isV2: true, rows: ["", ""], missing: all),
    Form(isV2: true, rows: [deferred], missing: all),
    Form(isV2: true, rows: [deferred], link: .notFound, missing: all),
    Form(isV2: true, rows: [deferred], link: .error, missing: all),
    Form(isV2: true, rows: [##""Items":null,"Main":null"##], missing: ["Items"], requests: ["Ps(1)/Items"]),
    Form(
      isV2: true, rows: [##""Items":{"results":[]},"Main":{"__deferred":{"uri":"/s/Ps(1)/Main"}}"##], link: .notFound,
      missing: [], requests: ["Ps(1)/Main"]),
    Form(
      isV2: true, rows: [deferred, ##""Items":{"results":[\##(item2)]},"Main":\##(item2)"##], missing: [], requests: []),
  ]

  private static func links(_ service: ParentService, _ link: Link) -> [String: ScriptedServer.Response] {
    let one = service.isV2 ? #"{"d":\#(item2)}"# : #"{"No":1}"#
    let many = { (items: String) in service.isV2 ? #"{"d":{"results":[\#(items)]}}"# : #"{"value":[\#(items)]}"# }
    let item = service.isV2 ? item2 : #"{"No":1}"#
    switch link {
    case .related: return ["Ps(1)/Items": service.json(many(item)), "Ps(1)/Main": service.json(one)]
    case .none: return ["Ps(1)/Items": service.json(many("")), "Ps(1)/Main": .response(204)]
    case .notFound: return [:]
    case .error: return ["Ps(1)/Items": .response(500), "Ps(1)/Main": .response(500)]
    }
  }

  @Test("a link that no row of the answer has is requested for one row, and is not downloaded", arguments: forms)
  func judged(_ form: Form) async throws {
    let service = ParentService(isV2: form.isV2, .init(rows: form.rows))
    service.change { $0.links = Self.links(service, form.link) }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["ps": "Ps?$expand=Items,Main"])
    #expect(service.linkRequests == form.requests)
    try await expect(form.missing, form, store)
    #expect(rig.diagnostics.all.count { $0.name == "linkNotExpanded" } == form.missing.count)
    let report = try await store.download(whole: true)
    #expect(report.queries[0].missingLinks == form.missing)
    #expect(report.queries[0].notes.count { $0.hasPrefix("The service does not expand") } == form.missing.count)
    try await store.close()
    // The state survives the end of the process.
    let again = try rig.provider()
    try await again.open()
    try await expect(form.missing, form, again)
    try await again.close()
  }

  private func expect(_ missing: [String], _ form: Form, _ store: OfflineODataProvider) async throws {
    guard !form.rows.isEmpty else { return }
    #expect(try await store.size("Ps") == Int64(form.rows.count))
    for link in Self.all {
      var reads = ["Ps(1)/\(link)", "Ps?$expand=\(link)"]
      if link == "Items" { reads.append("Ps(1)/Items/$count") }
      if link == "Items", !form.isV2 { reads.append("Ps?$filter=Items/$count eq 0") }
      for read in reads {
        do {
          _ = try await store.readJSON(read)
          #expect(!missing.contains(link), "\(read) succeeded")
        } catch let error as OfflineODataError {
          #expect(missing.contains(link) && error.name == .notDownloaded, "\(read): \(error)")
        }
      }
    }
  }

  @Test(
    "the response to one link decides: a single link that leads nowhere is null, a collection is an array",
    arguments: LinkQuestion.Answer.allCases, [true, false])
  func judgement(answer: LinkQuestion.Answer, isCollection: Bool) {
    let question = LinkQuestion(link: "Items", url: nil, isCollection: isCollection)
    for version in [ODataVersion.v2, .v4] {
      for showsOthers in [true, false] {
        let isKnown =
          switch answer {
          case .related, .unknown: false
          case .none: showsOthers || !isCollection
          case .notFound: version == .v2 && showsOthers && !isCollection
          }
        #expect(question.isMissing(answer, version: version, showsOthers: showsOthers) != isKnown)
      }
    }
  }

  @Test("a delta without a missing link changes nothing; a delta that has it leads to a whole read")
  func deltas() async throws {
    let none =
      ##"{"@odata.context":"$metadata#Ps/$delta","value":[{"ID":1,"N":"new"}],"@odata.deltaLink":"Ps?delta=2"}"##
    let service = ParentService(isV2: false, .init(rows: ["", ""], delta: none))
    service.change { $0.links = Self.links(service, .related) }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["ps": "Ps?$expand=Items"])
    let second = try await store.download().queries[0]
    #expect(second.strategy == .changes && second.missingLinks == ["Items"])
    await #expect(throws: OfflineODataError.self) { try await store.readJSON("Ps(1)/Items") }
    #expect(service.linkRequests == ["Ps(1)/Items"])
    let expanded = none.replacingOccurrences(of: ##""N":"new""##, with: ##""Items":[{"No":1}]"##)
    service.change {
      $0.delta = expanded
      $0.rows = [##""Items":[{"No":1}]"##, ##""Items":[]"##]
    }
    let third = try await store.download().queries[0]
    #expect(third.strategy == .whole && third.missingLinks == [], "\(third.notes)")
    #expect(try await store.size("Ps(1)/Items") == 1)
    #expect(try await store.size("Ps(2)/Items") == 0)
    try await store.close()
  }

  @Test("an unchanged answer keeps the state; a service that begins to expand is noticed, and one that stops")
  func laterDownloads() async throws {
    let service = ParentService(isV2: false, .init(rows: [""], etag: "\"1\""))
    service.change { $0.links = Self.links(service, .related) }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["ps": "Ps?$expand=Items,Main"])
    let second = try await store.download().queries[0]
    #expect(second.strategy == .notModified && second.missingLinks == Self.all)
    await #expect(throws: OfflineODataError.self) { try await store.readJSON("Ps(1)/Main") }
    service.change {
      $0.etag = "\"2\""
      $0.rows = [##""Items":[{"No":1}],"Main":null"##]
    }
    #expect(try await store.download().queries[0].missingLinks == [])
    #expect(try await store.size("Ps(1)/Items") == 1)
    service.change {
      $0.etag = "\"3\""
      $0.rows = [""]
    }
    #expect(try await store.download().queries[0].missingLinks == Self.all)
    let error = await #expect(throws: OfflineODataError.self) { try await store.readJSON("Ps(1)/Items") }
    #expect(error?.errorMessage.contains("the service did not return 'Ps/Items' to the defining query 'ps'") == true)
    try await store.close()
  }

  @Test(
    "links of deeper levels are judged by themselves, those of derived types only for rows of the type",
    arguments: [
      ("Ps?$expand=Items($expand=Maker)", [##""Items":[{"No":1}]"##], ["Items/Maker"]),
      ("Ps?$expand=Items($expand=Maker)", [##""Items":[{"No":1},{"No":2,"Maker":null}]"##], []),
      ("Ps?$expand=Items($expand=Maker)", [##""Items":[]"##], []),
      ("Ps?$expand=Items/$ref", [""], ["Items"]),
      ("Ps?$expand=Items/$ref", [##""Items":[{"@odata.id":"Is(1)"}]"##], []),
      ("Ps?$expand=Items/$count", [""], []),
      ("Ps?$expand=N.Q/Special", [""], []),
      ("Ps?$expand=N.Q/Special", [##""@odata.type":"#N.Q""##], ["N.Q/Special"]),
      ("Ps?$expand=*", [##""Items":[]"##], ["Main"]),
      ("Ps(1)?$expand=Items", [""], ["Items"]),
    ] as [(String, [String], [String])])
  func levels(query: String, rows: [String], missing: [String]) async throws {
    let service = ParentService(isV2: false, .init(rows: rows))
    service.change {
      $0.links = Self.links(service, .related)
      $0.links["Ps(1)?$expand=Items"] = service.json(##"{"@odata.context":"$metadata#Ps/$entity","ID":1}"##)
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["ps": query])
    #expect(try await store.download(whole: true).queries[0].missingLinks == missing)
    try await store.close()
  }

  @Test("links can be followed row by row, with a limit of requests", arguments: [0, 3, 4, 100])
  func followed(limit: Int) async throws {
    let service = ParentService(isV2: false, .init(rows: ["", ""]))
    service.change {
      $0.links = Self.links(service, .related)
      $0.links["Ps(2)/Items"] = service.json(##"{"value":[{"No":2}],"@odata.nextLink":"Ps(2)/Items?page=2"}"##)
      $0.links["Ps(2)/Items?page=2"] = service.json(##"{"value":[{"No":3}]}"##)
      $0.links["Ps(2)/Main"] = .response(204)
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    var parameters = OfflineODataParameters(path: rig.folder.path, linkRequestLimit: limit)
    parameters.conversation.retry = .never
    let url = try #require(URL(string: rig.root))
    let store = try OfflineODataProvider(serviceRoot: url, transport: rig.transport, parameters: parameters)
    try await store.add(OfflineODataDefiningQuery("ps", "Ps?$expand=Items,Main"))
    try await store.open()
    let missing = try await store.download(whole: true).queries[0].missingLinks
    #expect(missing == (limit >= 4 ? [] : limit >= 2 ? ["Main"] : Self.all))
    if limit >= 2 {
      #expect(try await store.size("Ps(1)/Items") == 1)
      #expect(try await store.size("Ps(2)/Items") == 2)
    }
    if limit >= 4 {
      #expect(try await store.text("Ps?$expand=Main($select=No)&$select=ID").contains(##"{"ID":2,"Main":null}"##))
    }
    // Links that lead elsewhere now replace the former ones.
    service.change { $0.links["Ps(1)/Main"] = .response(204) }
    service.change { $0.links["Ps(1)/Items"] = service.json(##"{"value":[{"No":9}]}"##) }
    let second = try await store.download(whole: true).queries[0]
    if limit >= 4 {
      #expect(second.missingLinks == [])
      #expect(try await store.text("Ps(1)/Items").contains("9"))
      #expect(try await store.text("Ps?$expand=Main&$select=ID").contains(##"{"ID":1,"Main":null}"##))
    }
    try await store.close()
  }
}
