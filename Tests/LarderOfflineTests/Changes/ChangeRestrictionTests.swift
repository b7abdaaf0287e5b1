import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("What a model does not let be changed, and what a deletion does", .timeLimit(.minutes(1)))
struct ChangeRestrictionTests {
  // MARK: Restrictions

  private static func record(_ term: String, _ members: String) -> String {
    "<Annotation Term=\"Org.OData.Capabilities.V1.\(term)\"><Record>\(members)</Record></Annotation>"
  }

  private static func paths(_ name: String, _ kind: String, _ path: String) -> String {
    "<PropertyValue Property=\"\(name)\"><Collection><\(kind)>\(path)</\(kind)></Collection></PropertyValue>"
  }

  private static func off(_ name: String) -> String { "<PropertyValue Property=\"\(name)\" Bool=\"false\"/>" }

  private static let restricted = ReplicaRig.v4(
    """
    <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.String"/></ComplexType>
    <EntityType Name="Firm"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Name" Type="Edm.String"/><Property Name="Rank" Type="Edm.Int32"/><Property Name="Code" Type="Edm.String"/>
      <Property Name="Seat" Type="N.Place"/><Property Name="Logo" Type="Edm.Stream"/>
      <NavigationProperty Name="Staff" Type="Collection(N.Person)" Partner="Firm"/>
      <NavigationProperty Name="Owner" Type="N.Person"/><NavigationProperty Name="Rival" Type="N.Firm"/>
      <NavigationProperty Name="Notes" Type="Collection(N.Note)" ContainsTarget="true">
        \(record("DeleteRestrictions", off("Deletable")))</NavigationProperty></EntityType>
    <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Name" Type="Edm.String"/><NavigationProperty Name="Firm" Type="N.Firm" Partner="Staff"/></EntityType>
    <EntityType Name="Note"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Text" Type="Edm.String"/></EntityType>
    """,
    container: """
      <EntitySet Name="Firms" EntityType="N.Firm"><NavigationPropertyBinding Path="Staff" Target="People"/>
        <NavigationPropertyBinding Path="Owner" Target="People"/><NavigationPropertyBinding Path="Rival" Target="Firms"/>
        \(record("InsertRestrictions",
          paths("NonInsertableProperties", "PropertyPath", "Rank")
          + paths("NonInsertableNavigationProperties", "NavigationPropertyPath", "Owner")
          + paths("RequiredProperties", "PropertyPath", "Name")))
        \(record("UpdateRestrictions",
          paths("NonUpdatableProperties", "PropertyPath", "Code").replacing(
            "</Collection>", with: "<PropertyPath>Seat/City</PropertyPath><PropertyPath>Logo</PropertyPath></Collection>")
          + paths("NonUpdatableNavigationProperties", "NavigationPropertyPath", "Rival")
          + "<PropertyValue Property=\"UpdateMethod\" EnumMember=\"Org.OData.Capabilities.V1.HttpMethod/PATCH\"/>"))
        \(record("DeleteRestrictions", paths("NonDeletableNavigationProperties", "NavigationPropertyPath", "Owner")))
        \(record("NavigationRestrictions", """
          <PropertyValue Property="RestrictedProperties"><Collection>
          <Record><PropertyValue Property="NavigationProperty" NavigationPropertyPath="Staff"/>
            <PropertyValue Property="InsertRestrictions"><Record>\(off("Insertable"))</Record></PropertyValue></Record>
          <Record><PropertyValue Property="NavigationProperty" NavigationPropertyPath="Notes"/>
            <PropertyValue Property="UpdateRestrictions"><Record>
            \(paths("NonUpdatableProperties", "PropertyPath", "Text"))</Record></PropertyValue></Record>
          </Collection></PropertyValue>
          """))
      </EntitySet>
      <EntitySet Name="People" EntityType="N.Person"><NavigationPropertyBinding Path="Firm" Target="Firms"/></EntitySet>
      """)

