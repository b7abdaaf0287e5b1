import LarderOData

/// The paths of properties that a bound expression uses, from the entity that it belongs to: `Customer/Country`. Casts
/// are left out.
struct UsedPaths {
  private(set) var paths: [String] = []
  /// The path of the collection that each variable of a lambda iterates over.
  private var variables: [String: [String]] = [:]

  private let isNested: Bool

  /// - Parameter isNested: whether the expression is in the options of `$expand`: `$it` is another entity there.
  init(_ expression: ODataBoundExpression, isNested: Bool = false) {
    self.isNested = isNested
    add(expression)
  }

  private mutating func add(_ expression: ODataBoundExpression) {
    switch expression.kind {
    case .literal, .enumeration: break
    case .path(let path), .isdefined(let path): add(path)
    case .and(let parts), .or(let parts), .list(let parts), .array(let parts), .call(_, let parts):
      for part in parts { add(part) }
    case .not(let operand), .negate(let operand): add(operand)
    case .binary(_, let left, let right), .membership(let left, let right):
      add(left)
      add(right)
    case .cast(let operand, _), .isof(let operand, _):
      if let operand { add(operand) }
    case .conditional(let branches):
      for branch in branches {
        add(branch.condition)
        add(branch.value)
      }
    case .object(let members):
      for member in members { add(member.value) }
    }
  }

  private mutating func add(_ path: ODataBoundPath) {
    var names: [String]
    switch path.root {
    case .it where isNested: return
    case .implicit, .it: names = []
    case .variable(let variable): names = variables[variable] ?? []
    case .expression(let expression): return add(expression)
    case .this, .these, .root: return
    }
    for segment in path.segments {
      switch segment.kind {
      case .any(let lambda?), .all(let lambda):
        variables[lambda.variable] = names
        add(lambda.predicate)
      default:
        if let name = segment.memberName { names.append(name) }
      }
    }
    if !names.isEmpty { paths.append(names.joined(separator: "/")) }
  }
}

extension ODataBoundSegment {
  /// The name of the property or navigation property that the step leads through; nil for other steps.
  var memberName: String? {
    switch kind {
    case .property(let property): property.name
    case .navigation(let navigation): navigation.name
    case .dynamic(let name): name
    default: nil
    }
  }
}

extension ODataBoundPath {
  /// The names of the properties that the path leads through.
  var memberPath: String { segments.compactMap(\.memberName).joined(separator: "/") }
}
