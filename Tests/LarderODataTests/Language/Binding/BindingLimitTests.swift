import Foundation
import LarderOData
import LarderTestSupport
import Testing

@Suite("Binding: limits", .timeLimit(.minutes(5)))
struct BindingLimitTests {
  /// `not not … true`, as deep as is wanted.
  private static func nested(_ depth: Int) -> ODataExpression {
    (0..<depth).reduce(ODataExpression(.literal(.boolean(true)))) { inner, _ in ODataExpression(.not(inner)) }
  }

  @Test("A tree that was built in code is rejected if it is deeper than the limit")
  func depth() throws {
    #expect(throws: Never.self) { try BindingModel.binder.bind(Self.nested(199)) }
    do {
      _ = try BindingModel.binder.bind(Self.nested(200))
      Issue.record("bound")
    } catch {
      #expect(error.problem == .tooDeep(limit: 200))
    }
  }

  /// What frames cost without optimisation is not what they cost in a program that is shipped.
  private static var kilobytes: Int {
    #if DEBUG
      8 << 10
    #else
      2 << 10
    #endif
  }

  /// The deepest trees of each kind that the limit lets through: operators, paths with lambdas, nested options.
  private static func deepest() throws -> Bool {
    let terms = (0..<8).reduce("Price") { inner, _ in "round((\(inner) add 1) mul -(2))" }
    let bound = try BindingModel.binder.bind(
      filter: try ODataParser(.v401).expression("\(terms) gt 5"), on: "Sales.Product")
    let lambdas = (0..<8).reduce("true") { inner, place in "Boss/Orders/any(o\(place):\(inner))" }
    let other = try BindingModel.binder.bind(
      filter: try ODataParser(.v401).expression(lambdas), on: "Sales.Customer")
    let options = (0..<8).reduce("$top=1") { inner, place in
      "$expand=" + (place.isMultiple(of: 2) ? "Orders" : "Customer") + "(\(inner))"
    }
    let expanded = try BindingURLTests.bind("Orders?" + options)
    _ = try BindingModel.binder.bind(Self.nested(199)).syntax()
    guard try isHundredExpanded() else { return false }
    return try bound == BindingModel.binder.bind(filter: bound.syntax(), on: "Sales.Product")
      && other == BindingModel.binder.bind(filter: other.syntax(), on: "Sales.Customer")
      && expanded == BindingModel.binder.bind(expanded.syntax())
  }

  /// A hundred nested `$expand`, as many as the parser reads, are bound, and one more is too deep.
  private static func isHundredExpanded() throws -> Bool {
    func nested(_ count: Int) -> ODataQueryOptions {
      var options = ODataQueryOptions()
      options.top = 1
      for level in 0..<count {
        let name = level.isMultiple(of: 2) ? "Orders" : "Customer"
        let item = ODataExpandItem(ODataPath([ODataPathSegment(.name(name))]), options: options)
        options = ODataQueryOptions()
        options.expand = [item]
      }
      return options
    }
    // Outermost is `Customer` of an order; the innermost are many, which `$top` needs.
    let bound = try BindingModel.binder.bind(nested(100), onSet: "Orders")
    guard bound.expand.count == 1 else { return false }
    do {
      _ = try BindingModel.binder.bind(nested(101), onSet: "Customers")
      return false
    } catch {
      return error.problem == .tooDeep(limit: 200)
    }
  }

  @Test("Trees within the limit are bound, written and compared on a stack of 2 MB (8 MB without optimisation)")
  func stack() async throws {
    #expect(try await onDedicatedThread(kilobytes: Self.kilobytes) { try Self.deepest() })
  }

  @Test("Aliases that double each other stop at a limit and do not exhaust memory")
  func size() throws {
    var text = "Orders?$filter=@a0&@a30=Amount gt 1"
    for place in 0..<30 { text += "&@a\(place)=@a\(place + 1) or not @a\(place + 1)" }
    do {
      _ = try BindingURLTests.bind(text)
      Issue.record("bound")
    } catch let error as ODataBindingError {
      #expect(error.problem == .tooLarge(limit: 100_000))
    }
  }

  @Test("An alias without a value is null; a value has the type of the other operand (§5.3)")
  func missing() throws {
    let bound = try BindingURLTests.bind("Orders?$filter=Amount eq @x")
    guard case .binary(_, _, let right)? = bound.options.filter?.kind else { return }
    #expect(right.isNull && right.type.primitive == .decimal)
  }

  @Test("Suggestions in a model of 30,000 names look at each name at most once")
  func suggestions() {
    let names = (0..<30_000).map { "Property\($0)With" + String(repeating: "x", count: $0 % 100) }
    let start = ContinuousClock.now
    #expect(BindingNearest.find("Property1777Wiht" + String(repeating: "x", count: 77), among: names) == names[1777])
    #expect(ContinuousClock.now - start < .seconds(20))
  }

  @Test("A model with thousands of types is indexed once, and a misspelt name gets a suggestion")
  func large() throws {
    var schema = EdmSchema(namespace: "L")
    for number in 0..<3000 {
      var type = EdmEntityType(namespace: "L", name: "Type\(number)")
      type.properties = (0..<10).map { EdmProperty(name: "Property\($0)", type: .primitive(.string)) }
      schema.entityTypes.append(type)
    }
    let binder = ODataBinder(model: EdmModel(version: .v4, schemas: [schema]))
    let expression = try ODataParser(.v401).expression("isof(L.Typ2999)")
    do {
      _ = try binder.bind(expression, on: "L.Type0")
      Issue.record("bound")
    } catch {
      #expect(error.problem.description.hasSuffix("did you mean 'L.Type2999'?"))
    }
  }
}
