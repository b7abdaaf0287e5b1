import Foundation
import LarderOData
import LarderODataXML
import Testing

@testable import LarderGenerator

@Suite("Generated services", .timeLimit(.minutes(5)))
struct GeneratedServiceTests {
  private static func type(_ name: String, _ content: String = "", _ attributes: String = "") -> String {
    "<EntityType Name=\"\(name)\" \(attributes)><Key><PropertyRef Name=\"ID\"/></Key>"
      + "<Property Name=\"ID\" Type=\"Edm.Int32\" Nullable=\"false\"/>\(content)</EntityType>"
  }

  /// The names that a generated type selects.
  private func selection(_ text: String?) -> [String]? {
    guard let text, let start = text.firstRange(of: "static let odataSelection = ["),
      let end = text[start.upperBound...].firstRange(of: "]")
    else { return nil }
    return text[start.upperBound..<end.lowerBound].split(separator: ",").map { $0.filter { !" \"\n".contains($0) } }
  }

  @Test("a type knows what selects all its properties: their names, or all if values have more than it declares")
  func selections() throws {
    let files = try generate(try model(shop))
    #expect(
      selection(files["Order"]) == [
        "ID", "Due", "Total", "Note", "Customer", "Status", "ShipTo", "Tags", "Options", "in",
      ])
    #expect(selection(files["Item"]) == ["ID", "Line", "OrderID"])
    for name in ["Party", "Bank", "Document", "Picture"] { #expect(selection(files[name]) == ["*"], "\(name)") }
    #expect(selection(files["Drawing"]) == ["ID", "Title", "Frame", "Place"])
    #expect(selection(files["Address"]) == nil)
    let permission =
      "<Annotation Term=\"Org.OData.Core.V1.Permissions\" EnumMember=\"Org.OData.Core.V1.Permission/Write\"/>"
    let user = Self.type("User", "<Property Name=\"Password\" Type=\"Edm.String\">\(permission)</Property>")
    #expect(selection(try generate(try model(user))["User"]) == ["ID"])
  }

  @Test("a query selects declared properties where nothing is selected, also those of expanded entities")
  func selectedQueries() throws {
    var query = ODataQuery<Item>("Items").expand(\.order)
    query.selectsDeclared = true
    let order = "ID,Due,Total,Note,Customer,Status,ShipTo,Tags,Options,in"
    let text = try query.text().removingPercentEncoding ?? ""
    #expect(text == "Items?$expand=Order($select=\(order))&$select=ID,Line,OrderID")
    var parties = ODataQuery<Party>("Parties").expand(\.parent)
    parties.selectsDeclared = true
    #expect(try parties.text() == "Parties?$expand=Parent($select=*)&$select=*")
    // OData V2 URI Conventions §4.7
    #expect(try query.text(.v2).contains("$select=ID,Line,OrderID,Order/ID,"))
    query.selectsDeclared = false
    #expect(try query.text() == "Items?$expand=Order")
  }

