import LarderOData
import Testing

@testable import LarderGenerator

/// Documents that declare a name twice: the first declaration is kept.
@Suite("Repeated names", .timeLimit(.minutes(5)))
struct RepeatedNameTests {
  /// Generates a document with a type `Order`, and checks that the code compiles; the result is what was left out.
  private func omissions(_ types: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> [String] {
    let generated = try generateAll(try model(types))
    let files = Dictionary(generated.files.map { ($0.name, $0.text) }) { first, _ in first }
    #expect(files.count == generated.files.count, "two files have one name", sourceLocation: sourceLocation)
    let diagnostics = try await Compiler().check(files)
    #expect(diagnostics.isEmpty, "\(diagnostics)", sourceLocation: sourceLocation)
    return generated.omissions.filter { $0.reason == .repeatedName }.map(\.name)
  }

  private func type(_ name: String = "Order", _ members: String = "") -> String {
    """
    <EntityType Name="\(name)"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/>\(members)</EntityType>
    """
  }

  @Test("a type that is declared twice, also as a type of another kind")
  func types() async throws {
    #expect(
      try await omissions(type() + type("Order", "<Property Name=\"Note\" Type=\"Edm.String\"/>")) == ["Shop.Order"])
    let others = """
      <ComplexType Name="Order"/><EnumType Name="Order"><Member Name="A"/></EnumType>
      <TypeDefinition Name="Order" UnderlyingType="Edm.String"/>
      <ComplexType Name="Place"/><ComplexType Name="Place"/><EnumType Name="Place"><Member Name="A"/></EnumType>
      <EnumType Name="Status"><Member Name="A"/></EnumType><EnumType Name="Status"><Member Name="B"/></EnumType>
      <TypeDefinition Name="Money" UnderlyingType="Edm.Decimal"/><TypeDefinition Name="Money" UnderlyingType="Edm.Int32"/>
      """
    #expect(try await omissions(type() + others) == ["Shop.Money", "Shop.Order", "Shop.Place", "Shop.Status"])
    let schema = type() + type("Late").replacing("Name=\"Late\"", with: "Name=\"Late\" BaseType=\"Shop.Order\"")
    #expect(try await omissions(schema + schema).contains("Shop.Late"))
    // The first declaration is generated.
    let files = try generate(
      try model(
        "<ComplexType Name=\"A\"><Property Name=\"X\" Type=\"Edm.Int32\"/></ComplexType><ComplexType Name=\"A\"/>"))
    #expect(files["A"]?.contains("var x: Int32?") == true)
  }

  @Test("a property or navigation property that is declared twice, in the type or in a base type")
  func members() async throws {
    let note = "<Property Name=\"Note\" Type=\"Edm.String\"/>"
    let next = "<NavigationProperty Name=\"Note\" Type=\"Shop.Order\"/>"
    let nexts =
      "<NavigationProperty Name=\"Next\" Type=\"Shop.Order\"/><NavigationProperty Name=\"Next\" Type=\"Shop.Order\"/>"
    #expect(try await omissions(type("Order", note + note)) == ["Shop.Order/Note"])
    #expect(try await omissions(type("Order", note + next)) == ["Shop.Order/Note"])
    #expect(try await omissions(type("Order", nexts)) == ["Shop.Order/Next"])
    let derived = "<EntityType Name=\"Late\" BaseType=\"Shop.Order\">\(note)\(next)</EntityType>"
    #expect(try await omissions(type("Order", note) + derived) == ["Shop.Late/Note"])
    let complex =
      "<ComplexType Name=\"A\">\(note)</ComplexType><ComplexType Name=\"B\" BaseType=\"Shop.A\">\(note)</ComplexType>"
    #expect(try await omissions(complex) == ["Shop.B/Note"])
    let files = try generate(try model(type("Order", note + next)))
    #expect(files["Order"]?.contains("var note: String?") == true && files["Order"]?.contains("toNote") == false)
  }

  @Test("names that differ in Unicode normalization alone are one name in Swift")
  func normalization() async throws {
    let (composed, decomposed) = ("Gr\u{F6}\u{DF}e", "Gro\u{308}\u{DF}e")
    let members =
      "<Property Name=\"\(composed)\" Type=\"Edm.String\"/><Property Name=\"\(decomposed)\" Type=\"Edm.Int32\"/>"
    #expect(try await omissions(type("Order", members)) == ["Shop.Order/\(composed)"])
    #expect(try await omissions(type(composed) + type(decomposed)) == ["Shop.\(composed)"])
  }

  @Test("a member of an enumeration, a property of a key, an entity set and a container that are declared twice")
  func others() async throws {
    #expect(
      try await omissions("<EnumType Name=\"A\"><Member Name=\"B\"/><Member Name=\"B\"/></EnumType>") == ["Shop.A/B"])
    let key = type().replacing("</Key>", with: "<PropertyRef Name=\"ID\"/></Key>")
    #expect(try await omissions(key) == ["Shop.Order/ID"])
    let sets = """
      <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order"/>
        <EntitySet Name="Orders" EntityType="Shop.Order"/><Singleton Name="Orders" Type="Shop.Order"/></EntityContainer>
      """
    #expect(try await omissions(type() + sets) == ["Shop.C/Orders"])
    #expect(try await omissions(type() + sets + sets) == ["Shop.C", "Shop.C/Orders"])
  }

  @Test("a type that is not selected is not reported")
  func selection() throws {
    let generated = try generateAll(try model(type() + type("Other") + type("Other"))) {
      $0.only = [NamePattern("Order")]
    }
    #expect(generated.omissions.isEmpty)
  }
}
