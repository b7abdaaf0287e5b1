import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("The content of changes, from JSON", .timeLimit(.minutes(1)))
struct ChangeContentTests {
  /// A change with its content, as the provider makes it.
  private func change(
    _ operation: ODataSingleRequest.Operation, _ path: String, _ json: String, _ rig: ChangeRig
  ) async throws -> ODataSingleRequest {
    let store = rig.store
    var request = ODataSingleRequest(operation, path)
    let content = try await store.read { snapshot in
      try ChangeContent(of: path, isAction: operation == .invokeAction, store.changing(snapshot.plan))
    }
    try content.read(Array(json.utf8), into: &request)
    return request
  }

  @Test("An entity has the types of the set, a property's value that of the property, alone or in an object")
  func values() async throws {
    let rig = try await ChangeMakingTests.filled()
    let created = try await change(
      .create, "Customers", #"{"Name":"Cyd","Credit":1.25,"Mails":["a","b"],"Home":{"City":"Rom"}}"#, rig)
    guard case .entity(let entity) = created.body else {
      Issue.record("\(created.body)")
      return
    }
    #expect(entity["Credit"]?.type == .decimal)
    #expect(entity["Mails"] == .collection([.string("a"), .string("b")]))
    try await rig.change(created)
    for (path, json, expected) in [
      ("Customers(1)/Name", #""N""#, "N"), ("Customers(1)/Name", #"{"value":"M"}"#, "M"),
      ("Customers(1)/Home", #"{"City":"Bonn"}"#, "M"), ("Customers(1)/Mails", #"["x","y"]"#, "M"),
    ] {
      try await rig.change(try await change(.update(.patch), path, json, rig))
      #expect(try await rig.rows.rows("SELECT Name FROM {Customers} WHERE ID = 1") == [expected], "\(path)")
    }
    #expect(
      try await rig.rows.rows("SELECT \"Home/City\", \"Home/Zip\", Mails FROM {Customers} WHERE ID = 1")
        == [#"Bonn|89|["x","y"]"#])
    // What is no complex value is replaced as a whole: a PATCH of it is no request of OData.
    #expect(
      try await rig.queue().suffix(4).map { $0.split(separator: " ")[1] }
        == ["replaceProperty", "replaceProperty", "patchProperty", "replaceProperty"])
  }

  @Test("Before V4 the value of a property has its name: a value with another name is not read as the property")
  func names() async throws {
    let rig = try await ChangeRig(Self.v2)
    try await rig.rows.load(
      "Heads", #"{"d":{"results":[{"No":"A","Name":"n","Price":"5","Home":{"City":"Bonn","Zip":"5"}}]}}"#, version: .v2)
    let path = "Heads('A')/Name"
    for json in [#"{"Price":"7"}"#, #"{"d":{"Price":"7"}}"#, #"{"Nmae":"7"}"#] {
      let error = await #expect(throws: OfflineODataError.self, "\(json)") {
        try await change(.update(.patch), path, json, rig)
      }
      #expect(error?.name == .unknownProperty, "\(json)")
      #expect(error?.errorMessage.contains("Name") == true)
    }
    for (json, text) in [
      (#""a""#, "a"), (#"{"Name":"b"}"#, "b"), (#"{"d":{"Name":"c"}}"#, "c"), (#"{"value":"d"}"#, "d"),
    ] {
      try await rig.change(try await change(.update(.patch), path, json, rig))
      #expect(try await rig.rows.rows("SELECT Name FROM {Heads}") == [text])
    }
    // A complex value stands under its name, or alone.
    for (json, row) in [
      (#"{"Home":{"City":"Rom"}}"#, "Rom"), (#"{"City":"Ulm"}"#, "Ulm"), (#"{"City":"Kiel","Zip":"2"}"#, "Kiel"),
    ] {
      try await rig.change(try await change(.update(.patch), "Heads('A')/Home", json, rig))
      #expect(try await rig.rows.rows("SELECT \"Home/City\" FROM {Heads}") == [row])
    }
  }

  private static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.String"/></ComplexType>
    <EntityType Name="Head"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.String" Nullable="false"/>
      <Property Name="Name" Type="Edm.String"/><Property Name="Price" Type="Edm.Decimal"/>
      <Property Name="Home" Type="N.Place" Nullable="false"/></EntityType>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Heads" EntityType="N.Head"/>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  @Test(
    "What cannot be read is reported with its place",
    arguments: [
      ("Customers", "{\"Name\":\"x\",}", 12), ("Customers", "{\"Level\":\"x\"}", 10), ("Customers", "[1]", 0),
      ("Customers", " 5", 1), ("Customers(1)/Level", "\"x\"", 0), ("Customers(1)/Name", "x", 0),
      ("Customers", "", 0),
    ])
  func places(_ path: String, _ json: String, _ offset: Int) async throws {
    let rig = try await ChangeMakingTests.filled()
    let isSet = path == "Customers"
    do {
      _ = try await change(isSet ? .create : .update(.patch), path, json, rig)
      Issue.record("it was read")
    } catch let error as PayloadError {
      #expect(error.offset == offset, "\(error)")
    }
  }

  @Test("An unknown name is reported with the nearest: of an entity, a complex value, a parameter")
  func nearest() async throws {
    let rig = try await ChangeMakingTests.filled()
    for (operation, path, json, name) in [
      (.create, "Customers", #"{"Nmae":"x"}"#, "Name"), (.create, "Customers", #"{"Ordrs":[]}"#, "Orders"),
      (.update(.patch), "Customers(1)", #"{"Home":{"Ctiy":"x"}}"#, "City"),
      (.invokeAction, "Orders(\(ChangeMakingTests.order))/N.Close", #"{"Reson":"x"}"#, "Reason"),
    ] as [(ODataSingleRequest.Operation, String, String, String)] {
      let request = try await change(operation, path, json, rig)
      do throws(OfflineODataError) {
        _ = try await rig.store.change(request)
        Issue.record("\(json) was taken")
      } catch {
        #expect(error.name == .unknownProperty)
        #expect(error.errorMessage.contains("did you mean '\(name)'?"), "\(error)")
      }
    }
    #expect(try await rig.queue().isEmpty)
  }

  @Test("The parameters of an action have their declared types, and a wrong one is rejected before it is queued")
  func parameters() async throws {
    let rig = try await ChangeMakingTests.filled()
    let path = "Orders(\(ChangeMakingTests.order))/N.Close"
    try await rig.change(try await change(.invokeAction, path, #"{"Reason":"done"}"#, rig))
    let wrong = try await change(.invokeAction, path, #"{"Reason":5}"#, rig)
    #expect(await rig.failure(wrong) == .invalidValue)
    // What it cannot do without is missed here, not at the service.
    #expect(await rig.failure(.invokeAction("Orders(\(ChangeMakingTests.order))/N.Move")) == .nullNotAllowed)
    // The parameters of an action, one of them an entity.
    let entities = ODataSingleRequest(.invokeAction, path, body: .entity(ODataEntity()))
    #expect(await rig.failure(entities) == nil)
    #expect(try await rig.queue().count == 2)
  }

  @Test("An entity that is missing, exists already, or has changed is reported by its path")
  func paths() async throws {
    let rig = try await ChangeMakingTests.filled()
    let key: [ODataProperty] = [.init("ID", .int32(1)), .init("Name", .string("x"))]
    for (request, words) in [
      (.delete("Customers(9)"), "There is no such entity in the store: Customers(9)."),
      (
        .create(ODataEntity(properties: key), in: "Customers"),
        "There is already an entity with this key: Customers(1)."
      ),
      (.delete("Customers(1)", ifMatch: "W/\"0\""), "The entity has changed since its ETag was read: Customers(1)."),
    ] as [(ODataSingleRequest, String)] {
      do throws(OfflineODataError) {
        _ = try await rig.store.change(request)
        Issue.record("it was taken")
      } catch {
        #expect(error.errorMessage.hasPrefix(words), "\(error)")
      }
    }
  }

  @Test("The bytes of an entity go to its $value, whether the path says so or not")
  func media() async throws {
    let rig = try await ChangeMakingTests.filled()
    try await rig.rows.load("Pictures", #"{"value":[{"Name":"red"}]}"#)
    for path in ["Pictures('red')", "Pictures('red')/$value"] {
      try await rig.change(.updateMedia(path, to: .bytes([1, 2], contentType: "image/gif")))
    }
    #expect(
      try await rig.queue() == [
        "1/1 updateMedia Pictures#$value 2 bytes of image/gif",
        "2/2 updateMedia Pictures#$value 2 bytes of image/gif <1",
      ])
  }
}
