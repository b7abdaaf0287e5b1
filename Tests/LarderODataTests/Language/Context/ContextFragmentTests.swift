import Testing

@testable import LarderOData

/// Fragments of context URLs by the grammar (Protocol 4.01 §10; ABNF section 3).
@Suite("Context fragments of the language", .timeLimit(.minutes(5)))
struct ContextFragmentTests {
  static func read(_ text: String) throws -> ODataContextFragment {
    var reader = try SyntaxReader(text, options: ODataParserOptions())
    return try reader.readToEnd { (reader) throws(ODataSyntaxError) in try reader.context() }
  }

  /// A fragment in one line: path, list in brackets, item.
  static func brief(_ fragment: ODataContextFragment) -> String {
    var text = fragment.collectionOf.map { "Collection<\($0)>" } ?? ""
    text += fragment.path.segments.map(brief).joined(separator: " ")
    if let list = fragment.selectList { text += " " + brief(list) }
    if let item = fragment.item { text += " " + item }
    return text
  }

  static func brief(_ list: [ODataSelectListItem]) -> String {
    "["
      + list.map {
        $0.path.segments.map(brief).joined(separator: " ") + ($0.isExpanded ? "+" : "") + ($0.nested.map(brief) ?? "")
      }.joined(separator: ", ") + "]"
  }

  static func brief(_ segment: ODataPathSegment) -> String {
    switch segment.kind {
    case .name(let name): name
    case .qualifiedName(let name): "<\(name)>"
    case .text(let text): "'\(text)'"
    case .arguments(let arguments): "(" + arguments.map { $0.name ?? "_" }.joined(separator: ",") + ")"
    case .annotation(let term, let qualifier): "@\(term)" + (qualifier.map { "#\($0)" } ?? "")
    case .star: "*"
    case .allOperations(let namespace): "<\(namespace)>*"
    default: "\(segment.kind)"
    }
  }

  @Test(
    "Each template of the Protocol 4.01 §10.1 to §10.18 is read into its parts",
    arguments: [
      ("#Customers", "Customers"),
      ("#Customers/Model.VipCustomer", "Customers <Model.VipCustomer>"),
      ("#Customers/$entity", "Customers $entity"),
      ("#Customers/Model.VipCustomer/$entity", "Customers <Model.VipCustomer> $entity"),
      ("#Orders(4711)/Items", "Orders (_) Items"),
      ("#Orders(4711)/Items/$entity", "Orders (_) Items $entity"),
      ("#Orders(A=1,B='x')/Items(1)/Notes", "Orders (A,B) Items (_) Notes"),
      ("#Orders(@k)/Items", "Orders (_) Items"),
      ("#Orders/4711/Items", "Orders '4711' Items"),
      ("#Customers('ALFKI')/Model.Vip/Orders", "Customers (_) <Model.Vip> Orders"),
      ("#Customers(1)/Address/Model.US/Country", "Customers (_) Address <Model.US> Country"),
      ("#Customers(Address,Orders)", "Customers [Address, Orders]"),
      ("#Customers(Name)/$entity", "Customers [Name] $entity"),
      ("#Customers()", "Customers []"),
      ("#Customers(*)", "Customers [*]"),
      ("#Customers(true)", "Customers [true]"),
      ("#Customers(true)/Orders", "Customers (_) Orders"),
      ("#Customers(@Ns.T,Name)", "Customers [@Ns.T, Name]"),
      (
        "#Employees/Sales.Manager(DirectReports+(FirstName))/$entity",
        "Employees <Sales.Manager> [DirectReports+[FirstName]] $entity"
      ),
      ("#Employees(DirectReports+,Manager(Name))", "Employees [DirectReports+, Manager[Name]]"),
      ("#Employees(@Core.Messages#second,X)", "Employees [@Core.Messages#second, X]"),
      ("#Employees(@Ns.T#q+(ID))", "Employees [@Ns.T#q+[ID]]"),
      ("#Customers(Address/Model.US/Street,Model.*)", "Customers [Address <Model.US> Street, <Model>*]"),
      (
        "#Customers(Model.Act,Model.Vip/Model.Act,Model.F(a,b))",
        "Customers [<Model.Act>, <Model.Vip> <Model.Act>, <Model.F> (_,_)]"
      ),
      ("#Customers/$delta", "Customers $delta"),
      ("#Customers(Name)/$delta", "Customers [Name] $delta"),
      ("#Customers/$deletedEntity", "Customers $deletedEntity"),
      ("#Customers/$link", "Customers $link"),
      ("#Customers/$deletedLink", "Customers $deletedLink"),
      ("#$ref", " $ref"),
      ("#Collection($ref)", "Collection<$ref>"),
      ("#Collection(Edm.EntityType)", "Collection<Edm.EntityType>"),
      ("#Collection(Edm.ComplexType)", "Collection<Edm.ComplexType>"),
      ("#Collection(Edm.String)", "Collection<Edm.String>"),
      ("#Collection(Model.Address)(Street)", "Collection<Model.Address> [Street]"),
      ("#Edm.Decimal", "<Edm.Decimal>"),
      ("#Model.Address(Street,City)", "<Model.Address> [Street, City]"),
      ("#Caf%C3%A9s('a%2Fb')/Orders", "Cafés (_) Orders"),
    ])
  func templates(text: String, parts: String) throws {
    #expect(ContextFragmentTests.brief(try ContextFragmentTests.read(text)) == parts)
  }

  @Test(
    "Invalid text is rejected at the first byte that is not allowed",
    arguments: [
      ("Customers", 0), ("#", 1), ("%23Customers", 0), ("#$reference", 5), ("#Collection(String)", 18),
      ("#Collection()", 12),
      ("#Collection($ref)(A)", 17), ("#Collection(Edm.EntityType)(A)", 27), ("#Edm.String/A", 11),
      ("#Model.T/$entity", 8),
      ("#Customers(1)", 13), ("#Customers(1)/$entity", 14), ("#Customers/$entity/A", 18), ("#Customers/$value", 17),
      ("#Customers(Name)/$link", 16), ("#Customers(Name)/Orders", 16), ("#Customers(A,)", 13), ("#Customers(A,B", 14),
      ("#Customers(A%2B)", 12), ("#Customers(@T%23q,A)", 13), ("#Customers(A/)", 13), ("#Customers(Model.F())", 19),
      ("#Customers/Model.A/Model.B", 24), ("#Customers(A/Model.B/Model.C)", 26), ("#Customers/4711", 15),
      ("#Customers//A", 11),
      ("#Customers(A(B)", 15), ("#Customers(Model.*(A))", 18),
    ])
  func rejections(text: String, offset: Int) {
    #expect { try ContextFragmentTests.read(text) } throws: { ($0 as? ODataSyntaxError)?.offset == offset }
  }

  @Test("Select lists nested deeper than the limit are rejected as too deep")
  func depth() {
    let text = "#A" + String(repeating: "(B", count: 100_000)
    #expect { try ContextFragmentTests.read(text) } throws: {
      if case .tooDeep? = ($0 as? ODataSyntaxError)?.problem { true } else { false }
    }
  }
}
