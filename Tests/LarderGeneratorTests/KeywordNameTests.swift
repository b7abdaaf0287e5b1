import LarderOData
import Testing

@testable import LarderGenerator

@Suite("Words of Swift as names of a service", .timeLimit(.minutes(5)))
struct KeywordNameTests {
  /// The keywords of Swift and the words that are keywords in places, and names that generated code uses.
  private static let words = """
    Any Protocol Self Type actor any as associatedtype async await borrowing break case catch class consume consuming \
    continue convenience copy default defer deinit didSet discard distributed do dynamic each else enum extension \
    fallthrough false fileprivate final for func get guard if import in indirect infix init inout internal is isolated \
    lazy left let macro mutating nil none nonisolated nonmutating of open operator optional override package postfix \
    precedence precedencegroup prefix private protocol public repeat required rethrows return right self sending set \
    some static struct subscript super switch then throw throws true try typealias unowned unsafe var weak where while \
    willSet yield \
    container decoder derived encoder hashValue key newValue odataCall odataChanges odataDerived odataDynamic odataKey \
    odataLinks odataList odataParts odataProperties odataSent odataState odataType odataTypeName odataValue oldValue \
    store value
    """.split(separator: " ").map(String.init)

  @Test("each word can be a property, key, navigation property, member, parameter, operation and entity set")
  func words() async throws {
    let properties = Self.words.map { "<Property Name=\"\($0)\" Type=\"Edm.Int32\" Nullable=\"false\"/>" }.joined()
    let optional = Self.words.map { "<Property Name=\"\($0)\" Type=\"Edm.String\"/>" }.joined()
    let references = Self.words.map { "<PropertyRef Name=\"\($0)\"/>" }.joined()
    let id = "<Key><PropertyRef Name=\"ID\"/></Key><Property Name=\"ID\" Type=\"Edm.Int32\" Nullable=\"false\"/>"
    let parameters = Self.words.map { "<Parameter Name=\"\($0)\" Type=\"Edm.Int32\" Nullable=\"false\"/>" }.joined()
    var schema = """
      <EntityType Name="All"><Key>\(references)</Key>\(properties)</EntityType>
      <EntityType Name="Base" OpenType="true">\(id)\(optional)</EntityType>
      <EntityType Name="Derived" BaseType="Shop.Base"><NavigationProperty Name="Next" Type="Shop.Base"/></EntityType>
      <EntityType Name="Related">\(id)\(Self.words.map { "<NavigationProperty Name=\"\($0)\" Type=\"Shop.All\"/>" }.joined())
      </EntityType>
      <ComplexType Name="Node">\(Self.words.map { "<Property Name=\"\($0)\" Type=\"Shop.Node\"/>" }.joined())</ComplexType>
      <EnumType Name="Word">\(Self.words.map { "<Member Name=\"\($0)\"/>" }.joined())</EnumType>
      <Function Name="Find">\(parameters)<ReturnType Type="Edm.Int32"/></Function>
      """
    var (sets, imports) = ("", "<FunctionImport Name=\"Find\" Function=\"Shop.Find\"/>")
    for word in Self.words {
      schema += """
        <EntityType Name="One\(word)"><Key><PropertyRef Name="\(word)"/></Key>
          <Property Name="\(word)" Type="Edm.Int32" Nullable="false"/></EntityType>
        <Action Name="\(word)" IsBound="true"><Parameter Name="it" Type="Shop.All"/>\(parameters)</Action>
        """
      sets += "<EntitySet Name=\"\(word)\" EntityType=\"Shop.One\(word)\"/>"
      imports += "<FunctionImport Name=\"call\(word)\" Function=\"Shop.Find\"/>"
    }
    let container = "<EntityContainer Name=\"Service\">\(sets)\(imports)</EntityContainer>"
    let generated = try generateAll(try model(schema + container))
    #expect(generated.omissions.isEmpty)
    let files = Dictionary(uniqueKeysWithValues: generated.files.map { ($0.name, $0.text) })
    let diagnostics = try await Compiler().check(files)
    #expect(diagnostics.isEmpty, "\(Set(diagnostics.map { "\($0.file): \($0.kind): \($0.text)" }).sorted())")
  }
}