  @Test("a service passes on that reads select the declared properties; a set of that name has another one")
  func option() async throws {
    let types =
      Self.type("Part") + """
        <EntityContainer Name="Service"><EntitySet Name="Parts" EntityType="Shop.Part"/>
          <EntitySet Name="SelectsDeclared" EntityType="Shop.Part"/><Singleton Name="Main" Type="Shop.Part"/></EntityContainer>
        """
    let files = try generateAll(try model(types)).files
    let service = try #require(files.first { $0.name.hasPrefix("Service") }?.text)
    #expect(service.contains("init(_ store: any ODataStore, selectsDeclared: Bool = false)"))
    #expect(service.contains(".init(self.store, ODataQuery<Part>(\"Main\"), selectsDeclared: self.selectsDeclared)"))
    #expect(service.contains("var selectsDeclaredSet: ODataEntitySet<Part>"))
    let diagnostics = try await Compiler().check(Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.text) }))
    #expect(diagnostics.isEmpty, "\(diagnostics)")
  }

  // CSDL 4.01 §13.1
  @Test("a container has the sets and operations of those that it extends; URLs of V4 have no names of containers")
  func extendedContainers() throws {
    let files = try generate(
      try model(
        Self.type("Part") + Self.type("Other") + """
          <Function Name="Find"><ReturnType Type="Edm.Int32"/></Function><Action Name="Do"/>
          <EntityContainer Name="Base"><EntitySet Name="Parts" EntityType="Shop.Part"/>
            <EntitySet Name="Others" EntityType="Shop.Part"/><Singleton Name="Main" Type="Shop.Part"/>
            <FunctionImport Name="Find" Function="Shop.Find"/><ActionImport Name="Do" Action="Shop.Do"/></EntityContainer>
          <EntityContainer Name="Middle" Extends="Shop.Base"/>
          <EntityContainer Name="More" Extends="Shop.Middle"><EntitySet Name="Others" EntityType="Shop.Other"/>
            <EntitySet Name="Own" EntityType="Shop.Other"/></EntityContainer>
          <EntityContainer Name="Loop" Extends="Shop.Loop"><EntitySet Name="Own" EntityType="Shop.Other"/></EntityContainer>
          """))
    let more = try #require(files["More"])
    for line in [
      "var others: ODataEntitySet<Other> {", "var own: ODataEntitySet<Other> {", "var parts: ODataEntitySet<Part> {",
      "var main: ODataEntityReference<Part> {", "func find() async throws -> Int32?", "func `do`() async throws",
    ] {
      #expect(more.components(separatedBy: line).count == 2, "\(line)")
    }
    #expect(!more.contains("ODataEntitySet<Part> {\n    .init(self.store, ODataQuery<Part>(\"Others\")"))
    for text in files.values { #expect(!text.contains("ODataQuery<Part>(\"Base.") && !text.contains("(\"More.")) }
    #expect(files["Loop"]?.contains("var own:") == true)
  }

  @Test("a property of a complex value that the service sets is not in its initializer, and is never sent")
  func computedMembers() async throws {
    let computed = "<Annotation Term=\"Org.OData.Core.V1.Computed\"/>"
    let types = """
      <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/>
        <Property Name="Code" Type="Edm.String" Nullable="false">\(computed)</Property>
        <Property Name="Names" Type="Collection(Edm.String)" Nullable="false">\(computed)</Property>
        <Property Name="Part" Type="Shop.Place">\(computed)</Property></ComplexType>
      <ComplexType Name="House" BaseType="Shop.Place"><Property Name="Number" Type="Edm.Int32">\(computed)</Property></ComplexType>
      """
    let files = try generateAll(try model(types)).files
    let place = try #require(files.first { $0.name.hasPrefix("Place") }?.text)
    #expect(place.contains("  init(\n    city: String? = nil\n  ) {") && place.contains("let code: String?\n"))
    #expect(place.contains("self.code = nil\n    self.names = []\n    self._part = nil\n"))
    for name in ["Code", "Names", "Part"] { #expect(!place.contains("odataList.set(\"\(name)\""), "\(name)") }
    let house = try #require(files.first { $0.name.hasPrefix("House") }?.text)
    #expect(house.contains("  init(\n    city: String? = nil\n  ) {") && !house.contains("odataList.set(\"Number\""))
    let diagnostics = try await Compiler().check(Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.text) }))
    #expect(diagnostics.isEmpty, "\(diagnostics)")
  }

  @Test("types with the names of Swift's and Foundation's types get a suffix")
  func standardNames() async throws {
    let complex = ["Date", "Decimal", "Duration", "Data", "URL", "Range", "Sequence", "Calendar", "TimeZone", "Locale"]
    let types =
      complex.map { "<ComplexType Name=\"\($0)\"/>" }.joined() + Self.type("date") + """
        <EnumType Name="TimeInterval"><Member Name="A"/></EnumType><TypeDefinition Name="Clock" UnderlyingType="Edm.String"/>
        """
    let files = try generateAll(try model(types)).files
    let names = files.map { String($0.name.prefix { $0 != "." }) }
    #expect(
      Set(names) == Set(complex.map { $0 + "Value" } + ["DateEntity", "TimeIntervalEnumeration", "TypeDefinitions"]))
    #expect(files.contains { $0.text.contains("typealias ClockDefinition = String") })
    var program = Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.text) })
    program["use.swift"] = """
      import Foundation
      let (date, decimal, duration, data): (Date, Decimal, Duration, Data) = (Date(), 1.5, .seconds(1), Data())
      let (url, range, zone): (URL?, Range<Int>, TimeZone) = (URL(string: "a"), 1..<2, .current)

      """
    let diagnostics = try await Compiler().check(program)
    #expect(diagnostics.isEmpty, "\(diagnostics)")
  }
}
