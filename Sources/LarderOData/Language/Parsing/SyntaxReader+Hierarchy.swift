// Recursive hierarchies (Data Aggregation 4.0 §6.2).
extension SyntaxReader {
  /// Reads `recHierReference`: the nodes, the hierarchy's qualifier, and the path of the nodes' identifier.
  mutating func hierarchyReference() throws(ODataSyntaxError) -> ODataHierarchyReference {
    guard hasWord("$root/", at: index, anyCase: false) else { throw unexpected("'$root/' and a collection of nodes") }
    let nodes = try memberPath()
    try comma()
    let qualifier = try identifier("the qualifier of a hierarchy")
    try comma()
    return ODataHierarchyReference(nodes: nodes, qualifier: qualifier, property: try groupingProperty())
  }

  /// Reads the arguments of `ancestors(…)` and `descendants(…)` (§6.2.1.1).
  mutating func relatives(_ relation: ODataHierarchyRelation) throws(ODataSyntaxError) -> ODataTransformation {
    let hierarchy = try hierarchyReference()
    try comma()
    let start = try transformations(onlyPreserving: true)
    var distance: Int?
    var more = takeComma()
    if more, peek >= 0x30, peek <= 0x39 {
      distance = try digits()
      more = takeComma()
    }
    if more, !take(exact: "keep start") {
      throw distance == nil ? unexpected("a distance", "'keep start'") : unexpected("'keep start'")
    }
    return .relatives(relation, hierarchy, start, distance: distance, keepsStart: more)
  }

  /// Reads the arguments of `traverse(…)` (§6.2.2.1).
  mutating func traversal() throws(ODataSyntaxError) -> ODataTransformation {
    let hierarchy = try hierarchyReference()
    try comma()
    let isPostorder = take(exact: "postorder")
    guard isPostorder || take(exact: "preorder") else { throw unexpected("'preorder'", "'postorder'") }
    guard takeComma() else { return .traverse(hierarchy, isPostorder: isPostorder, [], []) }
    guard isAtTransformationOfTraversal() else {
      return .traverse(hierarchy, isPostorder: isPostorder, [], try orderByItems())
    }
    let sequence = try transformations(onlyPreserving: true)
    return .traverse(hierarchy, isPostorder: isPostorder, sequence, takeComma() ? try orderByItems() : [])
  }

  /// Whether transformations follow, not items to order by. A function of the service is a transformation unless the
  /// text after it makes it part of an expression; the function is read twice.
  private func isAtTransformationOfTraversal() -> Bool {
    if isAtPreservingTransformation { return true }
    let last = endOfIdentifier(at: index)
    guard last > index, last < end, bytes[last] == UInt8(ascii: ".") else { return false }
    var lookahead = self
    guard (try? lookahead.collectionFunction()) != nil else { return false }
    if lookahead.take(UInt8(ascii: "/")) {
      return lookahead.isAtPreservingTransformation || lookahead.isAtFunctionOfService
    }
    lookahead.skipSpace()
    return lookahead.isAtEnd || lookahead.peek == UInt8(ascii: ",") || lookahead.peek == UInt8(ascii: ")")
  }

  private var isAtFunctionOfService: Bool {
    var lookahead = self
    guard let (_, isQualified) = try? lookahead.qualifiedName() else { return false }
    return isQualified && lookahead.peek == UInt8(ascii: "(")
  }
}