  private func rig() async throws -> ChangeRig {
    let rig = try await ChangeRig(Self.restricted)
    try await rig.rows.load(
      "Firms",
      #"{"value":[{"ID":1,"Name":"A","Code":"c","Seat":{"City":"Ulm","Zip":"1"},"Notes":[{"No":1,"Text":"t"}]},{"ID":2,"Name":"B"}]}"#
    )
    try await rig.rows.load("People", #"{"value":[{"ID":1,"Name":"P"},{"ID":2,"Name":"Q"}]}"#)
    return rig
  }

  private func words(_ rig: ChangeRig, _ request: ODataSingleRequest) async -> String {
    do throws(OfflineODataError) { _ = try await rig.store.change(request) } catch {
      return (error.name.map { "\($0) " } ?? "") + error.errorMessage
    }
    return "done"
  }

  private func entity(_ values: (String, ODataValue)..., links: [ODataNavigationLink] = []) -> ODataEntity {
    ODataEntity(properties: values.map { ODataProperty($0.0, $0.1) }, navigationLinks: links)
  }

  private func bound(_ name: String, _ target: String) -> ODataNavigationLink {
    var link = ODataNavigationLink(name: name)
    link.bindings = [target]
    return link
  }

  @Test("A navigation property through which entities can be created overrides what their set says")
  func creationThroughNavigation() async throws {
    let people = "<EntitySet Name=\"People\" EntityType=\"N.Person\">"
    let closed = Self.record("InsertRestrictions", Self.off("Insertable"))
    let rig = try await ChangeRig(
      Self.restricted.replacing(Self.off("Insertable"), with: "<PropertyValue Property=\"Insertable\" Bool=\"true\"/>")
        .replacing(people, with: people + closed))
    try await rig.rows.load("Firms", #"{"value":[{"ID":1,"Name":"A"}]}"#)
    let person = entity(("ID", .int32(9)), ("Name", .string("x")))
    #expect(
      await words(rig, .create(person, in: "People"))
        .contains("People (Capabilities.InsertRestrictions/Insertable)"))
    #expect(await words(rig, .create(person, in: "Firms(1)/Staff")) == "done")
  }

  @Test("The properties that a navigation property restricts replace those of the set; computed ones are not required")
  func navigationLists() async throws {
    func record(_ members: String) -> String {
      "<Annotation Term=\"Org.OData.Capabilities.V1.InsertRestrictions\"><Record>\(members)</Record></Annotation>"
    }
    func paths(_ name: String, _ paths: String...) -> String {
      let items = paths.map { "<PropertyPath>\($0)</PropertyPath>" }.joined()
      return "<PropertyValue Property=\"\(name)\"><Collection>\(items)</Collection></PropertyValue>"
    }
    let model = ReplicaRig.v4(
      """
      <EntityType Name="Box"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Things" Type="Collection(N.Thing)"/></EntityType>
      <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="A" Type="Edm.String"/><Property Name="B" Type="Edm.String"/><Property Name="C" Type="Edm.String"/>
        <Property Name="Made" Type="Edm.String"><Annotation Term="Org.OData.Core.V1.Computed"/></Property></EntityType>
      <Annotations Target="N.C/Boxes/Things">\(record(paths("RequiredProperties", "B")))</Annotations>
      """,
      container: """
        <EntitySet Name="Boxes" EntityType="N.Box"><NavigationPropertyBinding Path="Things" Target="Things"/></EntitySet>
        <EntitySet Name="Things" EntityType="N.Thing">
          \(record(paths("NonInsertableProperties", "A") + paths("RequiredProperties", "C", "Made")))</EntitySet>
        """)
    let rig = try await ChangeRig(model)
    try await rig.rows.load("Boxes", #"{"value":[{"ID":1}]}"#)
    func create(_ path: String, _ id: Int32, _ names: String...) async -> String {
      let properties = [ODataProperty("ID", .int32(id))] + names.map { ODataProperty($0, .string("x")) }
      return await words(rig, .create(ODataEntity(properties: properties), in: path))
    }
    #expect(await create("Things", 1, "C") == "done")
    #expect(await create("Things", 2, "A", "C").contains("N.Thing/A (Capabilities.InsertRestrictions"))
    #expect(await create("Things", 2).contains("N.Thing/C (Capabilities.InsertRestrictions/RequiredProperties)"))
    #expect(await create("Boxes(1)/Things", 3, "A", "B") == "done")
    #expect(await create("Boxes(1)/Things", 4, "C").contains("N.Thing/B (Capabilities.InsertRestrictions"))
  }

  @Test("Each restriction is reported with the property and the annotation")
  func restrictions() async throws {
    let rig = try await rig()
    func seat(_ city: String) -> ODataValue {
      .complex(
        ODataComplexValue(properties: [ODataProperty("City", .string(city)), ODataProperty("Zip", .string("9"))]))
    }
    let logo = ODataRequestBody.bytes([1], contentType: "image/x")
    let cases: [(ODataSingleRequest, OfflineODataErrorName, String, String)] = [
      (
        .create(entity(("Name", .string("x")), ("Rank", .int32(1))), in: "Firms"), .readOnlyProperty, "N.Firm/Rank",
        "Capabilities.InsertRestrictions/NonInsertableProperties"
      ),
      (
        .create(entity(("Code", .string("x"))), in: "Firms"), .nullNotAllowed, "N.Firm/Name",
        "Capabilities.InsertRestrictions/RequiredProperties"
      ),
      (
        .create(entity(("Name", .string("x")), links: [bound("Owner", "People(1)")]), in: "Firms"), .insertRestricted,
        "Firms/Owner", "Capabilities.InsertRestrictions/NonInsertableNavigationProperties"
      ),
      (
        .create(entity(("Name", .string("x"))), in: "Firms(1)/Staff"), .insertRestricted, "Firms/Staff",
        "Capabilities.NavigationRestrictions/InsertRestrictions/Insertable"
      ),
      (
        .update("Firms(1)", to: entity(("Code", .string("d")))), .readOnlyProperty, "N.Firm/Code",
        "Capabilities.UpdateRestrictions/NonUpdatableProperties"
      ),
      (
        .update("Firms(1)", to: entity(("Seat", seat("Bonn")))), .readOnlyProperty, "N.Firm/Seat/City",
        "Capabilities.UpdateRestrictions/NonUpdatableProperties"
      ),
      (
        ODataSingleRequest(
          .update(.replace), "Firms(1)/Seat/City", body: .properties([ODataProperty("City", .string("Bonn"))])),
        .readOnlyProperty, "N.Firm/Seat/City", "Capabilities.UpdateRestrictions/NonUpdatableProperties"
      ),
      (
        ODataSingleRequest(.updateMedia, "Firms(1)/Logo", body: logo), .readOnlyProperty, "N.Firm/Logo",
        "Capabilities.UpdateRestrictions/NonUpdatableProperties"
      ),
      (
        .update("Firms(1)", to: entity(("Name", .string("n"))), method: .replace), .updateRestricted, "Firms",
        "Capabilities.UpdateRestrictions/UpdateMethod"
      ),
      (
        .update("Firms(1)", to: entity(links: [bound("Rival", "Firms(2)")])), .updateRestricted, "Firms/Rival",
        "Capabilities.UpdateRestrictions/NonUpdatableNavigationProperties"
      ),
      (
        .updateLink("Firms(1)/Rival/$ref", to: "Firms(2)"), .updateRestricted, "Firms/Rival",
        "Capabilities.UpdateRestrictions/NonUpdatableNavigationProperties"
      ),
      (
        .deleteLink("Firms(1)/Owner/$ref"), .deleteRestricted, "Firms/Owner",
        "Capabilities.DeleteRestrictions/NonDeletableNavigationProperties"
      ),
      (
        .update("Firms(1)/Notes(1)", to: entity(("Text", .string("u")))), .readOnlyProperty, "N.Note/Text",
        "Capabilities.NavigationRestrictions/UpdateRestrictions/NonUpdatableProperties"
      ),
      (.delete("Firms(1)/Notes(1)"), .deleteRestricted, "Firms/Notes", "Capabilities.DeleteRestrictions/Deletable"),
    ]
    for (request, name, what, annotation) in cases {
      let message = await words(rig, request)
      #expect(message.hasPrefix("\(name) ") && message.contains("\(what) (\(annotation))"), "\(message)")
    }
    for table in ["request", "effect", "base"] {
      #expect(try await rig.rows.rows("SELECT count(*) FROM larder_\(table)") == ["0"])
    }
  }

  @Test("What the same model allows, and what says only what is so")
  func allowed() async throws {
    let rig = try await rig()
    let same = ODataValue.complex(
      ODataComplexValue(properties: [ODataProperty("City", .string("Ulm")), ODataProperty("Zip", .string("9"))]))
    for request in [
      .create(entity(("Name", .string("x")), ("Code", .string("y")), links: [bound("Rival", "Firms(1)")]), in: "Firms"),
      .update("Firms(1)", to: entity(("Code", .string("c")), ("Seat", same), ("Rank", .int32(3)))),
      .updateLink("Firms(1)/Owner/$ref", to: "People(1)"), .createLink("Firms(1)/Staff/$ref", to: "People(2)"),
      .create(entity(("No", .int32(2)), ("Text", .string("t"))), in: "Firms(1)/Notes"), .delete("Firms(2)"),
    ] as [ODataSingleRequest] {
      #expect(await words(rig, request) == "done", "\(request.path)")
    }
    #expect(try await rig.read("Firms(1)/Seat/Zip/$value") == "9")
  }

  @Test("A media entity is made of its bytes alone: what is required of it comes behind them")
  func media() async throws {
    let rig = try await ChangeRig(
      ReplicaRig.v4(
        """
        <EntityType Name="Photo" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Title" Type="Edm.String"/></EntityType>
        """,
        container: """
          <EntitySet Name="Photos" EntityType="N.Photo">
            \(Self.record("InsertRestrictions", Self.paths("RequiredProperties", "PropertyPath", "Title")))</EntitySet>
          """))
    let message = await words(rig, .create(ODataEntity(), in: "Photos"))
    #expect(message.contains("createMedia"), "\(message)")
    #expect(await words(rig, .createMedia(.bytes([1, 2], contentType: "image/x"), in: "Photos")) == "done")
    #expect(try await rig.queue() == ["1/1 createMedia Photos 2 bytes of image/x"])
  }

  @Test("Each part of a complex value that does not change is compared, numbers as numbers")
  func parts() async throws {
    let rig = try await ChangeRig(
      ReplicaRig.v4(
        """
        <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.String"/>
          <Property Name="Rate" Type="Edm.Decimal" Scale="2"/><Property Name="Note" Type="Edm.String"/></ComplexType>
        <EntityType Name="Firm"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <Property Name="Seat" Type="N.Place"/></EntityType>
        """,
        container: """
          <EntitySet Name="Firms" EntityType="N.Firm">
            \(Self.record("UpdateRestrictions", Self.paths("NonUpdatableProperties", "PropertyPath", "Seat/City").replacing(
              "</Collection>",
              with: "<PropertyPath>Seat/Zip</PropertyPath><PropertyPath>Seat/Rate</PropertyPath></Collection>")))
          </EntitySet>
          """))
    try await rig.rows.load(
      "Firms", #"{"value":[{"ID":1,"Seat":{"City":"Ulm","Zip":"1","Rate":5.00,"Note":"n"}}]}"#)
    func seat(_ values: (String, ODataValue)...) -> ODataSingleRequest {
      let seat = ODataComplexValue(properties: values.map { ODataProperty($0.0, $0.1) })
      return .update("Firms(1)", to: entity(("Seat", .complex(seat))))
    }
    let reason = "(Capabilities.UpdateRestrictions/NonUpdatableProperties)"
    for (request, part) in [
      (seat(("City", .string("Ulm")), ("Zip", .string("2"))), "Zip"),
      (seat(("City", .string("Ulm")), ("Rate", .decimal(6))), "Rate"),
      (seat(("Zip", .null), ("City", .string("Ulm"))), "Zip"),
    ] {
      let message = await words(rig, request)
      #expect(message.contains("N.Firm/Seat/\(part) \(reason)"), "\(message)")
    }
    #expect(try await rig.queue() == [])
    let same = seat(
      ("City", .string("Ulm")), ("Rate", .decimal(ODataDecimal("5.0") ?? 0)), ("Zip", .string("1")),
      ("Note", .string("m")))
    #expect(await words(rig, same) == "done")
    #expect(try await rig.read("Firms(1)/Seat/Note/$value") == "m")
  }

  @Test("SAP's annotations of a set and of a navigation property")
  func sap() async throws {
    let model = ChangeModels.v2.replacing(
      #"<NavigationProperty Name="Lines" "#, with: #"<NavigationProperty Name="Lines" sap:creatable="false" "#)
    let rig = try await ChangeRig(model)
    try await rig.rows.load("Heads", #"{"d":{"results":[{"No":"1","By":"me"}]}}"#, version: .v2)
    #expect(await words(rig, .delete("Heads('1')")).contains("Heads (sap:deletable)"))
    let sum = ODataEntity(properties: [ODataProperty("No", .string("2")), ODataProperty("Sum", .decimal(1))])
    #expect(await words(rig, .create(sum, in: "Heads")).contains("N.Head/Sum (sap:creatable)"))
    let by = ODataEntity(properties: [ODataProperty("By", .string("you"))])
    #expect(await words(rig, .update("Heads('1')", to: by, method: .merge)).contains("N.Head/By (sap:updatable)"))
    let line = ODataEntity(properties: [ODataProperty("Pos", .int32(1))])
    #expect(await words(rig, .create(line, in: "Heads('1')/Lines")).contains("Heads/Lines (sap:creatable)"))
  }

  @Test("Version 2: the entities of a closed set are created through the entity that they belong to")
  func sapChildren() async throws {
    let model = ChangeModels.v2.replacing(
      #"<EntitySet Name="Lines" EntityType="N.Line"/>"#,
      with: #"<EntitySet Name="Lines" EntityType="N.Line" sap:creatable="false"/>"#
    ).replacing(#"<Property Name="Text" "#, with: #"<Property Name="Text" sap:creatable="false" "#)
    let rig = try await ChangeRig(model)
    try await rig.rows.load("Heads", #"{"d":{"results":[{"No":"1","By":"me"}]}}"#, version: .v2)
    let line = ODataEntity(properties: [ODataProperty("Pos", .int32(1))])
    #expect(await words(rig, .create(line, in: "Heads('1')/Lines")) == "done")
    let texts = ODataEntity(properties: [ODataProperty("Pos", .int32(3)), ODataProperty("Text", .string("x"))])
    #expect(await words(rig, .create(texts, in: "Heads('1')/Lines")).contains("N.Line/Text (sap:creatable)"))
    let lines = ODataNavigationLink(name: "Lines", content: .collection(ODataEntityCollection(entities: [line])))
    let head = ODataEntity(properties: [ODataProperty("No", .string("2"))], navigationLinks: [lines])
    #expect(await words(rig, .create(head, in: "Heads")) == "done")
    let other = ODataEntity(properties: [ODataProperty("No", .string("1")), ODataProperty("Pos", .int32(2))])
    #expect(await words(rig, .create(other, in: "Lines")).contains("Lines (sap:creatable)"))
  }

  // MARK: Deletions

  private static func deletions(_ action: String) -> String {
    ReplicaRig.v4(
      """
      <EntityType Name="Box"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Things" Type="Collection(N.Thing)" Partner="Box"><OnDelete Action="\(action)"/></NavigationProperty>
        <NavigationProperty Name="Labels" Type="Collection(N.Label)"><OnDelete Action="\(action)"/></NavigationProperty>
        </EntityType>
      <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="BoxID" Type="Edm.Int32" DefaultValue="2"/><Property Name="Name" Type="Edm.String"/>
        <NavigationProperty Name="Box" Type="N.Box" Partner="Things">
          <ReferentialConstraint Property="BoxID" ReferencedProperty="ID"/></NavigationProperty>
        <NavigationProperty Name="Parts" Type="Collection(N.Thing)"><OnDelete Action="Cascade"/></NavigationProperty>
        </EntityType>
      <EntityType Name="Label"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        </EntityType>
      """,
      container: """
        <EntitySet Name="Boxes" EntityType="N.Box"><NavigationPropertyBinding Path="Things" Target="Things"/>
          <NavigationPropertyBinding Path="Labels" Target="Labels"/></EntitySet>
        <EntitySet Name="Things" EntityType="N.Thing"><NavigationPropertyBinding Path="Box" Target="Boxes"/>
          <NavigationPropertyBinding Path="Parts" Target="Things"/></EntitySet>
        <EntitySet Name="Labels" EntityType="N.Label"/>
        """)
  }

  private func boxes(_ action: String) async throws -> ChangeRig {
    let rig = try await ChangeRig(Self.deletions(action))
    try await rig.rows.load("Boxes", #"{"value":[{"ID":1,"Labels":[{"ID":7}]},{"ID":2,"Labels":[]}]}"#)
    // Thing 1 has 2 and 3 as parts, 3 has 1: in a circle.
    try await rig.rows.load(
      "Things",
      #"{"value":[{"ID":1,"BoxID":1,"Parts":[{"ID":2},{"ID":3}]},{"ID":2,"BoxID":2,"Parts":[]},{"ID":3,"Parts":[{"ID":1}]},{"ID":4,"BoxID":2,"Parts":[]}]}"#
    )
    return rig
  }

  private func things(_ rig: ChangeRig) async throws -> [String] {
    try await rig.rows.rows("SELECT ID, BoxID FROM {Things} ORDER BY ID")
  }

  @Test("Cascade deletes related entities, and theirs; one request is sent, and all are restored when it is undone")
  func cascade() async throws {
    let rig = try await boxes("Cascade")
    let before = try await things(rig)
    try await rig.update("Things(2)", [.init("Name", .string("changed"))])
    try await rig.change(.delete("Boxes(1)"))
    #expect(try await things(rig) == ["4|2"])
    #expect(try await rig.rows.rows("SELECT ID FROM {Labels}") == [])
    // Behind the change of an entity that goes with it.
    #expect(try await rig.queue() == ["1/1 patch Things# Name", "2/2 delete Boxes# - <1"])
    #expect(try await rig.store.undoPendingChanges(nil) == 2)
    #expect(try await things(rig) == before)
    try await rig.change(.delete("Boxes(1)"))
    try await rig.succeed(3)
    #expect(try await things(rig) == ["4|2"])
    for table in ["request", "effect", "base"] {
      #expect(try await rig.rows.rows("SELECT count(*) FROM larder_\(table)") == ["0"])
    }
  }

  @Test("None rejects the deletion while related entities exist")
  func none() async throws {
    let rig = try await boxes("None")
    #expect(await words(rig, .delete("Boxes(1)")).contains("leads to") == true)
    #expect(await rig.failure(.delete("Boxes(1)")) == .deleteRestricted)
    #expect(try await things(rig).count == 4)
    try await rig.change(.delete("Labels(7)"))
    #expect(await words(rig, .delete("Boxes(1)")).contains("Boxes/Things leads to Things(1) (OnDelete None)"))
    // Its parts go with it.
    try await rig.change(.delete("Things(1)"))
    #expect(try await things(rig) == ["4|2"])
    #expect(await words(rig, .delete("Boxes(1)")) == "done")
  }

  @Test(
    "SetNull and SetDefault let related entities go", arguments: [("SetNull", "1|-"), ("SetDefault", "1|2")])
  func release(action: String, thing: String) async throws {
    let rig = try await boxes(action)
    try await rig.change(.delete("Boxes(1)"))
    #expect(try await things(rig) == [thing, "2|2", "3|-", "4|2"])
    #expect(try await rig.rows.rows("SELECT ID FROM {Labels}") == ["7"])
    #expect(try await rig.read("Boxes/$count") == "1")
    #expect(try await rig.store.undoPendingChanges(nil) == 1)
    #expect(try await things(rig)[0] == "1|1")
    #expect(try await rig.read("Boxes(1)/Labels/$count") == "1")
  }

  @Test("Before V4 an association says what a deletion takes along", arguments: [("None", "1"), ("Cascade", "0")])
  func earlier(action: String, left: String) async throws {
    let rig = try await ChangeRig(
      ChangeModels.v2.replacing(
        #"Multiplicity="1" Role="H"/>"#, with: #"Multiplicity="1" Role="H"><OnDelete Action="\#(action)"/></End>"#
      )
      .replacing(#" sap:deletable="false""#, with: ""))
    try await rig.rows.load("Heads", #"{"d":{"results":[{"No":"1"}]}}"#, version: .v2)
    try await rig.rows.load("Lines", #"{"d":{"results":[{"No":"1","Pos":1}]}}"#, version: .v2)
    try await rig.change(.delete("Heads('1')"))
    #expect(try await rig.read("Lines/$count") == left)
  }
}
