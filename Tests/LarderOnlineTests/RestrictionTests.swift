import Foundation
import LarderOData
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

@Suite("Online, what the metadata do not allow", .timeLimit(.minutes(2)))
struct RestrictionTests {
  private static func record(_ term: String, _ members: String) -> String {
    "<Annotation Term=\"Org.OData.Capabilities.V1.\(term)\"><Record>\(members)</Record></Annotation>"
  }

  private static func tag(_ term: String) -> String {
    "<Annotation Term=\"Org.OData.Capabilities.V1.\(term)\" Bool=\"false\"/>"
  }

  private static func set(_ name: String, _ value: Bool) -> String {
    "<PropertyValue Property=\"\(name)\" Bool=\"\(value)\"/>"
  }

  private static func paths(_ name: String, _ paths: String...) -> String {
    let items = paths.map { "<PropertyPath>\($0)</PropertyPath>" }.joined()
    return "<PropertyValue Property=\"\(name)\"><Collection>\(items)</Collection></PropertyValue>"
  }

  private static let key = """
    <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    """

  /// Books are restricted in parts, logs are closed to changes, drafts have no restriction. Notes are created through
  /// their book alone. What trips and plans say about their notes overrides what is said about logs and drafts.
  private static let v4 = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.String"/></ComplexType>
    <EntityType Name="Book">\(key)<Property Name="A" Type="Edm.String"/><Property Name="B" Type="Edm.String"/>
      <Property Name="Made" Type="Edm.Int32"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
      <Property Name="Shop" Type="S.Place"/><Property Name="AuthorID" Type="Edm.Int32"/>
      <NavigationProperty Name="Author" Type="S.Book"><ReferentialConstraint Property="AuthorID" ReferencedProperty="ID"/></NavigationProperty>
      <NavigationProperty Name="Notes" Type="Collection(S.Book)"/><NavigationProperty Name="Copies" Type="Collection(S.Book)"/>
      </EntityType><EntityType Name="Novel" BaseType="S.Book"><NavigationProperty Name="Parts" Type="Collection(S.Book)"/>
      </EntityType>
    <EntityContainer Name="C">
    <EntitySet Name="Drafts" EntityType="S.Book"><NavigationPropertyBinding Path="Notes" Target="Notes"/>
      <NavigationPropertyBinding Path="Copies" Target="Books"/></EntitySet>
    <EntitySet Name="Trips" EntityType="S.Book"><NavigationPropertyBinding Path="Notes" Target="Logs"/>
      <NavigationPropertyBinding Path="Copies" Target="Books"/><NavigationPropertyBinding Path="S.Novel/Parts" Target="Logs"/>
      <NavigationPropertyBinding Path="Author" Target="Trips"/><NavigationPropertyBinding Path="Author/Copies" Target="Hidden"/>
      \(record("NavigationRestrictions", "<PropertyValue Property=\"RestrictedProperties\"><Collection><Record>"
        + "<PropertyValue Property=\"NavigationProperty\" NavigationPropertyPath=\"Notes\"/>"
        + "<PropertyValue Property=\"InsertRestrictions\"><Record><PropertyValue Property=\"Insertable\" Path=\"A\"/></Record></PropertyValue>"
        + "<PropertyValue Property=\"DeleteRestrictions\"><Record>\(set("Deletable", true))</Record></PropertyValue>"
        + "</Record><Record><PropertyValue Property=\"NavigationProperty\" NavigationPropertyPath=\"Copies\"/>"
        + "<PropertyValue Property=\"InsertRestrictions\"><Record>\(paths("RequiredProperties", "B"))</Record></PropertyValue>"
        + "</Record><Record><PropertyValue Property=\"NavigationProperty\" NavigationPropertyPath=\"Author/Notes\"/>"
        + "<PropertyValue Property=\"InsertRestrictions\"><Record>\(set("Insertable", false))</Record></PropertyValue>"
        + "</Record><Record><PropertyValue Property=\"NavigationProperty\" NavigationPropertyPath=\"Author/Copies\"/>"
        + "<PropertyValue Property=\"ReadRestrictions\"><Record>\(set("Readable", false))</Record></PropertyValue>"
        + "<PropertyValue Property=\"UpdateRestrictions\"><Record>\(set("Updatable", true))</Record></PropertyValue>"
        + "</Record><Record><PropertyValue Property=\"NavigationProperty\" NavigationPropertyPath=\"S.Novel/Parts\"/>"
        + "<PropertyValue Property=\"InsertRestrictions\"><Record>\(set("Insertable", true))</Record></PropertyValue>"
        + "<PropertyValue Property=\"FilterRestrictions\"><Record>\(set("Filterable", true))</Record></PropertyValue>"
        + "</Record></Collection></PropertyValue>"))</EntitySet>
    <EntitySet Name="Stamps" EntityType="S.Book">\(record("InsertRestrictions", paths("RequiredProperties", "Made", "A")))
    </EntitySet>
    <EntitySet Name="Plans" EntityType="S.Book"><NavigationPropertyBinding Path="Notes" Target="Drafts"/></EntitySet>
    <EntitySet Name="Books" EntityType="S.Book"><NavigationPropertyBinding Path="Notes" Target="Notes"/>
      \(record("InsertRestrictions", paths("NonInsertableProperties", "A") + paths("RequiredProperties", "AuthorID")))
      \(record("UpdateRestrictions", paths("NonUpdatableProperties", "B", "Shop/City", "ID")
        + paths("NonUpdatableNavigationProperties", "Author")))
      \(record("FilterRestrictions", paths("NonFilterableProperties", "A", "Shop/City", "Author")))
      \(record("SortRestrictions", paths("NonSortableProperties", "A") + paths("AscendingOnlyProperties", "B")))
      \(record("ExpandRestrictions", paths("NonExpandableProperties", "Author")
        + "<PropertyValue Property=\"MaxLevels\" Int=\"1\"/>"))
      \(record("CountRestrictions", paths("NonCountableNavigationProperties", "Notes")))
      \(record("NavigationRestrictions", "<PropertyValue Property=\"RestrictedProperties\"><Collection><Record>"
        + "<PropertyValue Property=\"NavigationProperty\" NavigationPropertyPath=\"Notes\"/>"
        + "<PropertyValue Property=\"InsertRestrictions\"><Record>\(set("Insertable", true))</Record></PropertyValue>"
        + "<PropertyValue Property=\"DeleteRestrictions\"><Record>\(set("Deletable", false))</Record></PropertyValue>"
        + "<PropertyValue Property=\"FilterRestrictions\"><Record>\(set("Filterable", false))</Record></PropertyValue>"
        + "</Record></Collection></PropertyValue>"))</EntitySet>
    <EntitySet Name="Notes" EntityType="S.Book">\(record("InsertRestrictions", set("Insertable", false)))
      \(record("FilterRestrictions", set("RequiresFilter", true) + paths("RequiredProperties", "A")))</EntitySet>
    <EntitySet Name="Logs" EntityType="S.Book">
      \(record("InsertRestrictions", set("Insertable", false)))\(record("UpdateRestrictions", set("Updatable", false)))
      \(record("DeleteRestrictions", set("Deletable", false)))\(record("FilterRestrictions", set("Filterable", false)))
      \(record("SortRestrictions", set("Sortable", false)))\(record("ExpandRestrictions", set("Expandable", false)))
      \(record("CountRestrictions", set("Countable", false)))\(record("SearchRestrictions", set("Searchable", false)))
      \(record("SelectSupport", set("Supported", false)))\(tag("TopSupported"))\(tag("SkipSupported"))
      \(tag("IndexableByKey"))</EntitySet>
    <EntitySet Name="Hidden" EntityType="S.Book">\(record("ReadRestrictions", set("Readable", false)
      + "<PropertyValue Property=\"ReadByKeyRestrictions\"><Record>\(set("Readable", true))</Record></PropertyValue>"))
    </EntitySet></EntityContainer>
    <Annotations Target="S.C/Plans/Notes">\(record("InsertRestrictions", set("Insertable", false)))
      \(record("FilterRestrictions", paths("NonFilterableProperties", "A")))</Annotations>
    </Schema></edmx:DataServices></edmx:Edmx>
    """

  private static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="2.0">
    <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm" xmlns:sap="http://www.sap.com/Protocols/SAPData">
    <EntityType Name="Book"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false" sap:updatable="false" sap:filterable="true"/>
      <Property Name="A" Type="Edm.String" sap:filterable="false" sap:sortable="false" sap:creatable="false"/>
      <Property Name="B" Type="Edm.String" sap:updatable="false"/>
      <NavigationProperty Name="Logs" Relationship="S.BookLogs" FromRole="Book" ToRole="Log"/>
      <NavigationProperty Name="Origin" Relationship="S.BookLogs" FromRole="Log" ToRole="Book"/>
      <NavigationProperty Name="Shared" Relationship="S.Shared" FromRole="Left" ToRole="Right"/></EntityType>
    <Association Name="BookLogs"><End Type="S.Book" Role="Book" Multiplicity="1"/><End Type="S.Book" Role="Log" Multiplicity="*"/>
    </Association>
    <Association Name="Shared"><End Type="S.Book" Role="Left" Multiplicity="*"/><End Type="S.Book" Role="Right" Multiplicity="*"/>
    </Association>
    <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Plant" Type="Edm.String" sap:required-in-filter="true"/></EntityType>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Books" EntityType="S.Book"/>
    <EntitySet Name="Items" EntityType="S.Item" sap:requires-filter="true"/>
    <EntitySet Name="Logs" EntityType="S.Book" sap:creatable="false" sap:updatable="false" sap:deletable="false"
      sap:searchable="false" sap:countable="false" sap:pageable="false" sap:topable="false" sap:addressable="false"/>
    <AssociationSet Name="BookLogSet" Association="S.BookLogs"><End EntitySet="Books" Role="Book"/><End EntitySet="Logs" Role="Log"/>
    </AssociationSet>
    <AssociationSet Name="SharedSet" Association="S.Shared"><End EntitySet="Books" Role="Left"/><End EntitySet="Logs" Role="Right"/>
    </AssociationSet>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  /// Runs a test with a store on a service that accepts everything.
  private func withStore(
    _ metadata: String = v4, checks: Bool = true,
    _ body: (OnlineODataStore, StubService) async throws -> Void
  ) async throws {
    let isV4 = metadata.contains("edmx:Edmx Version=\"4.0\"")
    let version = isV4 ? ("OData-Version", "4.0") : ("DataServiceVersion", "2.0")
    let service = StubService(
      { _ in .status(204) },
      metadata: .ok(metadata, ["Content-Type": "application/xml", .init(version.0): version.1]))
    var options = OnlineStoreOptions()
    options.conversation.retry = .never
    options.checksRestrictions = checks
    let root = try #require(URL(string: "http://\(UUID().uuidString.lowercased()).test/service/"))
    let store = try OnlineODataStore(serviceRoot: root, transport: service, options: options)
    try await store.open()
    try await body(store, service)
    try await store.close()
  }

  private func problem(_ body: () async throws -> Void) async -> String {
    do { try await body() } catch let error as ODataServiceError {
      guard case .invalidRequest(let text) = error.category else { return "\(error)" }
      return String(text.prefix { $0 != ";" })
    } catch { return "\(error)" }
    return "sent"
  }

  private static func entity(_ properties: (String, ODataValue)...) -> ODataEntity {
    ODataEntity(properties: properties.map { ODataProperty($0.0, $0.1) })
  }

  private static var author: ODataEntity {
    var link = ODataNavigationLink(name: "Author")
    link.bindings = ["Books(1)"]
    return ODataEntity(navigationLinks: [link])
  }

  private static let rejectedChanges: [(ODataSingleRequest, String)] = [
    (.create(entity(("AuthorID", .int32(1))), in: "Books"), "sent"),
    (.create(author, in: "Books"), "sent"),
    (
      .create(entity(), in: "Books"),
      "Books: a new entity needs a value for AuthorID (Capabilities.InsertRestrictions/RequiredProperties)"
    ),
    (
      .create(entity(("AuthorID", .int32(1)), ("A", .string("x"))), in: "Books"),
      "Books: A cannot be set in a new entity (Capabilities.InsertRestrictions/NonInsertableProperties)"
    ),
    (.create(entity(("AuthorID", .int32(1)), ("A", .null)), in: "Books"), "sent"),
    (.update("Books(1)", to: entity(("ID", .int32(1)), ("A", .string("x")))), "sent"),
    (
      .update("Books(1)", to: entity(("B", .string("x")))),
      "Books: B cannot be changed (Capabilities.UpdateRestrictions/NonUpdatableProperties)"
    ),
    (.update("Books(1)", to: entity(("B", .string("x"))), method: .replace), "sent"),
    (
      .update("Books(1)", to: author),
      "Books: Author cannot be changed (Capabilities.UpdateRestrictions/NonUpdatableNavigationProperties)"
    ),
    (
      ODataSingleRequest(
        .update(.replace), "Books(1)/Shop/City", body: .properties([ODataProperty("value", .string("x"))])),
      "Books: Shop/City cannot be changed (Capabilities.UpdateRestrictions/NonUpdatableProperties)"
    ),
    (.delete("Books(1)/Shop/Zip"), "sent"),
    (.delete("Books(1)/B"), "Books: B cannot be changed (Capabilities.UpdateRestrictions/NonUpdatableProperties)"),
    (
      .updateLink("Books(1)/Author/$ref", to: "Books(2)"),
      "Books/Author: links cannot be changed (Capabilities.UpdateRestrictions/NonUpdatableNavigationProperties)"
    ),
    (.createLink("Books(1)/Notes/$ref", to: "Notes(2)"), "sent"),
    // What a set says of its navigation property overrides what the other set says.
    (.create(entity(), in: "Notes"), "Notes: entities cannot be created (Capabilities.InsertRestrictions/Insertable)"),
    (.create(entity(), in: "Books(1)/Notes"), "sent"),
    (
      .create(entity(), in: "Drafts(1)/Notes"),
      "Drafts/Notes: entities cannot be created (Capabilities.InsertRestrictions/Insertable)"
    ),
    (.delete("Notes(1)"), "sent"),
    (
      .delete("Books(1)/Notes(2)"),
      "Books/Notes: entities cannot be deleted (Capabilities.NavigationRestrictions/DeleteRestrictions/Deletable)"
    ),
    (.delete("Books(1)/Notes(2)/$ref"), "sent"), (.delete("Books(1)/Notes/$ref?$id=Notes(2)"), "sent"),
    (
      .delete("Books(1)/Author/$ref"),
      "Books/Author: links cannot be changed (Capabilities.UpdateRestrictions/NonUpdatableNavigationProperties)"
    ),
    // A value by path is decided by the service.
    (.create(entity(), in: "Trips(1)/Notes"), "sent"), (.delete("Trips(1)/Notes(2)"), "sent"),
    (
      .update("Trips(1)/Notes(2)", to: entity(("A", .null))),
      "Trips/Notes: entities cannot be updated (Capabilities.UpdateRestrictions/Updatable)"
    ),
    (
      .create(entity(), in: "Trips(1)/Author/Notes"),
      "Trips/Author/Notes: entities cannot be created "
        + "(Capabilities.NavigationRestrictions/InsertRestrictions/Insertable)"
    ),
    (.create(entity(), in: "Drafts(1)/Author/Notes"), "sent"),
    (.create(entity(), in: "Trips(1)/S.Novel/Parts"), "sent"),
    (
      .delete("Trips(1)/S.Novel/Parts(2)"),
      "Trips/Parts: entities cannot be deleted (Capabilities.DeleteRestrictions/Deletable)"
    ),
    // What a path says about updates also applies to the links of its entities.
    (.updateLink("Trips(1)/Author/Copies(2)/Author/$ref", to: "Books(2)"), "sent"),
    (
      .updateLink("Trips(1)/Copies(2)/Author/$ref", to: "Books(2)"),
      "Trips/Copies/Author: links cannot be changed (Capabilities.UpdateRestrictions/NonUpdatableNavigationProperties)"
    ),
    // Its annotation replaces the set's.
    (.create(entity(("A", .string("x")), ("B", .string("x"))), in: "Trips(1)/Copies"), "sent"),
    (
      .create(entity(("AuthorID", .int32(1))), in: "Trips(1)/Copies"),
      "Trips/Copies: a new entity needs a value for B "
        + "(Capabilities.NavigationRestrictions/InsertRestrictions/RequiredProperties)"
    ),
    (
      .create(entity(), in: "Plans(1)/Notes"),
      "Plans/Notes: entities cannot be created (Capabilities.InsertRestrictions/Insertable)"
    ),
    // The path says who the author is.
    (.create(entity(), in: "Drafts(1)/Copies"), "sent"),
    (.create(entity(), in: "Logs"), "Logs: entities cannot be created (Capabilities.InsertRestrictions/Insertable)"),
    (
      .update("Logs(1)", to: entity(("A", .null))),
      "Logs: entities cannot be updated (Capabilities.UpdateRestrictions/Updatable)"
    ),
    (.delete("Logs(1)"), "Logs: entities cannot be deleted (Capabilities.DeleteRestrictions/Deletable)"),
    (.create(entity(), in: "Drafts"), "sent"),
    // The service computes the other required property.
    (.create(entity(("A", .string("x"))), in: "Stamps"), "sent"),
    (
      .create(entity(), in: "Stamps"),
      "Stamps: a new entity needs a value for A (Capabilities.InsertRestrictions/RequiredProperties)"
    ),
    // What the model does not describe is left to the service.
    (.create(entity(), in: "Unknown"), "sent"), (.delete("https://elsewhere.test/Logs(1)"), "sent"),
  ]

  @Test("a change that the metadata do not allow is not sent", arguments: rejectedChanges)
  func changes(_ request: ODataSingleRequest, _ expected: String) async throws {
    try await withStore { store, service in
      #expect(await problem { _ = try await store.execute(single: request) } == expected)
      #expect(service.requests.count == (expected == "sent" ? 1 : 0))
    }
  }

  private static let rejectedSAPChanges: [(ODataSingleRequest, String)] = [
    (.create(entity(), in: "Logs"), "Logs: entities cannot be created (sap:creatable)"),
    // A log belongs to one book, and is created through it. A shared one is not.
    (.create(entity(), in: "Books(1)/Logs"), "sent"),
    (
      .create(entity(("A", .string("x"))), in: "Books(1)/Logs"),
      "Books/Logs: A cannot be set in a new entity (sap:creatable)"
    ),
    (.create(entity(), in: "Books(1)/Shared"), "Books/Shared: entities cannot be created (sap:creatable)"),
    (.update("Logs(1)", to: entity()), "Logs: entities cannot be updated (sap:updatable)"),
    (.delete("Logs(1)"), "Logs: entities cannot be deleted (sap:deletable)"),
    (.create(entity(("A", .string("x"))), in: "Books"), "Books: A cannot be set in a new entity (sap:creatable)"),
    (
      .update("Books(1)", to: entity(("ID", .int32(1)), ("B", .string("x")))),
      "Books: B cannot be changed (sap:updatable)"
    ),
    (.update("Books(1)", to: entity(("ID", .int32(1)), ("A", .string("x")))), "sent"),
  ]

  @Test("a change that SAP's attributes do not allow is not sent", arguments: rejectedSAPChanges)
  func sapChanges(_ request: ODataSingleRequest, _ expected: String) async throws {
    try await withStore(Self.v2) { store, service in
      #expect(await problem { _ = try await store.execute(single: request) } == expected)
      #expect(service.requests.count == (expected == "sent" ? 1 : 0))
    }
  }

  @Test("a creation is sent with a property that the request allows")
  func allowed() async throws {
    try await withStore { store, service in
      var request = ODataSingleRequest.create(Self.entity(("AuthorID", .int32(1)), ("A", .string("x"))), in: "Books")
      request.allowedProperties = ["A"]
      _ = try await store.execute(single: request)
      #expect(service.requests.count == 1)
    }
  }

  @Test("a batch with a change that the metadata do not allow is not sent")
  func batch() async throws {
    try await withStore { store, service in
      let batch = ODataBatchRequest([.changeSet([.delete("Books(1)"), .delete("Logs(1)")])])
      let text = "Logs: entities cannot be deleted (Capabilities.DeleteRestrictions/Deletable)"
      #expect(await problem { _ = try await store.execute(batch: batch) } == text)
      #expect(service.requests.isEmpty)
    }
  }

  private static let rejectedQueries: [(String, String)] = [
    ("Drafts?$filter=A eq 'x'&$orderby=A desc&$expand=Author&$top=1&$skip=1&$search=x&$count=true&$select=A", "sent"),
    ("Books?$filter=B eq 'x' and Shop/Zip eq 'x'&$orderby=B", "sent"),
    (
      "Books?$filter=contains(tolower(A),'x')",
      "Books cannot be filtered by A (Capabilities.FilterRestrictions/NonFilterableProperties)"
    ),
    (
      "Books?$filter=not (B eq 'x' or Shop/City eq 'x')",
      "Books cannot be filtered by Shop/City (Capabilities.FilterRestrictions/NonFilterableProperties)"
    ),
    (
      "Books?$filter=Author/B eq 'x'",
      "Books cannot be filtered by Author/B (Capabilities.FilterRestrictions/NonFilterableProperties)"
    ),
    ("Books?$filter=Notes/any(n:n/A eq 'x')", "sent"),
    (
      "Books?$filter=Notes/any(n:n/A eq $it/A)",
      "Books cannot be filtered by A (Capabilities.FilterRestrictions/NonFilterableProperties)"
    ),
    (
      "Books/$count?$filter=A eq 'x'",
      "Books cannot be filtered by A (Capabilities.FilterRestrictions/NonFilterableProperties)"
    ),
    ("Books?$orderby=B,A", "Books cannot be sorted by A (Capabilities.SortRestrictions/NonSortableProperties)"),
    (
      "Books?$orderby=B desc",
      "Books can be sorted by B only in ascending order (Capabilities.SortRestrictions/AscendingOnlyProperties)"
    ),
    (
      "Books?$expand=Author",
      "Books does not allow expanding Author (Capabilities.ExpandRestrictions/NonExpandableProperties)"
    ),
    (
      "Books(1)?$expand=Author",
      "Books does not allow expanding Author (Capabilities.ExpandRestrictions/NonExpandableProperties)"
    ),
    (
      "Books?$expand=Notes($expand=Author)",
      "Books can be expanded by 1 levels at most (Capabilities.ExpandRestrictions/MaxLevels)"
    ),
    (
      "Books?$expand=Notes($filter=A eq 'x')",
      "Books/Notes cannot be filtered (Capabilities.NavigationRestrictions/FilterRestrictions/Filterable)"
    ),
    (
      "Books(1)/Notes?$filter=A eq 'x'",
      "Books/Notes cannot be filtered (Capabilities.NavigationRestrictions/FilterRestrictions/Filterable)"
    ),
    (
      "Books?$expand=Notes($count=true)",
      "Books does not allow counting Notes (Capabilities.CountRestrictions/NonCountableNavigationProperties)"
    ),
    ("Notes", "Notes can be read only with a filter (Capabilities.FilterRestrictions/RequiresFilter)"),
    (
      "Notes?$filter=B eq 'x'",
      "Notes can be read only with a filter by A (Capabilities.FilterRestrictions/RequiredProperties)"
    ),
    ("Notes?$filter=A eq 'x'", "sent"), ("Notes(1)", "sent"), ("Drafts?$expand=Notes", "sent"),
    ("Logs", "sent"), ("Logs(1)", "Logs cannot be read by key (Capabilities.IndexableByKey)"),
    ("Logs?$filter=A eq 'x'", "Logs cannot be filtered (Capabilities.FilterRestrictions/Filterable)"),
    ("Logs?$orderby=A", "Logs cannot be sorted (Capabilities.SortRestrictions/Sortable)"),
    ("Logs?$expand=Author", "Logs cannot be expanded (Capabilities.ExpandRestrictions/Expandable)"),
    ("Logs?$count=true", "Logs cannot be counted (Capabilities.CountRestrictions/Countable)"),
    ("Logs/$count", "Logs cannot be counted (Capabilities.CountRestrictions/Countable)"),
    ("Logs?$search=x", "Logs cannot be searched (Capabilities.SearchRestrictions/Searchable)"),
    ("Logs?$select=A", "Logs cannot be read with $select (Capabilities.SelectSupport/Supported)"),
    ("Logs?$top=1", "Logs cannot be read with $top (Capabilities.TopSupported)"),
    ("Logs?$skip=1", "Logs cannot be read with $skip (Capabilities.SkipSupported)"),
    ("Hidden", "Hidden cannot be read (Capabilities.ReadRestrictions/Readable)"), ("Hidden(1)", "sent"),
    ("Hidden(1)/S.Novel", "sent"), ("Drafts?$expand=Notes($select=A)", "sent"), ("Drafts(1)/Notes", "sent"),
    (
      "Plans?$expand=Notes($filter=A eq 'x')",
      "Plans/Notes cannot be filtered by A (Capabilities.FilterRestrictions/NonFilterableProperties)"
    ),
    (
      "Plans(1)/Notes?$filter=A eq 'x'",
      "Plans/Notes cannot be filtered by A (Capabilities.FilterRestrictions/NonFilterableProperties)"
    ),
    ("Plans?$expand=Notes($filter=B eq $it/A)", "sent"),
    ("Trips(1)/Copies", "sent"),
    (
      "Trips(1)/Author/Copies",
      "Trips/Author/Copies cannot be read (Capabilities.NavigationRestrictions/ReadRestrictions/Readable)"
    ),
    ("Trips(1)/S.Novel/Parts?$filter=A eq 'x'", "sent"),
    (
      "Trips(1)/Notes?$filter=A eq 'x'", "Trips/Notes cannot be filtered (Capabilities.FilterRestrictions/Filterable)"
    ),
    ("Unknown?$filter=A eq 'x'", "sent"),
  ]

  @Test("a query that the metadata do not allow is rejected", arguments: rejectedQueries)
  func queries(_ query: String, _ expected: String) async throws {
    try await withStore { store, _ in
      #expect(await problem { try store.check(query: query) } == expected)
    }
  }

  private static let rejectedSAPQueries: [(String, String)] = [
    ("Books?$filter=ID eq 1&$orderby=B", "sent"),
    ("Books?$filter=A eq 'x'", "Books cannot be filtered by A (sap:filterable)"),
    ("Books?$orderby=A", "Books cannot be sorted by A (sap:sortable)"),
    ("Items", "Items can be read only with a filter (sap:requires-filter)"),
    ("Items?$filter=ID eq 1", "Items can be read only with a filter by Plant (sap:required-in-filter)"),
    ("Items?$filter=Plant eq 'x'", "sent"), ("Items(1)", "sent"),
    ("Logs", "Logs can be read only through navigation properties (sap:addressable)"), ("Logs(1)", "sent"),
    ("Books(1)/Logs", "sent"), ("Books(1)/Logs?$top=1", "Books/Logs cannot be read with $top (sap:topable)"),
  ]

  @Test("a query that SAP's attributes do not allow is rejected", arguments: rejectedSAPQueries)
  func sapQueries(_ query: String, _ expected: String) async throws {
    try await withStore(Self.v2) { store, _ in
      #expect(await problem { try store.check(query: query) } == expected)
    }
  }

  @Test("typed queries that the metadata do not allow are not sent; reads by URL are")
  func typed() async throws {
    try await withStore { store, service in
      let (books, logs) = (Self.books(store, "Books"), Self.books(store, "Logs"))
      let filter = "Books cannot be filtered by A (Capabilities.FilterRestrictions/NonFilterableProperties)"
      let closed = books.filter { $0.a == "x" }
      #expect(await problem { _ = try await closed.all() } == filter)
      #expect(await problem { _ = try await closed.first() } == filter)
      #expect(await problem { _ = try await closed.count() } == filter)
      #expect(await problem { _ = try closed.reading() } == filter)
      #expect(await problem { for try await _ in closed.pages() {} } == filter)
      #expect(await problem { for try await _ in closed.live() {} } == filter)
      #expect(
        await problem { _ = try await logs.count() }
          == "Logs cannot be counted (Capabilities.CountRestrictions/Countable)")
      #expect(service.requests.isEmpty)
      _ = try await store.execute(single: .read("Books?$filter=A eq 'x'"))
      #expect(service.requests.count == 1)
    }
  }

  @Test("only the changes of a typed batch that the metadata do not allow fail")
  func typedBatch() async throws {
    try await withStore { store, service in
      service.respond { _ in
        .ok(#"{"responses":[{"id":"1","status":204}]}"#)
      }
      let drafts = ODataEntitySet<Book>(store, ODataQuery("Drafts"))
      let logs = ODataEntitySet<Book>(store, ODataQuery("Logs"))
      let results = try await store.batch(logs[1].deleting(), drafts[1].deleting())
      #expect(
        await problem { try results.0.get() }
          == "Logs: entities cannot be deleted (Capabilities.DeleteRestrictions/Deletable)")
      try results.1.get()
      #expect(service.requests.count == 1)
      #expect(await problem { try await store.batch(logs[1].deleting(), logs[2].deleting()).0.get() } != "sent")
      #expect(service.requests.count == 1)
    }
  }

  @Test("the first entity is read without $top if the metadata do not allow it")
  func first() async throws {
    try await withStore { store, service in
      service.respond { request in
        switch request.url.query(percentEncoded: false) {
        case nil: .ok(#"{"value":[],"@odata.nextLink":"Logs?$skiptoken=next"}"#)
        case "$skiptoken=next": .ok(#"{"value":[{"ID":1}]}"#)
        default: .ok(#"{"value":[]}"#)
        }
      }
      let first = try await Self.books(store, "Logs").first()
      #expect(first?.id == 1)
      let none = try await Self.books(store, "Drafts").first()
      #expect(none == nil)
      let queries = service.requests.map { $0.url.query(percentEncoded: false) }
      #expect(queries == [nil, "$skiptoken=next", "$top=1"])
    }
  }

  @Test("a passive store reads from its cache what the metadata do not allow")
  func passive() async throws {
    let rig = try StoreRig { _ in .ok(#"{"value":[{"ID":1}]}"#) }
    rig.service.setMetadata(Self.v4)
    let store = try await rig.openStore()
    _ = try await store.execute(single: .read("Books?$filter=A eq 'x'"))
    try store.setPassive(true)
    #expect(try await Self.books(store, "Books").filter { $0.a == "x" }.all().map(\.id) == [1])
    try await store.close()
  }

  @Test("a rejection by cached metadata requests the service's, which may allow the change by now")
  func refreshed() async throws {
    let rig = try StoreRig { _ in .status(204) }
    rig.service.setMetadata(Self.v4)
    let first = try await rig.openStore()
    try await first.close()
    rig.service.setMetadata(
      Self.v4.replacingOccurrences(of: "Deletable\" Bool=\"false", with: "Deletable\" Bool=\"true"))
    let store = try await rig.openStore()
    #expect(rig.service.metadataRequests == 1)
    #expect(await problem { _ = try await store.execute(single: .delete("Logs(1)")) } != "sent")
    while await problem({ _ = try await store.execute(single: .delete("Logs(1)")) }) != "sent" { await Task.yield() }
    #expect(rig.service.metadataRequests == 2)
    try await store.close()
    // Closing has waited until the new metadata were stored.
    let next = try await rig.openStore()
    #expect(await problem { _ = try await next.execute(single: .delete("Logs(1)")) } == "sent")
    try await next.close()
  }

  @Test("a store that does not check restrictions sends everything")
  func unchecked() async throws {
    try await withStore(checks: false) { store, service in
      _ = try await store.execute(single: .delete("Logs(1)"))
      #expect(await problem { try store.check(query: "Logs(1)") } == "sent")
      #expect(service.requests.count == 1)
    }
  }

  private static func books(_ store: OnlineODataStore, _ set: String) -> ODataEntitySet<RestrictedBook> {
    ODataEntitySet(store, ODataQuery(set))
  }
}

struct RestrictedBook: ODataDescribed, Decodable, Sendable {
  static let odataTypeName = "S.Book"
  let id: Int

  private enum CodingKeys: String, CodingKey { case id = "ID" }

  struct Fields: ODataFields {
    var a: Field<String> { .init("A") }
  }
}
