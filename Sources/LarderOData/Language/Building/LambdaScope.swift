/// Names the variables of `any` and `all`: `x`, inside of its predicate `x1`, then `x2`.
enum LambdaScope {
  /// The number of predicates that are being built around the current one.
  @TaskLocal private static var depth = 0

  static func variable(_ depth: Int) -> String { depth == 0 ? "x" : "x\(depth)" }

  static func lambda(_ predicate: (ODataPath) -> ODataOperand<Bool>) -> ODataLambda {
    let variable = variable(depth)
    let built = $depth.withValue(depth + 1) { predicate(ODataPath(root: .variable(variable), [])) }
    return ODataLambda(variable: variable, predicate: built.expression)
  }
}

/// Gives each lambda the first variable name that is neither a variable of an enclosing lambda nor the first segment of
/// a path inside it: predicates may have been built elsewhere, and a property may be called `x`.
struct LambdaNaming: SyntaxRewriting {
  var level = 0
  var isTooDeep = false
  /// The variables in scope, by their original names, the innermost last.
  private var names: [(original: String, replacement: String)] = []

  static func naming(_ expression: ODataExpression) -> ODataExpression {
    var naming = LambdaNaming()
    let named = naming.rewrite(expression)
    return naming.isTooDeep ? expression : named
  }

  mutating func rewrite(_ path: ODataPath) -> ODataPath {
    var path = path
    if case .variable(let name) = path.root, let replacement = names.last(where: { $0.original == name })?.replacement {
      path.root = .variable(replacement)
    }
    return rewriteSteps(of: path)
  }

  mutating func rewrite(_ lambda: ODataLambda) -> ODataLambda {
    var collector = FirstNames()
    _ = collector.rewrite(lambda.predicate)
    let taken = collector.names.union(names.map(\.replacement))
    var number = 0
    while taken.contains(LambdaScope.variable(number)) { number += 1 }
    let replacement = LambdaScope.variable(number)
    names.append((lambda.variable, replacement))
    let predicate = rewrite(lambda.predicate)
    names.removeLast()
    return ODataLambda(variable: replacement, predicate: predicate)
  }
}

/// Collects the names that paths from the instance begin with.
private struct FirstNames: SyntaxRewriting {
  var level = 0
  var isTooDeep = false
  var names: Set<String> = []

  mutating func rewrite(_ path: ODataPath) -> ODataPath {
    if path.root == .implicit, case .name(let name)? = path.segments.first?.kind { names.insert(name) }
    return rewriteSteps(of: path)
  }
}
